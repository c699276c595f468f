#include "server/limiter/counts/unique_ids.h"

#include <algorithm>
#include <string>

#include "storage/format/codec.h"

namespace weir::server {
namespace {

constexpr std::string_view kRecord = "unique-ids";
constexpr uint64_t kBlock = 4096;

}  // namespace

// The record is read each time, because the command that raised it may have been taken back.
int64_t UniqueIds::next() {
  storage::Ref ref = keys_.look_up_system(kRecord);
  const uint64_t bound = ref.exists() ? storage::Reader(ref.value()).varint() : 1;
  next_ = next_ == 0 ? bound : next_;
  if (next_ >= bound) {
    std::string value;
    storage::put_varint(&value, next_ + kBlock);
    keys_.put(&ref, storage::Type::kSystem, value, 0);
  }
  return static_cast<int64_t>(next_++);
}

}  // namespace weir::server
