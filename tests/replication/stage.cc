#include "tests/replication/stage.h"

#include <algorithm>
#include <utility>

#include "tests/replication/time_units.h"
#include "tests/replication/violation.h"

namespace weir::storage::replication {
void demand(bool holds, const std::string& what) {
  if (!holds) throw Violation("it does not hold: " + what);
}

Stage::Stage(const StageOptions& options)
    : log_(options.engine), checker_(&log_, options.loses_acknowledged) {
  checker_.set_clock([this] { return now_ns_; });
  log_.append(0, Head{}, make_genesis());
  make_durable();
  for (size_t i = 0; i < options.members; ++i) {
    Actor actor;
    actor.options = options.process;
    actor.options.node = std::string(1, static_cast<char>('A' + i));
    actor.wall_error_ns = static_cast<int64_t>(i + 1) * 1000 * kSecond;
    actor.disk = std::make_shared<Disk>();
    members_.push_back(std::move(actor));
  }
}

Instants Stage::clocks(size_t member) const {
  const auto offset = static_cast<int64_t>(member + 1) * 1000 * kSecond;
  return {.boot_ns = now_ns_ + offset, .wall_ns = real_ns() + members_[member].wall_error_ns};
}

Stage::Actor& Stage::actor_of(const Process* process) {
  return *std::find_if(members_.begin(), members_.end(),
                       [&](const Actor& actor) { return actor.process.get() == process; });
}

void Stage::append(Process* process, std::optional<Head> expected, std::string record) {
  Actor& actor = actor_of(process);
  actor.append = PendingAppend{
      .expected = expected, .record = std::move(record), .branch = actor.branch, .result = {}};
}

void Stage::read(Process* process, Head after, size_t bytes_max) {
  actor_of(process).read = PendingRead{.after = after, .bytes_max = bytes_max};
}

Stage::PendingAppend Stage::take_append(size_t member) {
  PendingAppend taken = std::move(*members_[member].append);
  members_[member].append.reset();
  return taken;
}

bool Stage::is_refused(size_t member) const {
  return is_executed(member) &&
         members_[member].append->result->outcome == Appended::Outcome::kRefused;
}

bool Stage::is_durable(size_t member) const {
  const PendingAppend& pending = *members_[member].append;
  return pending.branch == log_.leader() &&
         pending.result->head.log_index <= log_.durable(pending.branch);
}

void Stage::execute(size_t member) {
  PendingAppend& pending = *members_[member].append;
  pending.result = log_.append(pending.branch, pending.expected, pending.record);
}

void Stage::answer(size_t member) {
  const PendingAppend pending = take_append(member);
  process(member).set_branch(pending.branch);
  process(member).deliver(*pending.result, clocks(member));
}

void Stage::give_up(size_t member) {
  PendingAppend pending = take_append(member);
  if (!pending.result) lost_.push_back(std::move(pending));
  process(member).deliver(Appended{}, clocks(member));
}

void Stage::refuse(size_t member) {
  take_append(member);
  process(member).deliver(Appended{.outcome = Appended::Outcome::kRefused, .head = {}},
                          clocks(member));
}

void Stage::execute_lost(size_t at, bool connects_again) {
  PendingAppend pending = lost_[at];
  if (connects_again) pending.branch = log_.leader();
  lost_.erase(lost_.begin() + static_cast<ptrdiff_t>(at));
  log_.append(pending.branch, pending.expected, pending.record);
}

void Stage::append_raw(const std::string& record) {
  log_.append(log_.leader(), std::nullopt, record);
  make_durable();
}

void Stage::answer_read(size_t member) {
  const PendingRead read = *std::exchange(members_[member].read, std::nullopt);
  const size_t branch = members_[member].branch;
  process(member).set_branch(branch);
  process(member).deliver(log_.read(branch, read.after, read.bytes_max), clocks(member));
}

void Stage::fail_read(size_t member) {
  members_[member].read.reset();
  process(member).deliver(Read{}, clocks(member));
}

void Stage::fail_over(size_t records) {
  log_.fail_over(records);
  checker_.failed_over();
  for (Actor& actor : members_) actor.branch = log_.leader();
}

void Stage::end(size_t member) {
  Actor& actor = members_[member];
  if (actor.append && !actor.append->result) lost_.push_back(*actor.append);
  actor.append.reset();
  actor.read.reset();
  actor.process.reset();
}

void Stage::start(size_t member) {
  Actor& actor = members_[member];
  actor.process = std::make_unique<Process>(actor.options, actor.disk, this, &checker_, ++starts_,
                                            clocks(member));
  actor.process->set_trace([this](const std::string& line) {
    if (trace_) trace_(line);
  });
  tick(member);
}

size_t Stage::add_copy(size_t member) {
  Actor copy;
  copy.options = members_[member].options;
  copy.wall_error_ns = members_[member].wall_error_ns;
  copy.disk = std::make_shared<Disk>(*members_[member].disk);
  copy.branch = members_[member].branch;
  members_.push_back(std::move(copy));
  return members_.size() - 1;
}

// Lets the engine answer what the member has in flight. False if there was nothing.
bool Stage::step(size_t member) {
  if (has_read(member)) {
    answer_read(member);
  } else if (has_append(member) && members_[member].append->branch != log_.leader()) {
    give_up(member);  // whom it was sent to is leader no more
  } else if (has_append(member)) {
    if (!is_executed(member)) execute(member);
    make_durable();
    answer(member);
  } else {
    return false;
  }
  return true;
}

void Stage::append_all(size_t member) {
  for (int i = 0; i < 1000; ++i) {
    if (step(member)) continue;
    tick(member);
    if (!has_append(member) && !has_read(member)) return;
  }
  throw Violation("a member never comes to rest:\n" + describe());
}

void Stage::read_all(size_t member) {
  pass(200 * kMs);
  tick(member);
  while (has_read(member)) answer_read(member);
}

void Stage::be_up_to_date(size_t member) {
  for (int i = 0; i < 50; ++i, pass(100 * kMs)) {
    tick(member);
    while (step(member)) {
    }
  }
}

void Stage::be_silent(size_t member, int64_t ns) {
  for (const int64_t until = now_ns_ + ns; now_ns_ < until; pass(100 * kMs)) {
    tick(member);
    while (has_read(member)) answer_read(member);
  }
}

bool Stage::wait_for_claim(size_t member, int64_t ns_max) {
  for (const int64_t until = now_ns_ + ns_max; now_ns_ < until; pass(50 * kMs)) {
    tick(member);
    while (has_read(member)) answer_read(member);
    if (has_append(member)) return true;
  }
  return false;
}

void Stage::elect(size_t member) {
  if (!is_up(member)) start(member);
  demand(wait_for_claim(member, 40 * kSecond), "the member claims");
  append_all(member);
  demand(is_promoted(member), "the member is promoted");
}

// One primary, and nobody who lags.
bool Stage::is_calm() {
  size_t primaries = 0;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (process(i).has_stopped()) continue;
    if (process(i).owes_replies() || !checker_.agrees(process(i))) return false;
    if (is_promoted(i)) ++primaries;
  }
  return primaries == 1;
}

