#include "tests/replication/checker.h"

#include <algorithm>

#include "base/crc64.h"
#include "tests/replication/process.h"
#include "tests/replication/violation.h"

namespace weir::storage::replication {

void Checker::demand_in_log(uint64_t turn, uint64_t content, const std::string& who) {
  if (loses_acknowledged_) return;
  if (!chain_.has(turn) || chain_.position(turn) > log_->durable(log_->primary()) ||
      crc64_xz(chain_.turn(turn)) != content) {
    throw Violation(who + ": turn " + std::to_string(turn) + " is not in the log for good");
  }
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

void Checker::released_early(uint64_t turn, const std::string& bytes) {
  early_.emplace(turn, crc64_xz(bytes));
}

uint64_t Checker::early_turns_lost() {
  update();
  return static_cast<uint64_t>(std::count_if(early_.begin(), early_.end(), [&](const auto& early) {
    return !chain_.has(early.first) || crc64_xz(chain_.turn(early.first)) != early.second;
  }));
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

// In lossy engines too: who takes office has appended what it had, and has all that the log has.
void Checker::took_office(const Process& process) {
  ++offices_;
  if (process.branch() != log_->primary()) return;
  update();
  const bool is_current = process.member().fold().epoch() == chain_.fold().epoch();
  const bool is_right = is_current ? process.newest_turn() == chain_.turns()
                                   : process.newest_turn() <= chain_.turns();
  if (!is_right || chain_.state_at(process.newest_turn()) != process.state()) {
    throw Violation("I1: " + process.name() + " takes office with another state than the log's");
  }
}

bool Checker::agrees(const Process& process) {
  update();
  return process.newest_turn() == chain_.turns() && process.state() == chain_.state();
}

void Checker::stopped(const Process& process, const std::string& reason, size_t branch) {
  if (expects_stops_) return;
  Chain read;
  read.update(*log_, branch);
  bool differs = false;
  for (const auto& [turn, bytes] : process.disk().turns()) {
    differs = differs || (read.has(turn) && read.turn(turn) != bytes);
  }
  if (!differs) throw Violation(process.name() + " stopped without need: " + reason);
}

void Checker::promoted() { check_log(); }

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
