// Which stored records may be dropped without a trace: those that had expired before the GC
// watermark, the instant of the newest turn wholly written back. Reads hide expired records anyway,
// so dropping late is never wrong; dropping early loses data. Must not read a clock. A header
// record is not dropped here but told of, because its elements must be dropped with it.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/time_units.h"
#include "storage/format/record.h"

namespace weir::storage {

enum class Fate { kKept, kDropped, kExpiredHeader };

// Decides a stored record's fate. It keeps whatever it does not understand: an unknown format, a
// short key, what the store wrote for itself.
inline Fate fate_of(std::string_view stored_key, std::string_view value, int64_t gc_watermark_ms) {
  const auto key = parse_stored_key(stored_key);
  if (!key || key->generation == kStoreGeneration) return Fate::kKept;
  ValueView view;
  if (value.size() < 2 || static_cast<uint8_t>(value[0]) > kValueFormat) return Fate::kKept;
  if (!parse_value(value, &view).ok()) return Fate::kKept;
  if (view.expire_at_ms == 0 || view.expire_at_ms >= gc_watermark_ms) return Fate::kKept;
  return owns_elements(view.type) ? Fate::kExpiredHeader : Fate::kDropped;
}

// Stored keys of expired headers, until the keyspace asks for them. A later compaction tells again
// of those that did not fit. Any thread may use it.
class ExpiredHeaders {
 public:
  void note(std::string_view stored_key) {
    const std::lock_guard lock(mutex_);
    if (keys_.size() < kKeysMax) keys_.emplace_back(stored_key);
  }
  std::vector<std::string> take(size_t max) {
    std::vector<std::string> taken;
    const std::lock_guard lock(mutex_);
    for (; max > 0 && !keys_.empty(); --max) {
      taken.push_back(std::move(keys_.front()));
      keys_.pop_front();
    }
    return taken;
  }

 private:
  static constexpr size_t kKeysMax = 10'000;
  std::mutex mutex_;
  std::deque<std::string> keys_;
};

}  // namespace weir::storage
