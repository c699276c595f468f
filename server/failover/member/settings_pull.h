// Takes over what the other shards' primaries have been told of settings (cluster/setting_item.h):
// sees in their facts that there is news, and asks for it by pages. It runs on the loop between
// turns; whoever waits is Peers, with a lane for each shard, so one that is silent or hostile holds
// up its own settings alone.
//
// Invariant: a page is taken over as a turn of its own, and no more than one with each round of the
// loop, so clients wait for one page at most.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/run/server.h"
#include "server/core/shard/membership.h"
#include "server/failover/peers/peers.h"
#include "server/os/clock.h"

namespace weir::server {

class SettingsPull {
 public:
  // Facts are looked at so often, and so often a shard that has failed is asked again.
  static constexpr int64_t kEveryNs = 200 * kNsPerMs;

  SettingsPull(std::unique_ptr<Peers> peers, Clock* clock)
      : clock_(*clock), peers_(std::move(peers)) {}

  // To be called between turns.
  void act(const Membership& membership, Server* server);
  // By CLOCK_BOOTTIME: when act() has something to do by itself.
  int64_t next_ns() const { return look_at_ns_; }

 private:
  struct Told {
    std::string shard;
    ShardInstance instance;
    uint64_t after = 0;
    Peers::Answer answer;
  };

  void ask(const KnownShard& shard, uint64_t after);
  void ask_all(const Membership& membership, Server* server);
  void take(const Told& told, Server* server);

  Clock& clock_;
  std::set<std::string> asked_;   // shards whose answers are on their way
  std::vector<Told> told_;        // that have come, and wait for their round
  std::set<std::string> unread_;  // shards whose pages the log has told of
  int64_t look_at_ns_ = INT64_MIN;
  int64_t ask_at_ns_ = INT64_MIN;
  int64_t forget_at_ns_ = INT64_MIN;
  const std::unique_ptr<Peers> peers_;  // ends first
};

}  // namespace weir::server
