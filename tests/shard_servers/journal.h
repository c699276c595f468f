// What clients have asked of a shard and what they were told, and whether that can be true.
//
// Keys "l0" to "l7" are limits that never refill, "n0" to "n7" are counters. Of other keys nothing
// is checked.
//
// The bound that users are told: where F primaries were demoted that had told of takes which were
// never committed, a limit that never refills grants b (1 + F) at most.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::server {

class Journal {
 public:
  static constexpr size_t kKeys = 8;
  static constexpr uint64_t kLimit = 40;

  struct Asked {
    enum class Kind { kTake, kCount, kRead, kOther } kind = Kind::kRead;
    size_t key = 0;
    int64_t newest = 0;  // what somebody had been told of the counter before this was asked
  };

  Asked asked(Asked::Kind kind, size_t key) const {
    return {.kind = kind, .key = key, .newest = newest_[key]};
  }
  // The reply came. Answers what is wrong with it; "" if nothing is.
  std::string told(const Asked& asked, std::string_view reply);
  // No reply will come.
  void unknown(const Asked& asked);
  // A primary was demoted, and lost so many permits whose takes were told and not committed; at
  // most so many may be (0: any number).
  std::string lost_early(uint64_t permits, uint64_t permits_max);
  // What a limit has granted and a counter holds in the end. A limit that was told early may have
  // forgotten some.
  std::string check_limit(size_t key, uint64_t charged);
  std::string check_counter(size_t key, int64_t value) const;

  // Whether all limits together have forgotten no more than demotions have lost.
  std::string check_forgotten() const;
  uint64_t forgotten() const { return forgotten_; }

  uint64_t acknowledged() const { return acknowledged_; }

 private:
  struct Sum {
    uint64_t acknowledged = 0;
    uint64_t unknown = 0;
  };
  std::array<Sum, kKeys> taken_;
  std::array<Sum, kKeys> counted_;
  std::array<int64_t, kKeys> newest_{};
  uint64_t acknowledged_ = 0;
  uint64_t losses_ = 0;  // demotions that have lost some
  uint64_t lost_ = 0;    // permits
  uint64_t forgotten_ = 0;
};

}  // namespace weir::server
