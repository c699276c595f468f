// One simulated weir process: the real Member, a local log, a state, and clients who write, read
// and wait for their replies. It knows no network: what it sends goes through a Wire, and whoever
// carries that calls the member's answers back.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/replication/member.h"
#include "tests/replication/checker.h"
#include "tests/replication/disk.h"
#include "tests/simulation/random.h"

namespace weir::storage::replication {

class Wire {
 public:
  virtual ~Wire() = default;
  virtual void append(Process* process, std::optional<Head> expected, std::string record) = 0;
  virtual void read(Process* process, Head after, size_t bytes_max) = 0;
};

struct ProcessFlaws {
  bool writes_by_turn = false;  // each turn of a record is a write of its own
};

struct ProcessOptions {
  std::string node;
  Times times{.lease_ns = 1'500'000'000, .failover_after_ns = 2'000'000'000};
  int64_t early_release_ns_max = 0;  // 0: strict
  size_t record_bytes_max = 256 * 1024;
  size_t part_bytes_max = 0;
  ProcessFlaws flaws;
};

class Process : public Port {
 public:
  Process(const ProcessOptions& options, std::shared_ptr<Disk> disk, Wire* wire, Checker* checker,
          uint64_t seed, Instants now);

  // Events. Each sets the process's clocks, and lets go what may go.
  void tick(Instants now);
  void deliver(const Appended& answer, Instants now);
  void deliver(const Read& answer, Instants now);
  // What clients ask. They answer false where the process does not take the request.
  // Several turns are sealed before the first of them is sent.
  bool write(Instants now, int turns = 1);
  bool ask_to_read(Instants now);
  void hand_over(const std::string& node, Instants now);
  void claim_by_operator(Instants now);
  void change_times(const Times& times, Instants now);

  Member& member() { return *member_; }
  const Member& member() const { return *member_; }
  const Disk& disk() const { return *disk_; }
  std::shared_ptr<Disk> shared_disk() const { return disk_; }
  const ProcessOptions& options() const { return options_; }
  const std::string& name() const { return options_.node; }
  uint64_t newest_turn() const { return states_.size() - 1; }
  uint64_t state() const { return states_.back(); }
  bool has_stopped() const { return member_->role() == Role::kStopped; }
  // Of the log, which the newest answer came from.
  size_t branch() const { return branch_; }
  void set_branch(size_t branch) { branch_ = branch; }
  void set_trace(std::function<void(const std::string&)> trace) { trace_ = std::move(trace); }
  bool owes_replies() const { return !held_.empty() || !reads_.empty(); }

  // Port
  void append(std::optional<Head> expected, std::string record) override;
  void read(Head after, size_t bytes_max) override;
  void follow(const Batch& batch) override;
  void commit(const Batch& batch) override;
  void restamp(const Stamp& stamp) override;
  void take_office(int64_t instant_ns) override;
  void lose_office(Reason reason) override;
  void stop(Reason reason) override;
  int64_t instant_ns() override;
  uint64_t written_back_turn() const override { return 0; }
  uint64_t random() override { return random_.next(); }

 private:
  struct HeldWrite {
    uint64_t turn = 0;
    bool released_early = false;
  };
  struct HeldRead {
    uint64_t shown_turn = 0;
    uint64_t released_before = 0;
  };

  void settle();
  void seal();
  void load_state();
  void trace(const std::string& line) const {
    if (trace_) trace_(options_.node + " " + line);
  }

  ProcessOptions options_;
  std::shared_ptr<Disk> disk_;
  Wire* wire_;
  Checker* checker_;
  simulation::Random random_;
  Instants now_;
  size_t branch_ = 0;
  std::function<void(const std::string&)> trace_;

  bool in_office_ = false;
  std::vector<uint64_t> states_;     // after each turn, from turn 0 on
  std::vector<std::string> sealed_;  // of this office
  uint64_t first_sealed_ = 0;
  std::deque<HeldWrite> held_;
  std::deque<HeldRead> reads_;
  int64_t newest_instant_ns_ = 0;
  int64_t office_instant_ns_ = 0;
  int64_t office_boot_ns_ = 0;
  std::unique_ptr<Member> member_;
};

const char* name_of(Reason reason);

}  // namespace weir::storage::replication
