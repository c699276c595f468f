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

#include "storage/replication/early_release.h"
#include "storage/replication/member.h"
#include "storage/replication/member_registry.h"
#include "storage/replication/primary_clock.h"
#include "storage/replication/trimming.h"
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
  bool writes_by_turn = false;   // each turn of a record is a write of its own
  bool forgets_turns = false;    // that the log may lack
  bool takes_any_clock = false;  // instants are its wall clock's
};

struct ProcessOptions {
  std::string node;
  Times times{.lease_ns = 1'500'000'000, .failover_after_ns = 2'000'000'000};
  EarlyOptions early;          // strict unless age_ns_max is set
  int64_t commit_wait_ns = 0;  // before a reply may leave early
  size_t uncommitted_bytes_max = 4096;
  uint64_t turns_kept = UINT64_MAX;  // of the local log, before what the state files hold
  size_t bookmarks_kept = 1;
  TrimOptions trimming;
  size_t record_bytes_max = 256 * 1024;
  size_t part_bytes_max = 0;
  uint8_t record_version = kFirstRecordVersion;
  bool runs_long = false;  // commands that hold the loop, so that answers come in the middle of one
  ProcessFlaws flaws;
};

class Process : public MemberActions {
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
  void switch_over(const std::string& node, Instants now);
  void claim_by_operator(Instants now);
  void change_times(const Times& times, Instants now);
  // What is in order is written to the state files.
  void write_back();
  // How far this process would trim the log as the primary that it believes to be; 0: not at all.
  uint64_t trim_up_to(const RegistryView& registry) const;
  MemberFacts facts() const;

  Member& member() { return *member_; }
  const Member& member() const { return *member_; }
  const Disk& disk() const { return *disk_; }
  std::shared_ptr<Disk> shared_disk() const { return disk_; }
  const ProcessOptions& options() const { return options_; }
  const std::string& name() const { return options_.node; }
  uint64_t newest_turn() const { return base_turn_ + states_.size() - 1; }
  uint64_t state() const { return states_.back().sum; }
  bool has_stopped() const { return member_->role() == Role::kStopped; }
  Reason stop_reason() const { return stop_reason_; }
  const Head& last_read_after() const { return last_read_after_; }
  // Of the log, which the newest answer came from.
  size_t branch() const { return branch_; }
  void set_branch(size_t branch) {
    branch_ = branch;
    branches_.insert(branch);
  }
  const std::set<size_t>& branches() const { return branches_; }
  void set_trace(std::function<void(const std::string&)> trace) { trace_ = std::move(trace); }
  // A stale read has told this process that the log was rewound.
  void set_misled() { is_misled_ = true; }
  bool is_misled() const { return is_misled_; }
  bool owes_replies() const { return !held_.empty() || !reads_.empty(); }

  // MemberActions
  void append(std::optional<Head> expected, std::string record) override;
  void read(Head after, size_t bytes_max) override;
  bool follow(const Batch& batch) override;
  void write_committed(const Batch& batch) override;
  void replace_bookmark(const LogBookmark& bookmark) override;
  void promote(int64_t instant_ns) override;
  void demote(Reason reason) override;
  void stop(Reason reason) override;
  int64_t instant_ns() override;
  uint64_t written_back_turn() const override { return disk_->base().turn; }
  uint64_t random() override { return random_.next(); }

 private:
  struct HeldWrite {
    uint64_t turn = 0;
    Take take;
    int64_t sealed_boot_ns = 0;
    int64_t sealed_real_ns = 0;
    bool released_early = false;
  };
  struct HeldRead {
    uint64_t shown_turn = 0;
    uint64_t released_before = 0;
  };

  void settle();
  void release_early();
  void seal();
  void apply(uint64_t turn, const std::string& bytes);
  size_t uncommitted_bytes() const;
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
  std::set<size_t> branches_;  // all so far
  std::function<void(const std::string&)> trace_;

  bool is_promoted_ = false;
  uint64_t base_turn_ = 0;
  std::vector<State> states_;        // after each turn, from base_turn_ on
  std::vector<std::string> sealed_;  // since the promotion
  uint64_t first_sealed_ = 0;
  std::deque<HeldWrite> held_;
  std::deque<HeldRead> reads_;
  int64_t newest_instant_ns_ = 0;
  uint64_t promotion_ = 0;  // the checker's number of it
  uint64_t cold_claims_ = 0;
  std::optional<PrimaryClock> clock_;
  EarlyReleases early_;
  Trimming trimming_;
  std::string last_record_;  // that was sent
  Head last_read_after_;
  bool is_misled_ = false;
  Reason stop_reason_ = Reason::kFenced;
  std::unique_ptr<Member> member_;
};

const char* name_of(Reason reason);

}  // namespace weir::storage::replication
