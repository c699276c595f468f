// Some whole servers of one shard in one thread: real Servers with their keyspaces on disks that
// are memory, a simulated log engine, clients, and a virtual time in which machines die, stop, lose
// power or are cut off, and the engine fails over.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/commands/families.h"
#include "server/core/server.h"
#include "server/replication/shard_member.h"
#include "storage/memory_store.h"
#include "tests/replication/agenda.h"
#include "tests/replication/sim_log.h"
#include "tests/server/fake_server.h"
#include "tests/shard_servers/journal.h"
#include "tests/shard_servers/sim_board.h"
#include "tests/simulation/random.h"

namespace weir::server {

// A machine's own clocks.
class NodeClock final : public Clock {
 public:
  NodeClock(const storage::replication::Agenda* agenda, int64_t boot_offset_ns,
            int64_t wall_offset_ns)
      : agenda_(*agenda), boot_offset_ns_(boot_offset_ns), wall_offset_ns_(wall_offset_ns) {}

  int64_t wall_ns() override { return kEpochNs + agenda_.now_ns() + wall_offset_ns_; }
  int64_t steady_ns() override { return agenda_.now_ns() + boot_offset_ns_; }
  void sleep_ns(int64_t) override {}
  void step_wall(int64_t ns) { wall_offset_ns_ += ns; }

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
};

class ShardCluster {
 public:
  ShardCluster(uint64_t seed, size_t nodes);
  ~ShardCluster();

  // Time passes with clients and faults.
  void run(int64_t ns);
  // Nothing goes wrong any more, clients ask nothing, and all machines are there.
  void be_quiet(int64_t ns);
  // One node serves, all have what it has, and what clients were told is true. Fails with what is
  // not.
  void check();

  struct Figures {
    uint64_t acknowledged = 0, refused = 0, kills = 0, rewinds = 0, closed = 0, rejoins = 0,
             copies = 0, trimmed = 0;
  };
  Figures figures() const { return figures_; }

 private:
  void start(Node* node);
  void kill(Node* node);
  void rejoin_if_stopped(Node* node);
  Node* source_for(const Node* node);
  void step(Node* node);
  void take_replies(Node* node);
  void lose_client(Node* node);
  void ask(Node* node);
  std::string brief(size_t key);
  void fault();
  void fault_of(Node* node);
  std::string call(Node* node, std::initializer_list<std::string_view> words);
  std::string contents_of(Node* node);
  Node* owner();

  simulation::Random random_;
  storage::replication::Agenda agenda_;
  storage::replication::Counts counts_;
  storage::replication::SimEngine engine_;
  storage::replication::SimNetwork network_;
  SimBoard board_;
  uint64_t trim_bytes_ = 0;  // of the log, that stay
  std::vector<std::unique_ptr<Node>> nodes_;
  std::map<const Node*, Journal::Asked> asked_;  // by whom no reply has come yet
  Journal journal_;
  Figures figures_;
  uint64_t life_ = 0;
};

}  // namespace weir::server
