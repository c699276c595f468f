// Which stored records may be dropped without a trace: those that had expired before the horizon,
// the instant of the newest turn wholly written back. Reads hide expired records anyway, so
// dropping late is never wrong; dropping early loses data. Must not read a clock.
#pragma once

#include <cstdint>
#include <string_view>

#include "storage/record.h"

namespace weir::storage {

inline constexpr int64_t kNanosecondsPerMillisecond = 1'000'000;

// Keeps whatever it does not understand: an unknown format, a short key, what the store wrote for
// itself.
inline bool may_drop(std::string_view stored_key, std::string_view value, int64_t horizon_ms) {
  const auto key = parse_stored_key(stored_key);
  if (!key || key->incarnation == kStoreIncarnation) return false;
  ValueView view;
  if (value.size() < 2 || static_cast<uint8_t>(value[0]) != kValueFormat) return false;
  if (!parse_value(value, &view).ok()) return false;
  return view.expire_at_ms != 0 && view.expire_at_ms < horizon_ms;
}

}  // namespace weir::storage
