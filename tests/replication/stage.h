// A few processes and an engine where nothing happens by itself: whoever holds the stage decides
// when an append reaches the engine, when it is durable, who hears of it, and what time it is. For
// directed schedules and for the exhaustive search.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/replication/checker.h"
#include "tests/replication/process.h"
#include "tests/replication/sim_engine.h"

namespace weir::storage::replication {

struct StageOptions {
  size_t members = 2;
  bool loses_acknowledged = false;
  EngineFlaws engine;
  ProcessOptions process;  // but for the name
};

// The first two members.
enum : size_t { kA, kB };

class Stage : public Wire {
 public:
  explicit Stage(const StageOptions& options);

  Process& process(size_t member) { return *members_[member].process; }
  const Member& member(size_t member) const { return members_[member].process->member(); }
  SimEngine& log() { return log_; }
  Checker& checker() { return checker_; }
  bool is_up(size_t member) const { return members_[member].process != nullptr; }
  bool is_promoted(size_t member) const { return is_up(member) && this->member(member).may_seal(); }
  void set_trace(std::function<void(const std::string&)> trace) { trace_ = std::move(trace); }

  void pass(int64_t ns) { now_ns_ += ns; }
  // What the wall clock of a machine without error shows.
  int64_t real_ns() const { return kEpochNs + now_ns_; }
  // Unless it is told, a member's clock is wrong by a thousand seconds times its number.
  void set_wall_error(size_t member, int64_t ns) { members_[member].wall_error_ns = ns; }
  Instants clocks(size_t member) const;
  void tick(size_t member) { process(member).tick(clocks(member)); }
  bool write(size_t member, int turns = 1) { return process(member).write(clocks(member), turns); }
  bool ask_to_read(size_t member) { return process(member).ask_to_read(clocks(member)); }
  void switch_over(size_t member, const std::string& to) {
    process(member).switch_over(to, clocks(member));
  }
  void change_times(size_t member, const Times& times) {
    process(member).change_times(times, clocks(member));
  }
  void claim_by_operator(size_t member) { process(member).claim_by_operator(clocks(member)); }

  // The member's append: on its way, at the engine, answered.
  bool has_append(size_t member) const { return members_[member].append.has_value(); }
  bool is_executed(size_t member) const {
    return has_append(member) && members_[member].append->result.has_value();
  }
  bool is_refused(size_t member) const;
  // It stands in the present leader and can no longer be lost.
  bool is_durable(size_t member) const;
  void execute(size_t member);
  // What the engine says. REQUIRES: is_executed(member).
  void answer(size_t member);
  // The append is given up; if it is not executed yet, it can be later.
  void give_up(size_t member);
  void refuse(size_t member);
  size_t lost_appends() const { return lost_.size(); }
  // With `connects_again` it is sent to the present leader, whomever it was meant for.
  void execute_lost(size_t at, bool connects_again = false);
  // The newest record is durable, and with it all before.
  void make_durable() { log_.make_durable(log_.leader(), log_.size(log_.leader())); }
  void append_raw(const std::string& record);

  size_t members() const { return members_.size(); }
  bool may_answer_reads(size_t i) const { return member(i).may_answer_reads(clocks(i).boot_ns); }
  // All that counts for what can still happen, save how long ago things were. Identities are
  // replaced by where they first appear, so that runs with other random numbers look the same.
  std::string digest() const;

  bool has_read(size_t member) const { return members_[member].read.has_value(); }
  void answer_read(size_t member);
  void fail_read(size_t member);

  // A failover of the engine; everybody talks to the new leader, but those who are told not to.
  void fail_over(size_t records);
  void talk_to(size_t member, size_t branch) { members_[member].branch = branch; }

  void end(size_t member);  // the process is killed
  void start(size_t member);
  size_t add_copy(size_t member);  // of its directory, as a process of its own
  std::shared_ptr<Disk> disk(size_t member) { return members_[member].disk; }
  void set_times(size_t member, const Times& times) { members_[member].options.times = times; }

  // Longer steps, in which the engine answers the member at once and everything is durable.
  void append_all(size_t member);             // until the member has nothing more to append
  void read_all(size_t member);               // until it has read to the end and waits
  void be_up_to_date(size_t member);          // it has heard of everything
  void be_silent(size_t member, int64_t ns);  // it polls for so long and no one else acts
  bool wait_for_claim(size_t member, int64_t ns_max);  // likewise, until its CLAIM is on its way
  void elect(size_t member);                           // it waits, claims and is promoted
  // Everything works again for at most this long; then one primary commits and all others are
  // equal.
  void settle(int64_t ns);

  std::string describe() const;

 private:
  static constexpr int64_t kEpochNs = 1'700'000'000'000'000'000;

  struct PendingAppend {
    std::optional<Head> expected;
    std::string record;
    size_t branch = 0;
    std::optional<Appended> result;
  };
  struct PendingRead {
    Head after;
    size_t bytes_max = 0;
  };
  struct Actor {
    int64_t wall_error_ns = 0;
    ProcessOptions options;
    std::shared_ptr<Disk> disk;
    std::unique_ptr<Process> process;
    size_t branch = 0;
    std::optional<PendingAppend> append;
    std::optional<PendingRead> read;
  };

  void append(Process* process, std::optional<Head> expected, std::string record) override;
  void read(Process* process, Head after, size_t bytes_max) override;
  Actor& actor_of(const Process* process);
  PendingAppend take_append(size_t member);
  bool step(size_t member);
  bool is_calm();

  SimEngine log_;
  Checker checker_;
  std::vector<Actor> members_;
  std::vector<PendingAppend> lost_;
  int64_t now_ns_ = 0;
  uint64_t starts_ = 0;
  std::function<void(const std::string&)> trace_;
};

// Throws a Violation that names what was demanded.
void demand(bool holds, const std::string& what);

}  // namespace weir::storage::replication
