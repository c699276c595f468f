// What those who collect metrics are told: the metrics that INFO has, and what INFO cannot say:
// histograms, and the verdicts of each policy.
//
// How many metrics there are does not depend on keys. Policies are told apart by their names up to
// a number; what is beyond it is one sum under `other`.
#pragma once

#include <cstddef>
#include <string>

#include "server/report/collected_metrics.h"
#include "server/report/metrics_text.h"

namespace weir::server {

class Server;
struct MemberView;

inline constexpr size_t kPolicyMetricsMax = 200;

// Answers what there is to tell now. It changes nothing and waits for nothing.
CollectedMetrics collect_metrics(Server& server);
// Answers the text of a scrape: the same, as Prometheus reads it.
std::string metrics_text(Server& server, MetricsFormat format);

// Answers why this member of a shard does not serve requests for data; empty if it does, as a
// server of no shard always does.
std::string unserving_reason(Server& server);
// Answers why the server is not ready: to serve commands that write, or, as a standby of its shard,
// to take over. Empty if it is.
std::string unready_reason(Server& server);
// The same of a member that does not serve.
std::string unready_reason(const MemberView& standby);

}  // namespace weir::server
