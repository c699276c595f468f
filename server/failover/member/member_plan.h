// What a member of a shard is, before its data is open.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/slot_ranges.h"
#include "server/cluster/node_file.h"
#include "server/failover/copies/shard_copies.h"
#include "server/failover/member/primary_replies.h"
#include "server/failover/peers/cluster_watch.h"
#include "server/failover/shared_log/log_trimmer.h"
#include "storage/format/status.h"
#include "storage/replication/record.h"

namespace weir::server {

struct MemberPlan {
  std::string cluster;                                                 // 32 hexadecimal digits
  std::string shard;                                                   // its name
  SlotRanges slots = all_slots();                                      // that it was born with
  uint64_t shard_checksum = 0;                                         // that its records carry
  uint8_t record_version = storage::replication::kFirstRecordVersion;  // of its records
  std::string address;  // "host:port" that clients reach this server by
  storage::replication::Times times;
  int64_t append_interval_ns = 0;
  storage::replication::TrimOptions trim;
  ReplyPlan replies;
  uint64_t seed = 0;  // of what is drawn at random
  PullPlan pull;      // how it copies another member's data
  // Makes what asks the other shards, for a member whose node has this id; null: nothing does.
  std::function<std::unique_ptr<ClusterWatch>(const std::string& node, ClusterWatch::Own own)>
      make_watch;
  // Makes what asks the other shards for their settings; null: nothing does.
  std::function<std::unique_ptr<Peers>()> make_settings_peers;
  // Which node this is, once the data is open, or why that is not known.
  std::function<Result<NodeFile, std::string>()> node;
  // The process must end; it does not come back.
  std::function<void(const std::string& why)> on_failure;

  void fail(const storage::Status& failure) const {
    on_failure("the store of a shard's member has failed: " + failure.message());
  }
};

}  // namespace weir::server
