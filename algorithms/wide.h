// 128-bit numbers, divided in 64 bits where that is enough; and products wider than 128 bits for a
// rare path, the change of a limit, which decisions do not take.
#pragma once

#include <cstdint>

namespace weir::algorithms {

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

// These answer the quotient rounded down and up. REQUIRES: 0 <= a, 0 < b, and the quotient fits.
inline int64_t floor_divide(int128 a, int64_t b) {
  if (a >> 64 == 0) [[likely]] {
    return static_cast<int64_t>(static_cast<uint64_t>(a) / static_cast<uint64_t>(b));
  }
  return static_cast<int64_t>(a / b);
}
inline int64_t ceil_divide(int128 a, int64_t b) {
  return b == 1 ? static_cast<int64_t>(a) : floor_divide(a + (b - 1), b);
}

// Answers ceil(a * b / divisor), saturated at the largest uint128. REQUIRES: divisor > 0.
uint128 mul_div_ceil(uint128 a, uint128 b, uint128 divisor);

}  // namespace weir::algorithms