void Stage::settle(int64_t ns) {
  for (size_t i = 0; i < members_.size(); ++i) {
    if (!is_up(i)) start(i);
    members_[i].branch = log_.leader();
  }
  int calm = 0;
  for (const int64_t until = now_ns_ + ns; now_ns_ < until && calm < 10; pass(50 * kMs)) {
    for (size_t i = 0; i < members_.size(); ++i) {
      tick(i);
      for (int n = 0; n < 8 && step(i); ++n) {
      }
    }
    calm = is_calm() ? calm + 1 : 0;
  }
  size_t primaries = 0;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (!is_promoted(i)) continue;
    ++primaries;
    write(i);
    append_all(i);
  }
  demand(primaries == 1, "one primary in the end\n" + describe());
  for (size_t i = 0; i < members_.size(); ++i) {
    if (process(i).has_stopped() || is_promoted(i)) continue;
    read_all(i);
    if (process(i).has_stopped()) continue;  // the checker has seen that it had to
    demand(checker_.agrees(process(i)), "equal replicas in the end\n" + describe());
  }
  checker_.check_log();
}

std::string Stage::describe() const {
  std::string text = "log " + std::to_string(log_.size(log_.leader())) + " durable " +
                     std::to_string(log_.durable(log_.leader()));
  for (const Actor& actor : members_) {
    text += "\n" + actor.options.node + ": ";
    text += actor.process == nullptr
                ? "down"
                : weir::storage::replication::describe(actor.process->member());
    if (actor.append) text += actor.append->result ? " executed" : " sent";
    if (actor.read) text += " reads";
  }
  return text;
}

}  // namespace weir::storage::replication
