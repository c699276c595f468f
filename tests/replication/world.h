// A shard of two or three members over one log engine, on virtual time: everything that can go
// wrong does, at random, until it is quiet; then one owner must commit and all replicas be equal.
//
// All of a run follows from its seed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "tests/replication/checker.h"
#include "tests/replication/process.h"
#include "tests/replication/sim_log.h"
#include "tests/simulation/random.h"

namespace weir::storage::replication {

struct WorldOptions {
  bool loses_acknowledged = false;  // the engine promotes standbys that lack acknowledged records
  bool cuts_power = true;
  bool has_twins = true;
  bool operators_claim = true;
  EngineFlaws engine;
  ProcessFlaws process;
};

struct WorldFigures {
  uint64_t offices = 0;
  uint64_t turns = 0;  // released
  uint64_t reads = 0;
  uint64_t rewinds = 0;
  uint64_t snapshots = 0;  // members that stopped and joined again from nothing
  uint64_t turns_lost = 0;
  uint64_t early_turns_lost = 0;
  uint64_t void_records = 0;
  int64_t settled_after_ns = 0;  // the last fault, at most
  uint64_t settled_late = 0;     // worlds that took more than 9.5 s for it

  void add(const WorldFigures& other);
};

class World : public Wire {
 public:
  World(uint64_t seed, const WorldOptions& options);

  // Throws a Violation.
  WorldFigures run();
  void set_trace(std::function<void(const std::string&)> trace) { trace_ = std::move(trace); }

  // Wire
  void append(Process* process, std::optional<Head> expected, std::string record) override;
  void read(Process* process, Head after, size_t bytes_max) override;

 private:
  struct Node {
    ProcessOptions options;
    std::shared_ptr<Disk> disk;
    std::unique_ptr<Process> process;
    double rate = 1;  // of its CLOCK_BOOTTIME
    int64_t boot_offset_ns = 0;
    int64_t wall_offset_ns = 0;
    size_t branch = 0;
    int64_t paused_until_ns = 0;
    int64_t requests_cut_until_ns = 0;
    int64_t answers_cut_until_ns = 0;
    int64_t tick_at_ns = -1;
    uint64_t life = 0;  // of the process; events of an earlier one are dropped
    uint64_t rewinds = 0;
  };
  struct Event {
    int64_t at_ns = 0;
    uint64_t number = 0;
    std::function<void()> run;
    bool operator<(const Event& other) const {
      return at_ns != other.at_ns ? at_ns > other.at_ns : number > other.number;
    }
  };
  // One append or read on its way.
  struct Call {
    size_t node = 0;
    uint64_t life = 0;
    size_t branch = 0;
    bool answered = false;
    std::optional<Head> expected;
    std::string record;
    uint64_t engine_run = 0;
    Appended result;
  };

  // world.cc
  void at(int64_t at_ns, std::function<void()> run);
  void on_node(size_t node, uint64_t life, std::function<void(Process*, Instants)> run);
  Instants clocks(const Node& node) const;
  void plan_tick(size_t node);
  size_t index_of(const Process* process) const;
  void start(size_t node);
  void end_process(size_t node);
  void step_clients(size_t node);
  void sync_disks(size_t node);
  void look_after_stopped();
  bool is_settled();
  std::string describe();
  void trace(const std::string& line);

  // world_net.cc
  int64_t delay_ns();
  void arrive(const std::shared_ptr<Call>& call);
  void acknowledge_durable(const std::shared_ptr<Call>& call);
  void make_durable();
  void answer(const std::shared_ptr<Call>& call, const Appended& answer, int64_t after_ns);

  // world_faults.cc
  void plan_fault();
  void inject_fault();
  void engine_fault(uint64_t kind);
  void member_fault(size_t node);
  void promote();
  void crash(size_t node, bool power_cut);
  void add_twin();
  void heal_all();

  WorldOptions options_;
  simulation::Random random_;
  SimLog log_;
  Checker checker_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::priority_queue<Event> events_;
  uint64_t event_number_ = 0;
  int64_t now_ns_ = 0;
  std::function<void(const std::string&)> trace_;

  // The engine
  int64_t down_until_ns_ = 0;
  int64_t appends_blocked_until_ns_ = 0;
  int64_t standby_down_until_ns_ = 0;
  int64_t slow_until_ns_ = 0;
  bool old_primary_answers_ = false;
  uint64_t engine_run_ = 0;
  std::vector<std::shared_ptr<Call>> waiting_;  // visible, and their branch's standby is away

  int64_t typical_delay_ns_ = 1'000'000;
  int64_t fault_every_ns_ = 1'000'000'000;
  bool is_quiet_ = false;
  bool clients_stopped_ = false;
  WorldFigures figures_;
};

}  // namespace weir::storage::replication
