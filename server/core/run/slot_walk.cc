#include "server/core/run/slot_walk.h"

#include <algorithm>

#include "storage/format/key_order.h"

namespace weir::server {
namespace {

constexpr size_t kStepMax = 1000;
constexpr size_t kStepGrowth = 10;

uint64_t cursor_of_slot(int slot) {
  constexpr int kSlotShift = 50 - 11;  // of a key order, less what a cursor lacks
  return static_cast<uint64_t>(slot) << kSlotShift;
}

}  // namespace

SlotWalk::SlotWalk(storage::Keyspace* keys, const SlotRange& slots)
    : keys_(*keys),
      last_(slots.last),
      cursor_(cursor_of_slot(slots.first)),
      end_(cursor_of_slot(slots.last + 1)) {
  static_assert(storage::kSlots == kSlots);
}

// The first step is short, because there may be no keys; what it finds then is another slot's.
bool SlotWalk::next(const std::function<void(std::string_view key)>& visit) {
  if (cursor_ >= end_) return false;
  step_ = std::clamp<size_t>(step_ * kStepGrowth, 1, kStepMax);
  const uint64_t next = keys_.scan(0, cursor_, step_, [&](const storage::Seen& seen) {
    if (hash_slot(seen.key) <= last_) visit(seen.key);
  });
  cursor_ = next == 0 ? end_ : next;
  return true;
}

}  // namespace weir::server
