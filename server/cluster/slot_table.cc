#include "server/cluster/slot_table.h"

#include <algorithm>

#include "base/check.h"
#include "storage/format/codec.h"

namespace weir::server {
namespace {

void put_instance(std::string* out, const storage::ShardInstance& instance) {
  storage::put_u64_le(out, instance.ms);
  storage::put_u64_le(out, instance.random);
}

storage::ShardInstance take_instance(storage::Reader* reader) {
  return {.ms = reader->u64_le(), .random = reader->u64_le()};
}

}  // namespace

SlotTable SlotTable::of_birth(const storage::ShardOrigin& origin) {
  SlotTable table;
  if (origin.born != storage::ShardBirth::kRestored) table.admitted_ = origin.instance;
  int next = 0;
  for (const SlotRange& range : origin.slots) {
    if (next < range.first) table.shares_.push_back({.first = next, .last = range.first - 1});
    table.shares_.push_back({.first = range.first, .last = range.last, .owned = true});
    next = range.last + 1;
  }
  if (next < kHashSlots) table.shares_.push_back({.first = next, .last = kHashSlots - 1});
  return table;
}

std::string SlotTable::encode() const {
  std::string out;
  storage::put_u8(&out, kFormat);
  put_instance(&out, admitted_);
  put_instance(&out, next_);
  storage::put_varint(&out, changes_);
  storage::put_varint(&out, shares_.size());
  for (const SlotShare& share : shares_) {
    storage::put_varint(&out, static_cast<uint64_t>(share.last));
    storage::put_varint(&out, share.version);
    storage::put_u8(&out, share.owned ? 1 : 0);
  }
  return out;
}

std::optional<SlotTable> SlotTable::decode(std::string_view bytes) {
  storage::Reader reader(bytes);
  if (reader.u8() != kFormat) return std::nullopt;
  SlotTable table;
  table.admitted_ = take_instance(&reader);
  table.next_ = take_instance(&reader);
  table.changes_ = reader.varint();
  const uint64_t count = reader.varint();
  int first = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t last = reader.varint();
    const uint64_t version = reader.varint();
    const uint8_t owned = reader.u8();
    if (!reader.ok() || first >= kHashSlots || last < static_cast<uint64_t>(first) ||
        last >= kHashSlots || version == 0 || owned > 1)
      return std::nullopt;
    const SlotShare share{
        .first = first, .last = static_cast<int>(last), .version = version, .owned = owned == 1};
    if (!table.shares_.empty() && table.shares_.back().version == share.version &&
        table.shares_.back().owned == share.owned)
      return std::nullopt;
    table.shares_.push_back(share);
    first = share.last + 1;
  }
  if (!reader.ok() || !reader.at_end() || first != kHashSlots) return std::nullopt;
  // A varint may have been longer than it had to be.
  if (table.encode() != bytes) return std::nullopt;
  return table;
}

const SlotShare& SlotTable::share_of(int slot) const {
  WEIR_CHECK(slot >= 0 && slot < kHashSlots);
  return *std::find_if(shares_.begin(), shares_.end(),
                       [slot](const SlotShare& share) { return slot <= share.last; });
}

SlotRanges SlotTable::owned() const {
  SlotRanges ranges;
  for (const SlotShare& share : shares_) {
    if (!share.owned) continue;
    if (!ranges.empty() && ranges.back().last + 1 == share.first) {
      ranges.back().last = share.last;
    } else {
      ranges.push_back({share.first, share.last});
    }
  }
  return ranges;
}

}  // namespace weir::server
