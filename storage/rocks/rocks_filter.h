// The compaction filter, which drops records that had expired before the GC watermark
// (store/gc_watermark.h). A dropped record becomes a tombstone for older values below it. Must not
// read a clock.
#pragma once

#include <rocksdb/compaction_filter.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "storage/store/gc_watermark.h"

namespace weir::storage {

class RocksFilter : public rocksdb::CompactionFilter {
 public:
  const char* Name() const override { return "weir.expired"; }

  Decision FilterV2(int /*level*/, const rocksdb::Slice& key, ValueType type,
                    const rocksdb::Slice& value, std::string* /*new_value*/,
                    std::string* /*skip_until*/) const override {
    if (type != ValueType::kValue) return Decision::kKeep;
    const std::string_view stored_key(key.data(), key.size());
    switch (fate_of(stored_key, {value.data(), value.size()}, gc_watermark_ms_.load())) {
      case Fate::kKept:
        return Decision::kKeep;
      case Fate::kExpiredHeader:
        headers_.note(stored_key);
        return Decision::kKeep;
      case Fate::kDropped:
        break;
    }
    ++dropped_;
    return Decision::kRemove;
  }

  void set_gc_watermark_ms(int64_t gc_watermark_ms) { gc_watermark_ms_ = gc_watermark_ms; }
  uint64_t dropped() const { return dropped_; }
  std::vector<std::string> take_expired_headers(size_t max) { return headers_.take(max); }

 private:
  std::atomic<int64_t> gc_watermark_ms_{0};
  mutable std::atomic<uint64_t> dropped_{0};
  mutable ExpiredHeaders headers_;
};

}  // namespace weir::storage
