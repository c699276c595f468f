// What a member knows of itself and of its shard, as it tells it to members of all shards.
#pragma once

#include <cstdint>
#include <vector>

#include "server/cluster/shard_facts.h"
#include "server/core/run/server.h"
#include "server/core/shard/membership.h"
#include "server/os/rate_meter.h"

namespace weir::server {

// How much a server has to do: means over the last second and a half.
class ToldLoad {
 public:
  void sample(Server& server, int64_t steady_ns);
  uint64_t decisions_per_s() const { return static_cast<uint64_t>(decisions_.per_second()); }
  // The part of the time that its turns take, 0 to 1; and in thousandths.
  double busy_ratio() const;
  uint64_t busy_permille() const;

 private:
  RateMeter decisions_;
  RateMeter turns_ns_;
};

// Without what the cluster's watch adds: cluster, instance, slots, and how this member is reached
// beside its address.
ShardFacts facts_of_member(const MemberView& view, const std::vector<MemberSeen>& members,
                           const ToldLoad& load, uint64_t keys);

}  // namespace weir::server
