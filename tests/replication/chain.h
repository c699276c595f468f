// What the log means, by the real LogState: the turns it has accepted, each executed on the state
// that the turns before it make (I10), with instants that never run back from turn to turn (I6).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/replication/log_state.h"
#include "tests/replication/sim_engine.h"

namespace weir::storage::replication {

inline constexpr uint64_t kShard = 0x5eed;

// A simulated turn: its head as every turn record has it, the state it was executed on, and what
// it does. A state is a checksum of all turns before it.
std::string make_turn(int64_t instant_ns, uint64_t state, uint64_t payload);
uint64_t state_of_turn(std::string_view turn);  // the one it was executed on
uint64_t state_after(uint64_t state, std::string_view turn);
// Of a shard with all slots, or by version 2 of one with a part of them.
std::string make_genesis(uint8_t version = kFirstRecordVersion);

class Chain {
 public:
  // An impossible record is a Violation, or the end of what counts.
  explicit Chain(bool ends_at_impossible = false) : ends_at_impossible_(ends_at_impossible) {}

  // Applies what is new in the branch, or all of it if it is another history than before.
  // Throws a Violation.
  void update(const SimEngine& log, size_t branch);

  uint64_t turns() const { return turns_.size(); }
  bool has(uint64_t turn) const { return turn >= 1 && turn <= turns_.size(); }
  const std::string& turn(uint64_t turn) const { return turns_[turn - 1].bytes; }
  uint64_t log_index(uint64_t turn) const { return turns_[turn - 1].log_index; }
  uint64_t state() const { return states_.back(); }
  uint64_t state_at(uint64_t turn) const { return turn < states_.size() ? states_[turn] : 0; }
  const LogState& log_state() const { return log_state_; }
  uint64_t void_records() const { return void_records_; }

 private:
  struct Accepted {
    std::string bytes;
    uint64_t log_index = 0;
  };

  bool take(const Record& record);

  bool ends_at_impossible_;
  LogState log_state_{kShard};
  std::vector<Accepted> turns_;
  std::vector<uint64_t> states_{0};  // after each turn
  int64_t newest_turn_ns_ = 0;
  uint64_t void_records_ = 0;
};

}  // namespace weir::storage::replication
