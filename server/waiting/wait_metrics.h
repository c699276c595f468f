// What clients have waited for, and how long, for each command that can wait.
//
// Durations are between instants of the timeline. A histogram of them has few buckets, each four
// times as wide as the one before, from a millisecond to a quarter of an hour.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace weir::server {

struct Command;

// How a wait ended.
enum class WaitEnd : uint8_t {
  kServed,     // with what was waited for, or with an error
  kTimedOut,   // at its deadline
  kUnblocked,  // by another client: CLIENT UNBLOCK, the same ID asked again, a slot given up
  kLeft,       // the client had gone
};
inline constexpr size_t kWaitEnds = 4;

class WaitDurations {
 public:
  static constexpr int kFirstPower = 20;  // 2^20 ns are 1.05 ms
  static constexpr int kPowerStep = 2;
  static constexpr size_t kBounds = 11;  // the last is 2^40 ns, 1,100 s

  static constexpr int64_t bound_ns(size_t i) {
    return int64_t{1} << (kFirstPower + kPowerStep * static_cast<int>(i));
  }
  void add(int64_t duration_ns) {
    const int64_t ns = std::max<int64_t>(duration_ns, 0);
    size_t i = 0;
    while (i < kBounds && ns >= bound_ns(i)) ++i;
    ++counts_[i];
    ++total_;
    sum_ns_ += static_cast<uint64_t>(ns);
  }
  // Answers how many were shorter than bound_ns(i).
  uint64_t below(size_t i) const {
    uint64_t sum = 0;
    for (size_t k = 0; k <= i; ++k) sum += counts_[k];
    return sum;
  }
  uint64_t total() const { return total_; }
  uint64_t sum_ns() const { return sum_ns_; }

 private:
  std::array<uint64_t, kBounds + 1> counts_{};
  uint64_t total_ = 0;
  uint64_t sum_ns_ = 0;
};

struct CommandWaits {
  uint64_t waiting = 0;  // now
  std::array<uint64_t, kWaitEnds> ended{};
  WaitDurations durations;  // of those that have ended

  uint64_t ended_as(WaitEnd end) const { return ended[static_cast<size_t>(end)]; }
};

class WaitMetrics {
 public:
  void note_begin(const Command* command) { ++commands_[command].waiting; }
  // The wait does not count: what its command did was taken back.
  void note_none(const Command* command) { --commands_[command].waiting; }
  void note_end(const Command* command, WaitEnd end, int64_t duration_ns) {
    CommandWaits& waits = commands_[command];
    --waits.waiting;
    ++waits.ended[static_cast<size_t>(end)];
    waits.durations.add(duration_ns);
  }
  // Null: the command has never waited.
  const CommandWaits* of(const Command& command) const {
    const auto found = commands_.find(&command);
    return found == commands_.end() ? nullptr : &found->second;
  }
  // Forgets what has ended.
  void reset() {
    for (auto& [command, waits] : commands_) {
      waits.ended = {};
      waits.durations = {};
    }
  }

 private:
  std::map<const Command*, CommandWaits> commands_;
};

}  // namespace weir::server
