// The machines of a shard in one thread: real Servers with their keyspaces on disks that are
// memory, members of a shard over a simulated log engine, in virtual time. What goes wrong, and
// what clients ask, is for those who use them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/commands/command_lists.h"
#include "server/core/run/server.h"
#include "server/failover/member/shard_member.h"
#include "storage/memory/memory_store.h"
#include "tests/replication/agenda.h"
#include "tests/replication/sim_log.h"
#include "tests/server/fake_server.h"
#include "tests/shard_servers/sim_registry.h"
#include "tests/simulation/random.h"

namespace weir::server {

// A machine's own clocks.
class NodeClock final : public Clock {
 public:
  NodeClock(const storage::replication::Agenda* agenda, int64_t boot_offset_ns,
            int64_t wall_offset_ns)
      : agenda_(*agenda), boot_offset_ns_(boot_offset_ns), wall_offset_ns_(wall_offset_ns) {}

  int64_t wall_ns() override { return kEpochNs + agenda_.now_ns() + wall_offset_ns_; }
  int64_t steady_ns() override {
    if (on_look) on_look();
    return agenda_.now_ns() + boot_offset_ns_;
  }
  void sleep_ns(int64_t) override {}
  void step_wall(int64_t ns) { wall_offset_ns_ += ns; }

  // Time may pass while a command runs, which looks at the clock.
  std::function<void()> on_look;

 private:
  static constexpr int64_t kEpochNs = 1'700'000'000'000'000'000;

  const storage::replication::Agenda& agenda_;
  int64_t boot_offset_ns_;
  int64_t wall_offset_ns_;
};

// A machine: its disk and clocks, and its process while it lives.
struct Node {
  std::string name;
  storage::replication::Link link;
  std::unique_ptr<NodeClock> clock;
  std::shared_ptr<storage::MemoryDisk> disk;
  storage::MemoryStore* store = nullptr;
  std::unique_ptr<ShardMember> member;
  std::unique_ptr<Server> server;  // null: dead
  Session* client = nullptr;       // null: its connection was closed
  int64_t stopped_until_ns = 0;
  int64_t ticked_at_ns = 0;
  bool leaves = false;  // its process is to end
};

// What all members are started with.
struct MemberSettings {
  ReplyPlan replies;
  int64_t append_interval_ns = 0;
  storage::replication::Times times = {.lease_ns = 1'500 * kMs, .failover_after_ns = 2'000 * kMs};
  bool trims = false;  // the log keeps a few records only
  bool speaks_cluster = false;
  std::string shard = "main";
  size_t first_node = 0;  // the nodes' numbers begin there
  SlotRanges slots = all_slots();
  std::function<std::unique_ptr<Peers>()> make_settings_peers = {};
  // What a node asks other shards with; null: nothing.
  std::function<decltype(MemberPlan::make_watch)(Node* node)> make_watch = {};
};

class Machines {
 public:
  Machines(uint64_t seed, size_t nodes, const MemberSettings& settings);
  virtual ~Machines() = default;

 protected:
  uint64_t checksum() const;  // of the shard, in its records
  void start(Node* node);
  // An empty disk in place of the node's.
  static void wipe(Node* node);
  // The process ends as by kill -9; its disk stays.
  void stop_process(Node* node) {
    node->server.reset();
    node->member.reset();
  }
  // The loop comes round once: takes in what the log has sent, and then what `serve` does has a
  // part in the turn.
  template <typename Serve>
  void turn(Node* node, const Serve& serve);

  simulation::Random random_;
  storage::replication::Agenda agenda_;
  storage::replication::Counts counts_;
  storage::replication::SimEngine engine_;
  storage::replication::SimNetwork network_;
  SimRegistry registry_;
  std::vector<std::unique_ptr<Node>> nodes_;

 private:
  const MemberSettings settings_;
  uint64_t trim_bytes_ = uint64_t{1} << 40;  // of the log, that stay
  uint64_t life_ = 0;
};

template <typename Serve>
void Machines::turn(Node* node, const Serve& serve) {
  constexpr int64_t kTickNs = 100 * kMs;
  Server& server = *node->server;
  if (agenda_.now_ns() - node->ticked_at_ns >= kTickNs) {
    node->ticked_at_ns = agenda_.now_ns();
    server.tick();
  }
  server.shard_role().listen();
  serve();
  server.serve_waiting();
  server.end_turn();
}

}  // namespace weir::server
