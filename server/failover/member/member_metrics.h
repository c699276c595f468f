// What INFO replication shows of a member of a shard, beside the role.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "server/core/shard/membership.h"
#include "storage/replication/member_state.h"
#include "storage/replication/shared_log.h"

namespace weir::server {

class MetricWriter;

struct MeasuredMember {
  MemberView view;
  std::vector<MemberSeen> members;  // of the shard
  storage::replication::MemberMetrics metrics;
  storage::replication::LogFacts log;
  uint64_t trimmed_up_to = 0;  // a log index
};

void write_member_metrics(const MeasuredMember& seen, MetricWriter& out);

// Which of the shards have other settings than this one, whose digest is `own`.
void write_settings_metrics(const std::vector<KnownShard>& shards, std::string_view own,
                            MetricWriter& out);

}  // namespace weir::server
