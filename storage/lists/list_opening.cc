#include "storage/lists/list_opening.h"

#include <memory>
#include <string>
#include <vector>

#include "storage/format/record.h"
#include "storage/memtable/table.h"

namespace weir::storage {
namespace {

Status take_from_memory(const Table* table, ElementsIndex* list) {
  ElementsIndex::Opening& opening = *list->opening;
  const KeyOrder last = last_key_order(list->id());
  std::vector<Entry*> entries;
  for (size_t looks = 0; !opening.memory_done;) {
    if (looks >= kOpeningSliceElements) return Status::not_yet();
    const Segment* segment = table->segment_at(opening.key_order);
    const KeyOrder segment_last = segment->last();
    entries.clear();
    Table::append_range(segment, opening.key_order, last, &entries);
    for (Entry* entry : entries) {
      if (entry->has(Entry::kPresent)) list->put_in(entry);
    }
    looks += 1 + entries.size();
    opening.memory_done = segment_last >= last;
    opening.key_order = segment_last + 1;
  }
  return {};
}

// An entry in memory is newer than the state's record, and an absent one hides it.
Status read_from_state(Table* table, ElementsIndex* list, Store* store, const HashSeed& seed) {
  if (store == nullptr) return Status::failed("the store is closed after a failure");
  ElementsIndex::Opening& opening = *list->opening;
  const KeyOrder last = last_key_order(list->id());
  const auto cursor = store->cursor();
  if (opening.stored_key.empty())
    opening.stored_key = stored_key_prefix(table->generation(), first_key_order(list->id()));
  cursor->seek(opening.stored_key);
  for (size_t looks = 0; cursor->valid(); cursor->next(), ++looks) {
    const auto key = parse_stored_key(cursor->key());
    if (!key) return Status::corrupt("the state holds a key that is too short");
    if (key->generation != table->generation() || key->key_order > last) return {};
    if (looks == kOpeningSliceElements) {
      opening.stored_key = cursor->key();
      return Status::not_yet();
    }
    const KeyOrder key_order = key_order_of_element(list->id(), key->key, seed);
    if (stored_part(key_order) != key->key_order)
      return Status::corrupt("a stored element stands where none of its name does");
    if (table->find(key_order, key->key) != nullptr) continue;
    ValueView value;
    if (Status status = parse_value(cursor->value(), &value); !status.ok()) return status;
    if (!is_element(value)) return Status::corrupt("a stored element is none");
    Entry* entry = table->insert(key_order, key->key, value.payload.size());
    table->set_value(entry, value.payload, false);
    entry->type = value.type;
    entry->flags |= Entry::kPresent;
    list->put_in(entry);
  }
  return cursor->status();
}

}  // namespace

Status open_slice(Table* table, ElementsIndex* list, Store* store, const HashSeed& seed) {
  Status status = take_from_memory(table, list);
  if (!status.ok() || table->complete) return status;
  return read_from_state(table, list, store, seed);
}

}  // namespace weir::storage
