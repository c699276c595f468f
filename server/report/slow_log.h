// The slow log: the latest commands that took long, as SLOWLOG shows them.
//
// A coarse clock tells whether a command may have been slow, at a fraction of the time of a look at
// the exact one; only such commands are measured. The log itself knows no clock and no session.
// What is given up are exact durations inside scripts and EXEC.
//
// Invariants
// 1. Of a request no more is copied than an entry keeps: at most kArgsMax arguments of kArgBytesMax
//    bytes, cut as Redis cuts them. Where the trace would be cut off it is kept, before the last
//    place.
// 2. IDs rise by one and are never used again while the process lives, RESET or not, but for those
//    of entries that were taken back, which nobody has seen.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::server {

class SlowLog {
 public:
  static constexpr size_t kArgsMax = 32;
  static constexpr size_t kArgBytesMax = 128;

  struct Entry {
    uint64_t id = 0;
    int64_t unix_s = 0;
    int64_t duration_us = 0;
    std::vector<std::string> args = {};
    std::string address = {};
    std::string client_name = {};
  };

  struct Rules {
    int64_t slower_than_us = 10'000;  // negative: nothing is logged
    int64_t entries_max = 128;
    // From where on others, who measure in the same way, want to know: the latency monitor, and who
    // watches the loop; negative: nobody.
    int64_t suspects_from_us = -1;
    int64_t coarse_step_ns = 0;  // how far the coarse clock may trail the exact one
  };
  void set_rules(const Rules& rules);

  // Tells of a command whose end is coarse, and whose beginning is exact or coarse, whether to
  // measure it.
  bool may_be_slow(int64_t coarse_duration_ns) const { return coarse_duration_ns >= suspect_ns_; }
  // True if a step of the coarse clock is too long to tell anything.
  bool wants_exact_begin() const { return suspect_ns_ == kAlways; }
  bool is_slow(int64_t duration_ns) const;

  // Adds an entry. Its `id` is assigned here, its arguments are the first of `count` ones, cut, and
  // the oldest entries make room. `trace`: the request's traceparent, one of its arguments; empty:
  // it has none. REQUIRES: `first` are all of them, or at least kArgsMax.
  void add(Entry entry, std::span<const std::string_view> first, size_t count,
           std::string_view trace = {});
  void clear() { entries_.clear(); }
  // Takes back the entries that were added since a savepoint.
  uint64_t savepoint() const { return next_id_; }
  void drop_after(uint64_t savepoint);
  // Answers the entries, the newest first.
  const std::deque<Entry>& entries() const { return entries_; }

  static constexpr int64_t kNever = INT64_MAX;
  static constexpr int64_t kAlways = INT64_MIN;

 private:
  Rules rules_;
  bool logs_ = false;
  int64_t suspect_ns_ = kNever;
  uint64_t next_id_ = 0;
  std::deque<Entry> entries_;
};

}  // namespace weir::server
