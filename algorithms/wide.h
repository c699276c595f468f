// Products wider than 128 bits, for the rare paths (a limit changes); decisions do not come here.
#pragma once

namespace weir::algorithms {

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

// ceil(a * b / divisor), saturated at the largest uint128. REQUIRES: divisor > 0.
uint128 mul_div_ceil(uint128 a, uint128 b, uint128 divisor);

}  // namespace weir::algorithms
