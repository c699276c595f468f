// Asks members of all shards what they know, tells them what this one does, and keeps what comes of
// it (cluster/cluster_facts.h). It runs on the loop between turns; whoever waits is Peers.
//
// Nothing depends on it but where clients are sent: a shard that nobody can be asked of keeps its
// last addresses, and the others know nothing of that.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "server/cluster/cluster_facts.h"
#include "server/core/shard/membership.h"
#include "server/failover/peers/ask_plan.h"
#include "server/failover/peers/peers.h"
#include "server/os/clock.h"

namespace weir::server {

class MetricWriter;

// Where the file CLUSTER is kept.
class ClusterKeeper {
 public:
  virtual ~ClusterKeeper() = default;
  // What was kept; "": nothing.
  virtual std::string kept() = 0;
  // Keeps a text in its place. Returns at once.
  virtual void keep(std::string text) = 0;
};

struct WatchPlan {
  std::string cluster;  // 32 hexadecimal digits
  ShardInstance instance = {};
  std::vector<ToldRange> slots = {};    // of the own shard
  std::string hostname = {};            // that this member announces; "": none
  int tls_port = 0;                     // likewise; 0: none beside its port
  std::vector<std::string> seeds = {};  // "host:port"
};

class ClusterWatch final : public FactsExchange {
 public:
  // So often the file is made anew if the map is another.
  static constexpr int64_t kKeepEveryNs = kNsPerS;
  // Seeds are asked as often as shards until a shard is known for every slot, and then so often.
  static constexpr int64_t kSeedsEveryNs = 5 * kNsPerS;
  // A shard of which nothing was heard for so long is worth a line in the log.
  static constexpr int64_t kUnheardNs = 10 * kNsPerS;

  // What the member knows of itself and of its shard; this class adds the plan to it.
  using Own = std::function<ShardFacts()>;
  // `keeper` may be null.
  ClusterWatch(WatchPlan plan, const ClusterFacts::Self& self, std::unique_ptr<Peers> peers,
               std::unique_ptr<ClusterKeeper> keeper, Clock* clock, Own own);

  // Takes in answers, and asks what is due. To be called between turns.
  void act();
  // By CLOCK_BOOTTIME: when act() has something to do by itself.
  int64_t next_ns() const { return look_at_ns_; }

  // FactsExchange
  ShardFacts facts() override;
  void hear(const ShardFacts& facts) override;
  Result<void, std::string> forget(std::string_view shard, Forget how) override;

  std::string same_node_at() const override;

  std::vector<KnownShard> shards() const { return known_.shards(clock_.boot_ns()); }
  KnownShard own_shard() const { return known_.own_shard(clock_.boot_ns()); }
  const ClusterFacts& known() const { return known_; }
  // Facts of others that were not believed.
  uint64_t refused() const { return refused_; }
  const ShardInstance& instance() const { return plan_.instance; }
  void write_metrics(MetricWriter& out) const;

 private:
  void ask(const std::string& lane, AskPlan::Wants wants,
           const std::vector<std::string>& addresses);
  void ask_all();
  void take(const std::string& lane, const Peers::Answer& answer);
  void hear_same_node(const ShardFacts& facts);
  void refuse(ClusterFacts::Heard why, const ShardFacts& facts);
  void tell_of_itself();
  void keep();
  // How long ago something was told, which is not before this process began to watch.
  int64_t since(int64_t told_ns) const;
  void tell_of_silence();

  const WatchPlan plan_;
  const ClusterFacts::Self self_;
  const std::unique_ptr<ClusterKeeper> keeper_;
  Clock& clock_;
  const Own own_;
  ClusterFacts known_;
  std::map<std::string, AskPlan> plans_;         // by lane; the lane of seeds is ""
  std::map<std::string, std::string> failures_;  // by lane, the last
  std::set<std::string> unheard_;                // shards that the log has told of
  uint64_t refused_ = 0;
  std::set<ClusterFacts::Heard> told_of_;  // why facts were refused, as the log has it
  ShardFacts told_;                        // of itself, lately
  std::string same_node_;                  // the address of another process with this member's node
  int64_t same_node_at_ns_ = INT64_MIN;
  std::vector<ToldAddresses> others_;  // as told, while what is known is as it was then
  KnownRevision others_revision_;
  KnownRevision kept_revision_;
  bool served_ = false;
  const int64_t began_ns_;
  int64_t look_at_ns_ = INT64_MIN;
  int64_t tell_at_ns_ = INT64_MIN;
  int64_t seeds_at_ns_ = INT64_MIN;
  int64_t keep_at_ns_ = INT64_MIN;
  std::string kept_;
  const std::unique_ptr<Peers> peers_;  // ends first
};

}  // namespace weir::server
