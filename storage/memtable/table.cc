#include "storage/memtable/table.h"

#include <algorithm>

#include "base/check.h"
#include "storage/memtable/entry_memory.h"
#include "storage/memtable/open_lists.h"

namespace weir::storage {

Table::Table(Generation generation, Totals* totals)
    : generation_(generation),
      bytes_(totals == nullptr ? nullptr : &totals->bytes),
      dirty_bytes_(totals == nullptr ? nullptr : &totals->dirty_bytes),
      segments_(holds_elements(generation), &bytes_) {
  if (holds_elements(generation)) open = std::make_unique<OpenLists>();
}

Table::~Table() = default;

Entry* Table::find(KeyOrder key_order, std::string_view key) const {
  const Segment* segment = segment_at(key_order);
  Entry* entry = segment->buckets[segment->bucket_of(key_order)];
  while (entry != nullptr && (entry->key_order != key_order || entry->key() != key))
    entry = entry->next;
  return entry;
}

Entry* Table::insert(KeyOrder key_order, std::string_view key, size_t value_bytes) {
  Segment* segment = segments_.with_room(key_order);
  // Room is rounded up so that the bytes which malloc would round up to are used, not lost.
  const size_t wanted = kEntryHeadBytes + key.size() + std::max(value_bytes, sizeof(char*));
  const size_t rounded = (wanted + kMallocOverheadBytes + 15) / 16 * 16 - kMallocOverheadBytes;
  auto* entry = static_cast<Entry*>(allocate(std::max(rounded, sizeof(Entry))));
  *entry = Entry{.next = nullptr,
                 .dirty_next = nullptr,
                 .key_order = key_order,
                 .expire_at_ms = 0,
                 .saved_by = 0,
                 .generation = generation_,
                 .key_size = static_cast<uint32_t>(key.size()),
                 .value_size = 0,
                 .capacity = static_cast<uint32_t>(rounded - kEntryHeadBytes - key.size()),
                 .type = Type::kNone,
                 .flags = 0};
  if (!key.empty()) std::memcpy(entry->tail(), key.data(), key.size());
  Entry** bucket = &segment->buckets[segment->bucket_of(key_order)];
  entry->next = *bucket;
  *bucket = entry;
  ++segment->count;
  ++entries_;
  bytes_.add(block_bytes(entry));
  return entry;
}

void Table::erase(Entry* entry) {
  WEIR_CHECK(entry->clean());
  Segment* segment = segment_at(entry->key_order);
  Entry** link = &segment->buckets[segment->bucket_of(entry->key_order)];
  while (*link != entry) link = &(*link)->next;
  *link = entry->next;
  --segment->count;
  --entries_;
  bytes_.subtract(footprint(entry));
  free_entry(entry);
  segments_.give_back_room(segment);
}

// Counts a change of what an entry has outside its block: `before` bytes until now.
void Table::note_outside(const Entry* entry, size_t before) {
  const size_t grown = outside_bytes(entry) - before;  // modulo 2^64: it may have shrunk
  bytes_.add(grown);
  if (entry->has(Entry::kDirty)) dirty_bytes_.add(grown);
}

void Table::set_value(Entry* entry, std::string_view value, bool keep_outside) {
  const size_t before = outside_bytes(entry);
  char* old_outside = entry->has(Entry::kOutside) ? entry->outside() : nullptr;
  if (value.size() <= entry->capacity) {
    if (!value.empty()) std::memmove(entry->inline_data(), value.data(), value.size());
    entry->flags &= static_cast<uint8_t>(~Entry::kOutside);
  } else {
    entry->set_outside(copy_outside(value));
  }
  entry->value_size = static_cast<uint32_t>(value.size());
  note_outside(entry, before);
  if (old_outside != nullptr && !keep_outside) free_outside(old_outside);
}

void Table::adopt_outside(Entry* entry, char* block, size_t bytes) {
  const size_t before = outside_bytes(entry);
  if (entry->has(Entry::kOutside)) free_outside(entry->outside());
  entry->set_outside(block);
  entry->value_size = static_cast<uint32_t>(bytes);
  note_outside(entry, before);
}

void Table::mark_dirty(Entry* entry) {
  if (entry->has(Entry::kDirty)) return;
  Segment* segment = segment_at(entry->key_order);
  entry->flags |= Entry::kDirty;
  segment->add_dirty(entry);
  ++dirty_;
  dirty_bytes_.add(footprint(entry));
}

// Makes a segment's dirty entries from `first` to `last` clean, and appends them to `taken` if that
// is not null.
size_t Table::unlink_dirty(Segment* segment, KeyOrder first, KeyOrder last,
                           std::vector<Entry*>* taken) {
  segment->fetch_if_many_are_dirty();
  size_t unlinked = 0;
  for (Entry** link = &segment->dirty; *link != nullptr;) {
    Entry* entry = *link;
    if (entry->key_order < first || entry->key_order > last) {
      link = &entry->dirty_next;
      continue;
    }
    *link = entry->dirty_next;
    entry->dirty_next = nullptr;
    entry->flags &= static_cast<uint8_t>(~Entry::kDirty);
    dirty_bytes_.subtract(footprint(entry));
    if (taken != nullptr) taken->push_back(entry);
    ++unlinked;
  }
  segment->dirty_count = static_cast<uint16_t>(segment->dirty_count - unlinked);
  dirty_ -= unlinked;
  return unlinked;
}

KeyOrder Table::take_dirty(Segment* segment, KeyOrder first, size_t bytes_max,
                           std::vector<Entry*>* entries) {
  const auto begin = static_cast<std::ptrdiff_t>(entries->size());
  unlink_dirty(segment, first, ~KeyOrder{0}, entries);
  std::sort(entries->begin() + begin, entries->end(),
            [](const Entry* a, const Entry* b) { return a->key_order < b->key_order; });
  auto end = entries->begin() + begin;
  for (size_t bytes = 0; end != entries->end() && bytes < bytes_max; ++end)
    bytes += footprint(*end);
  if (end == entries->end()) return segment->last();
  const KeyOrder last = last_beside(end[-1]->key_order);
  while (end != entries->end() && (*end)->key_order <= last) ++end;
  for (auto left = end; left != entries->end(); ++left) mark_dirty(*left);
  entries->erase(end, entries->end());
  return last;
}

size_t Table::forget_dirty(Segment* segment, KeyOrder first, KeyOrder last) {
  return unlink_dirty(segment, first, last, nullptr);
}

void Table::append_range(const Segment* segment, KeyOrder first, KeyOrder last,
                         std::vector<Entry*>* entries) {
  const auto begin = static_cast<std::ptrdiff_t>(entries->size());
  const bool all = segment->hashed;
  const size_t first_bucket = all ? 0 : segment->bucket_of(std::max(first, segment->begin));
  const size_t last_bucket =
      all ? segment->bucket_count() - 1 : segment->bucket_of(std::min(last, segment->last()));
  for (size_t i = first_bucket; i <= last_bucket; ++i) {
    for (Entry* entry = segment->buckets[i]; entry != nullptr; entry = entry->next) {
      if (entry->key_order >= first && entry->key_order <= last) entries->push_back(entry);
    }
  }
  std::sort(entries->begin() + begin, entries->end(), [](const Entry* a, const Entry* b) {
    const KeyOrder a_place = stored_part(a->key_order);
    const KeyOrder b_place = stored_part(b->key_order);
    return a_place != b_place ? a_place < b_place : a->key() < b->key();
  });
}

}  // namespace weir::storage
