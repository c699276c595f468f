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
void UniqueIds::raise_to(uint64_t number) {
  storage::Ref ref = keys_.look_up_system(kRecord);
  const uint64_t bound = ref.exists() ? storage::Reader(ref.value()).varint() : 1;
  next_ = std::max(next_ == 0 ? bound : next_, number);
  if (is_of_shard_ && next_ % kShardsOfVersions != shard_)
    next_ = (next_ / kShardsOfVersions + 1) * kShardsOfVersions + shard_;
  if (next_ < bound) return;
  std::string value;
  storage::put_varint(&value, next_ + (is_of_shard_ ? kBlock * kShardsOfVersions : kBlock));
  keys_.put(&ref, storage::Type::kSystem, value, 0);
}

int64_t UniqueIds::next() {
  raise_to(0);
  return static_cast<int64_t>(next_++);
}

void UniqueIds::see(uint64_t number) { raise_to(number + 1); }

}  // namespace weir::server
