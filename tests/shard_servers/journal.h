// What clients have asked of a shard and what they were told, and whether that can be true.
//
// Keys "l0" to "l7" are limits that never refill, "n0" to "n7" are counters. Of other keys nothing
// is checked.
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
  // What a limit has granted and a counter holds in the end.
  std::string check_limit(size_t key, uint64_t charged) const;
  std::string check_counter(size_t key, int64_t value) const;

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
};

}  // namespace weir::server
