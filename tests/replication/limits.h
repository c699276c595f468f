// The limits that simulated primaries keep: a few keys, each of which gives kBurst permits at once
// and one every kEveryNs. They are a function of the turns, as all state is.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "storage/format/codec.h"
#include "storage/replication/record.h"

namespace weir::storage::replication {

// What a turn takes; 0 permits: nothing.
struct Take {
  size_t key = 0;
  uint64_t permits = 0;
};

class Limits {
 public:
  static constexpr size_t kKeys = 3;
  static constexpr int64_t kBurst = 5;
  static constexpr int64_t kEveryNs = 250'000'000;

  bool allows(const Take& take, int64_t instant_ns) const {
    return after(take, instant_ns) <= instant_ns + kBurst * kEveryNs;
  }
  void apply(const Take& take, int64_t instant_ns) {
    if (take.permits > 0) full_at_ns_[take.key] = after(take, instant_ns);
  }

 private:
  int64_t after(const Take& take, int64_t instant_ns) const {
    return std::max(full_at_ns_[take.key], instant_ns) +
           static_cast<int64_t>(take.permits) * kEveryNs;
  }

  std::array<int64_t, kKeys> full_at_ns_{};
};

// The lowest bits of a turn's payload say what it takes.
inline uint64_t payload_of(const Take& take, uint64_t random) {
  return (random & ~uint64_t{31}) | take.permits << 2 | take.key;
}
inline Take take_of(std::string_view turn) {
  const uint64_t payload = load_u64_le(turn.data() + 17);
  return {.key = payload & 3, .permits = payload >> 2 & 7};
}

}  // namespace weir::storage::replication
