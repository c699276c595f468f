#include "algorithms/wide.h"

#include <cstdint>

namespace weir::algorithms {
namespace {

struct Uint256 {
  uint128 high = 0;
  uint128 low = 0;
};

Uint256 multiply(uint128 a, uint128 b) {
  const uint128 mask = ~uint64_t{0};
  const uint128 low = (a & mask) * (b & mask);
  const uint128 cross = (a >> 64) * (b & mask) + (low >> 64);  // cannot overflow
  const uint128 cross_low = (a & mask) * (b >> 64) + (cross & mask);
  return {.high = (a >> 64) * (b >> 64) + (cross >> 64) + (cross_low >> 64),
          .low = (cross_low << 64) | (low & mask)};
}

}  // namespace

uint128 mul_div_ceil(uint128 a, uint128 b, uint128 divisor) {
  const Uint256 product = multiply(a, b);
  if (product.high >= divisor) return ~uint128{0};
  uint128 rest = product.high;
  uint128 quotient = 0;
  for (int bit = 127; bit >= 0; --bit) {  // long division; rest < divisor throughout
    const bool carry = (rest >> 127) != 0;
    rest = (rest << 1) | ((product.low >> bit) & 1);
    quotient <<= 1;
    if (carry || rest >= divisor) {
      rest -= divisor;
      quotient |= 1;
    }
  }
  return quotient + (rest != 0 && quotient != ~uint128{0});
}

}  // namespace weir::algorithms
