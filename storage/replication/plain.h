// Which names, addresses and numbers of other members are taken as such. They come from bytes that
// others have written, and land in log lines, in replies to clients and in sums: here alone is said
// what may.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/time_units.h"

namespace weir::storage::replication {

inline constexpr size_t kPlainNameBytesMax = 64;
inline constexpr size_t kPlainAddressBytesMax = 255;
// Log indexes and turns: a database keeps them as signed numbers.
inline constexpr uint64_t kPlainNumberMax = INT64_MAX;
// The year 2255. Sums with a later instant could overflow.
inline constexpr int64_t kPlainInstantNsMax = 9'000'000'000 * kNsPerS;
// Of leases and failover-after, which is a minute at most.
inline constexpr int64_t kPlainTimeNsMax = kNsPerHour;

// Letters, digits, '-', '_' and '.'; the empty name is that of nobody.
bool is_plain_name(std::string_view text);
// HOST:PORT, a host of letters, digits and "-_.:[]%", a port from 1 to 65535; the empty address is
// not known.
bool is_plain_address(std::string_view text);

inline bool is_plain_number(uint64_t number) { return number <= kPlainNumberMax; }
inline bool is_plain_instant(int64_t ns) { return ns >= 0 && ns <= kPlainInstantNsMax; }
inline bool is_plain_time(int64_t ns) { return ns >= 0 && ns <= kPlainTimeNsMax; }

}  // namespace weir::storage::replication
