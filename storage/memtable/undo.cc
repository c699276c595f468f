#include "storage/memtable/undo.h"

#include "storage/memtable/entry_memory.h"

namespace weir::storage {
namespace {

constexpr uint8_t kRestoredFlags = Entry::kPresent | Entry::kChanged | Entry::kUnreclaimed;
constexpr size_t kKeptBytes = 1 << 20;

}  // namespace

void Undo::save(Table* table, Entry* entry, bool value_goes) {
  Saved saved{.table = table,
              .entry = entry,
              .expire_at_ms = entry->expire_at_ms,
              .outside = nullptr,
              .values_offset = values_.size(),
              .value_size = entry->value_size,
              .saved_by = entry->saved_by,
              .type = entry->type,
              .flags = entry->flags};
  if (!entry->has(Entry::kOutside)) {
    values_.append(entry->value());
  } else {
    saved.outside = value_goes ? entry->outside() : copy_outside(entry->value());
  }
  saved_.push_back(saved);
}

void Undo::restore(const Saved& saved) {
  Entry* entry = saved.entry;
  if (saved.outside != nullptr) {
    saved.table->adopt_outside(entry, saved.outside, saved.value_size);
  } else {
    saved.table->set_value(entry, value_of(saved), false);
    values_.resize(saved.values_offset);
  }
  entry->expire_at_ms = saved.expire_at_ms;
  entry->saved_by = saved.saved_by;
  entry->type = saved.type;
  entry->flags =
      static_cast<uint8_t>((entry->flags & ~kRestoredFlags) | (saved.flags & kRestoredFlags));
}

void Undo::forget() {
  for (const Saved& saved : saved_) {
    if (saved.outside != nullptr) free_outside(saved.outside);
  }
  saved_.clear();
  values_.clear();
  if (values_.capacity() > kKeptBytes) values_.shrink_to_fit();
  if (saved_.capacity() > kKeptBytes / sizeof(Saved)) saved_.shrink_to_fit();
}

}  // namespace weir::storage
