// Drops records that had expired before the horizon (horizon.h) as compaction comes by. A dropped
// record becomes a tombstone for older values below it. Must not read a clock.
#pragma once

#include <rocksdb/compaction_filter.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "storage/horizon.h"

namespace weir::storage {

class RocksFilter : public rocksdb::CompactionFilter {
 public:
  const char* Name() const override { return "weir.expired"; }

  Decision FilterV2(int /*level*/, const rocksdb::Slice& key, ValueType type,
                    const rocksdb::Slice& value, std::string* /*new_value*/,
                    std::string* /*skip_until*/) const override {
    if (type != ValueType::kValue) return Decision::kKeep;
    if (!may_drop({key.data(), key.size()}, {value.data(), value.size()}, horizon_ms_.load())) {
      return Decision::kKeep;
    }
    ++dropped_;
    return Decision::kRemove;
  }

  void set_horizon_ms(int64_t horizon_ms) { horizon_ms_ = horizon_ms; }
  uint64_t dropped() const { return dropped_; }

 private:
  std::atomic<int64_t> horizon_ms_{0};
  mutable std::atomic<uint64_t> dropped_{0};
};

}  // namespace weir::storage
