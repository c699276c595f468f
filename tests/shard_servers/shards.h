// Some shards of one cluster in one thread: whole servers, each shard with an engine of its own,
// whose members ask one another over links that a test cuts. Virtual time, the same for all shards;
// each machine has its own clocks.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/failover/peers/cluster_watch.h"
#include "server/failover/peers/peers.h"
#include "tests/shard_servers/machines.h"

namespace weir::server {

// One shard's machines.
class ShardOfCluster : private Machines {
 public:
  ShardOfCluster(uint64_t seed, size_t nodes, const MemberSettings& settings);
  ~ShardOfCluster() override;

  // The loops of all that live come round once, a millisecond later.
  void pass_one_ms();
  Node* primary() const;  // null: nobody serves
  std::vector<Node*> nodes() const;
  Node* find(const std::string& address) const;
  void kill(Node* node) { stop_process(node); }
  void start(Node* node) { Machines::start(node); }
  void stop_for(Node* node, int64_t ns) { node->stopped_until_ns = agenda_.now_ns() + ns; }
  bool is_up(const Node* node) const {
    return node->server && node->stopped_until_ns <= agenda_.now_ns();
  }
};

class ClusterOfShards {
 public:
  // Shards "a", "b" ... of `members` each. All slots are theirs, in even shares.
  ClusterOfShards(uint64_t seed, size_t shards, size_t members);
  ~ClusterOfShards();

  void pass(int64_t ns);
  int64_t now_ns() const { return now_ns_; }
  ShardOfCluster& shard(size_t at) { return *shards_[at]; }
  size_t count() const { return shards_.size(); }
  static std::string name_of(size_t shard) {
    return std::string(1, static_cast<char>('a' + shard));
  }

  void kill(size_t shard, Node* node);
  // Members of the two shards do not reach one another, or do again.
  void cut(size_t one, size_t other, bool is_cut = true);
  // Nobody is told of others but by the file CLUSTER.
  void take_seeds_away() { has_seeds_ = false; }
  // What a member's process left for the next.
  const std::string& kept(const Node* node) { return kept_[node->name]; }

  static const ClusterFacts& known(const Node* node);
  // "a=HOST:PORT b=...": the primaries as a member shows them.
  std::string primaries_at(const Node* node) const;
  // The same as it is.
  std::string primaries() const;
  // Whether all members that live show that.
  bool all_agree() const;
  // A request at a member, and the reply.
  std::string ask(size_t shard, Node* node, const std::vector<std::string>& words);

 private:
  class Link;
  struct Question {
    PeerQuestion asked;
    size_t from = 0;  // its shard
    Node* to = nullptr;
    Session* session = nullptr;
    std::string reply;
    int64_t asked_at_ns = 0;
    int64_t due_ns = 0;  // to be asked, then to be answered
    bool is_over = false;
    Peers::Answer answer = std::string("on its way");
  };

  decltype(MemberPlan::make_watch) watch_of(size_t shard, const Node* node);
  std::shared_ptr<Question> send(size_t from, PeerQuestion question);
  void step(Question* question);
  void begin(Question* question);
  void look_for_reply(Question* question);
  void end(Question* question, Peers::Answer answer);
  size_t shard_at(const std::string& address) const;
  int64_t delay_ns() { return random_.between(100'000, 3 * kMs); }

  simulation::Random random_;
  int64_t now_ns_ = 0;
  bool has_seeds_ = true;
  std::set<std::pair<size_t, size_t>> cut_;
  std::map<std::string, std::string> kept_;  // by node
  std::list<std::shared_ptr<Question>> questions_;
  std::vector<std::unique_ptr<ShardOfCluster>> shards_;
};

}  // namespace weir::server
