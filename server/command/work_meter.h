// How much the server has done, in units that do not depend on the machine: an entry looked at, a
// probe of a hash table, 64 bytes copied. One takes some tens of nanoseconds.
//
// Commands charge it where their work grows with what they are given or find; slices of sessions
// and turns end by it (session/slice.h), besides by time, because time is not known before a
// command has ended.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::server {

class WorkMeter {
 public:
  static constexpr uint64_t kSliceUnits = 10'000;           // of a session; about a millisecond
  static constexpr uint64_t kTurnUnits = 10 * kSliceUnits;  // of all that a turn serves
  static constexpr size_t kBytesPerUnit = 64;
  static constexpr size_t kStepsPerUnit = 32;  // of the comparison of a pattern with a text

  void charge_entries(size_t entries) { units_ += entries; }
  void charge_probes(size_t probes) { units_ += probes; }
  void charge(size_t entries, size_t bytes) { units_ += entries + bytes / kBytesPerUnit; }
  void charge_bytes(size_t bytes) { units_ += bytes / kBytesPerUnit; }
  void charge_steps(size_t steps) { units_ += steps / kStepsPerUnit; }

  // Since the server began.
  uint64_t units() const { return units_; }

  // A turn begins.
  void begin_turn() { turn_begin_ = units_; }
  uint64_t turn_units() const { return units_ - turn_begin_; }
  bool turn_is_over() const { return turn_units() >= kTurnUnits; }
  // units() at which a slice ends that begins now: with the turn at the latest.
  uint64_t slice_end() const {
    const uint64_t slice_end = units_ + kSliceUnits;
    const uint64_t turn_end = turn_begin_ + kTurnUnits;
    return slice_end < turn_end ? slice_end : turn_end;
  }

 private:
  uint64_t units_ = 0;
  uint64_t turn_begin_ = 0;
};

}  // namespace weir::server
