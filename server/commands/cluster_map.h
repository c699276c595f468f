// What CLUSTER tells of who has which slots. Each answers one subcommand from the map.
#pragma once

#include <string>

#include "server/command/command.h"
#include "server/core/run/cluster.h"

namespace weir::server {

void cluster_slots(Call& call, const Cluster& cluster);
void cluster_shards(Call& call, const Cluster& cluster);
void cluster_nodes(Call& call, const Cluster& cluster);
void cluster_info(Call& call, const Cluster& cluster);
void cluster_myid(Call& call, const Cluster& cluster);
void cluster_myshardid(Call& call, const Cluster& cluster);
// Those of the node that the request names.
void cluster_replicas(Call& call, const Cluster& cluster);
void cluster_count_failure_reports(Call& call, const Cluster& cluster);

}  // namespace weir::server
