#include "tests/replication/checker.h"

#include <algorithm>

#include "base/crc64.h"
#include "tests/replication/process.h"
#include "tests/replication/violation.h"

namespace weir::storage::replication {
namespace {

constexpr int64_t kUnbounded = 1'000'000'000'000'000;

}  // namespace

void Checker::demand_in_log(uint64_t turn, uint64_t content, const std::string& who) {
  if (loses_acknowledged_) return;
  if (!chain_.has(turn) || chain_.log_index(turn) > log_->durable(log_->leader()) ||
      crc64_xz(chain_.turn(turn)) != content) {
    throw Violation(who + ": turn " + std::to_string(turn) + " is not in the log for good");
  }
}

// A world's machines have clocks that run up to a tenth too fast. Instants go on from those of the
// turn before, or from a claim's that knew nothing but its wall clock.
void Checker::sealed(const Process& process, uint64_t before, uint64_t after, int64_t instant_ns) {
  if (!clock_) return;
  const Sealed now{.instant_ns = instant_ns, .real_ns = clock_()};
  sealed_[after] = now;
  const auto last = sealed_.find(before);
  if (last == sealed_.end()) return;
  const auto follows = [&](const Sealed& from) {
    const int64_t passed_ns = now.real_ns - from.real_ns;
    return instant_ns - from.instant_ns <= passed_ns + passed_ns / 8 + 1'000'000;
  };
  if (follows(last->second)) return;
  if (std::any_of(cold_claims_.begin(), cold_claims_.end(), follows)) return;
  throw Violation("time: the instants of " + process.name() + " run ahead");
}

void Checker::released(const Process& process, uint64_t turn, const std::string& bytes) {
  update();
  const uint64_t content = crc64_xz(bytes);
  const auto [at, is_new] = released_.emplace(turn, content);
  if (!is_new && at->second != content) {
    if (loses_acknowledged_) {
      at->second = content;
      return;
    }
    throw Violation("I3: turn " + std::to_string(turn) + " released twice, by " + process.name());
  }
  demand_in_log(turn, content, "I2: released by " + process.name());
  released_turn_ = std::max(released_turn_, turn);
}

// An engine that loses what it acknowledged has no bound: it is counted there.
OverAdmission::Result Checker::check_admission(const EarlyOptions& options) {
  update();
  const int64_t age_ns_max = loses_acknowledged_ ? kUnbounded : options.age_ns_max;
  const uint64_t permits_max = loses_acknowledged_ ? 0 : options.permits_max;
  return admission_.check(chain_, age_ns_max, permits_max);
}

void Checker::read_released(const Process& process, uint64_t shown_turn, uint64_t released_before) {
  ++reads_released_;
  if (shown_turn < released_before && !loses_acknowledged_) {
    throw Violation("I9: " + process.name() + " shows turn " + std::to_string(shown_turn) +
                    " when the reply of turn " + std::to_string(released_before) + " had left");
  }
}

void Checker::committed(const Process& process, uint64_t turn, const std::string& bytes,
                        const std::string* sealed) {
  update();
  demand_in_log(turn, crc64_xz(bytes), "I7: committed by " + process.name());
  if (sealed != nullptr && *sealed != bytes) {
    throw Violation("I5: " + process.name() + " committed other bytes than it sealed");
  }
}

// In lossy engines too: who is promoted has appended what it had, and has all that the log has.
uint64_t Checker::promoted(const Process& process) {
  ++promotions_;
  if (process.branch() != log_->leader()) return promotions_;
  update();
  const bool is_current = process.member().log_state().epoch() == chain_.log_state().epoch();
  const bool is_right = is_current ? process.newest_turn() == chain_.turns()
                                   : process.newest_turn() <= chain_.turns();
  if (!is_right || chain_.state_at(process.newest_turn()) != process.state()) {
    throw Violation("I1: " + process.name() + " is promoted with another state than the log's");
  }
  return promotions_;
}

bool Checker::agrees(const Process& process) {
  update();
  return process.newest_turn() == chain_.turns() && process.state() == chain_.state();
}

bool Checker::differs(const Process& process, size_t branch) const {
  Chain read;
  read.update(*log_, branch);
  const auto& turns = process.disk().turns();
  return std::any_of(turns.begin(), turns.end(), [&](const auto& entry) {
    return read.has(entry.first) && read.turn(entry.first) != entry.second;
  });
}

bool Checker::reaches_back(const Process& process, size_t branch) const {
  const std::vector<LogBookmark> bookmarks = process.disk().bookmarks();
  return std::any_of(bookmarks.begin(), bookmarks.end(), [&](const LogBookmark& bookmark) {
    return log_->confirms(branch, bookmark.head);
  });
}

void Checker::stopped(const Process& process, Reason reason, size_t branch) {
  if (expects_stops_) return;
  bool is_right = differs(process, branch);
  if (reason == Reason::kRewoundTooFar) {
    // Where the engine failed over meanwhile, it may have been so before.
    const auto& branches = process.branches();
    is_right = process.is_misled() ||
               std::any_of(branches.begin(), branches.end(),
                           [&](size_t seen) { return !reaches_back(process, seen); });
  }
  if (reason == Reason::kTrimmed) {
    is_right = process.last_read_after().log_index <= log_->trimmed(branch);
  }
  if (!is_right) throw Violation(process.name() + " stopped without need: " + name_of(reason));
}

void Checker::failed_over() { check_log(); }

void Checker::check_log() {
  update();
  for (auto at = released_.begin(); at != released_.end();) {
    const bool is_there = chain_.has(at->first) && crc64_xz(chain_.turn(at->first)) == at->second;
    if (!is_there && !loses_acknowledged_) {
      throw Violation("I2: the log has lost turn " + std::to_string(at->first));
    }
    if (is_there) {
      ++at;
    } else {
      ++turns_lost_;
      at = released_.erase(at);
    }
  }
}

}  // namespace weir::storage::replication
