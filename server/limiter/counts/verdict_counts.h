// How many verdicts there were: by the algorithm of the limit that decided, and by outcome.
//
// A request counts once, for the limit that decided: where it was denied the one with the longest
// wait, else the one with the least rest. So the sum over the algorithms is the number of requests.
//
// Invariants
// 1. Counting costs a few instructions: no look-up, no allocation.
// 2. What a command has counted can be taken back until the next one begins, because a command that
//    is to be run again may not count twice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weir::server {

enum class Outcome : uint8_t {
  kAllowed,
  kDenied,         // also where a ban denied
  kBanned,         // those of the denied that were answered with a ban
  kShadowAllowed,  // what was asked with SHADOW, or under a policy in shadow, is counted apart
  kShadowDenied,
};

class VerdictCounts {
 public:
  // The ids of algorithms are below; 0 is for verdicts of no limit: those of a policy that blocks.
  static constexpr size_t kAlgorithmIdsMax = 16;
  static constexpr size_t kOutcomes = 5;
  static constexpr size_t kCounts = kAlgorithmIdsMax * kOutcomes + 3;
  using Values = std::array<uint64_t, kCounts>;

  // Count. REQUIRES: algorithm < kAlgorithmIdsMax.
  void count(uint8_t algorithm, Outcome outcome) { add(index_of(algorithm, outcome), 1); }
  void count_permits(int64_t permits) { add(kPermits, static_cast<uint64_t>(permits)); }
  void count_ban() { add(kBans, 1); }
  void count_repeated() { add(kRepeated, 1); }

  uint64_t of(uint8_t algorithm, Outcome outcome) const {
    return values_[index_of(algorithm, outcome)];
  }
  // Of all algorithms, and of none.
  uint64_t of(Outcome outcome) const {
    uint64_t sum = 0;
    for (uint8_t id = 0; id < kAlgorithmIdsMax; ++id) sum += of(id, outcome);
    return sum;
  }
  uint64_t permits() const { return values_[kPermits]; }    // taken by those that were allowed
  uint64_t bans() const { return values_[kBans]; }          // that have begun
  uint64_t repeated() const { return values_[kRepeated]; }  // requests answered as they had been

  // A command begins.
  void begin_command() { ++command_; }
  // Forgets what the running command has counted.
  void take_back() {
    for (size_t i = 0; i < kCounts; ++i) {
      if (counted_in_[i] == command_) values_[i] = before_[i];
    }
  }
  // For what consists of several commands: what was counted so far, and back to that.
  const Values& values() const { return values_; }
  void take_back_to(const Values& values) {
    values_ = values;
    ++command_;  // what was there before the running command is no longer of use
  }

 private:
  static constexpr size_t kPermits = kCounts - 3;
  static constexpr size_t kBans = kCounts - 2;
  static constexpr size_t kRepeated = kCounts - 1;

  static constexpr size_t index_of(uint8_t algorithm, Outcome outcome) {
    return algorithm * kOutcomes + static_cast<size_t>(outcome);
  }
  void add(size_t index, uint64_t number) {
    if (counted_in_[index] != command_) {
      counted_in_[index] = command_;
      before_[index] = values_[index];
    }
    values_[index] += number;
  }

  Values values_{};
  Values before_{};      // as the command in which they were last counted has found them
  Values counted_in_{};  // the number of that command
  uint64_t command_ = 1;
};

}  // namespace weir::server
