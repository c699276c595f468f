// A shard of two or three members over one log engine, on virtual time: everything that can go
// wrong does, at random, until it is quiet; then one primary must commit and all members be equal.
//
// All of a run follows from its seed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/replication/agenda.h"
#include "tests/replication/checker.h"
#include "tests/replication/counts.h"
#include "tests/replication/process.h"
#include "tests/replication/sim_engine.h"
#include "tests/replication/sim_log.h"
#include "tests/replication/sim_network.h"
#include "tests/simulation/random.h"

namespace weir::storage::replication {

struct WorldOptions {
  // The engine fails over to standbys that lack acknowledged records.
  bool loses_acknowledged = false;
  bool cuts_power = true;
  bool has_twins = true;
  bool operators_claim = true;
  EngineFlaws engine;
  ProcessFlaws process;
};

struct WorldMetrics {
  uint64_t promotions = 0;
  uint64_t turns = 0;  // released
  uint64_t reads = 0;
  uint64_t rewinds = 0;
  uint64_t stops = 0;  // that a person had to look after
  uint64_t turns_lost = 0;
  uint64_t void_records = 0;
  OverAdmission::Result admission;
  uint64_t shards_ended = 0;     // no member was left to take a snapshot from
  int64_t settled_after_ns = 0;  // the last fault, at most
  uint64_t settled_late = 0;     // worlds that took more than 9.5 s for it
  Counts faults;

  void add(const WorldMetrics& other);
};

class World : public Wire {
 public:
  World(uint64_t seed, const WorldOptions& options);

  // Throws a Violation.
  WorldMetrics run();
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
    Link link;
    std::unique_ptr<SimLog> log;  // of the process
    int64_t paused_until_ns = 0;
    int64_t tick_at_ns = -1;
    uint64_t life = 0;                   // of the process; events of an earlier one are dropped
    bool takes_snapshot = false;         // and has no process
    std::map<size_t, Head> checkpoints;  // in use, by the node that takes it
  };

  // world.cc
  void on_node(size_t node, uint64_t life, std::function<void(Process*, Instants)> run);
  Instants clocks(const Node& node) const;
  void plan_tick(size_t node);
  size_t index_of(const Process* process) const;
  void add_node(ProcessOptions options);
  void live(size_t node);
  void start(size_t node);
  void end_process(size_t node);
  void step_clients(size_t node);
  void sync_disks(size_t node);
  bool is_settled();
  bool look(uint64_t* turns_wanted);
  WorldMetrics metrics();
  std::string describe();
  void trace(const std::string& line);

  // world_snapshots.cc
  void look_after_stopped();
  void keep_house(size_t node);
  std::vector<RegistryEntry> registry() const;
  void take_snapshot(size_t node, bool again);
  std::optional<size_t> snapshot_source(size_t node);
  void open_snapshot(size_t node, size_t source, uint64_t source_life,
                     std::shared_ptr<Disk> snapshot);
  bool has_ended();

  // world_faults.cc
  void plan_fault();
  void inject_fault();
  void engine_fault(uint64_t kind);
  void member_fault(size_t node);
  void cut(size_t node, int64_t length_ns, uint64_t kind);
  void switch_over_somewhere();
  void change_times(size_t node);
  void fail_over();
  void crash(size_t node, bool power_cut);
  void add_twin();
  void add_member();
  void heal_all();

  WorldOptions options_;
  simulation::Random random_;
  Agenda agenda_;
  Counts counts_;
  SimEngine engine_;
  SimNetwork network_;
  Checker checker_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::map<std::string, RegistryEntry> registry_;  // age_ns: when it was put
  std::function<void(const std::string&)> trace_;

  int64_t fault_every_ns_ = 1'000'000'000;
  bool is_quiet_ = false;
  bool clients_stopped_ = false;
  WorldMetrics metrics_;
};

}  // namespace weir::storage::replication
