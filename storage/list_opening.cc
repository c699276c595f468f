#include "storage/list_opening.h"

#include "storage/elements_index.h"
#include "storage/keyspace.h"
#include "storage/open_lists.h"

namespace weir::storage {
namespace {

constexpr uint64_t kNotBornHere = UINT64_MAX;

}  // namespace

Elements* Keyspace::open_elements(int database, ElementsId id) {
  Table* table = set_.elements_table(set_.table(database));
  Elements* list = table->open->find(id);
  if (list == nullptr) {
    list = table->open->add(
        std::make_unique<Elements>(&set_, &turn_, table, ListBirth{id, kNotBornHere}));
    list->index().opening.reset(new ElementsIndex::Opening{.position = first_position(id)});
  }
  if (list->index().long_used_ms != 0) list->index().long_used_ms = turn_.now_ms();
  if (list->index().opening == nullptr) return list;
  if (!turn_.failure().ok()) return nullptr;  // what the command once found absent stays so
  Status status = fill_elements(table, list);
  if (status.ok()) {
    list->index().opening.reset();
    return list;
  }
  if (status.code() == Status::Code::kNotYet) {
    list->index().long_used_ms = turn_.now_ms();
  } else {
    drops_.closed.push_back(table->open->take(id));
  }
  turn_.fail_to_read(std::move(status));
  return nullptr;
}

// Reads a slice of the list: first what is in memory, then what only the state has.
Status Keyspace::fill_elements(Table* table, Elements* list) {
  ElementsIndex::Opening& opening = *list->index().opening;
  const Position last = last_position(list->id());
  std::vector<Entry*> entries;
  for (size_t looks = 0; !opening.memory_done;) {
    if (looks >= kOpeningSliceElements) return Status::not_yet();
    const Segment* segment = table->segment_at(opening.position);
    const Position segment_last = segment->last();
    entries.clear();
    Table::append_range(segment, opening.position, last, &entries);
    for (Entry* entry : entries) {
      if (entry->has(Entry::kPresent)) list->index().put_in(entry);
    }
    looks += 1 + entries.size();
    opening.memory_done = segment_last >= last;
    opening.position = segment_last + 1;
  }
  return table->complete ? Status() : read_elements(table, list);
}

// An entry in memory is newer than the state's record, and an absent one hides it.
Status Keyspace::read_elements(Table* table, Elements* list) {
  if (store_.store == nullptr) return Status::failed("the store is closed after a failure");
  ElementsIndex::Opening& opening = *list->index().opening;
  const Position last = last_position(list->id());
  const auto cursor = store_->cursor();
  if (opening.stored_key.empty())
    opening.stored_key = stored_key_prefix(table->incarnation(), first_position(list->id()));
  cursor->seek(opening.stored_key);
  for (size_t looks = 0; cursor->valid(); cursor->next(), ++looks) {
    const auto key = parse_stored_key(cursor->key());
    if (!key) return Status::corrupt("the state holds a key that is too short");
    if (key->incarnation != table->incarnation() || key->position > last) return {};
    if (looks == kOpeningSliceElements) {
      opening.stored_key = cursor->key();
      return Status::not_yet();
    }
    const Position position = position_of_element(list->id(), key->key, set_.seed());
    if (stored_part(position) != key->position)
      return Status::corrupt("a stored element stands where none of its name does");
    if (table->find(position, key->key) != nullptr) continue;
    ValueView value;
    if (Status status = parse_value(cursor->value(), &value); !status.ok()) return status;
    if (!is_element(value)) return Status::corrupt("a stored element is none");
    Entry* entry = table->insert(position, key->key, value.payload.size());
    table->set_value(entry, value.payload, false);
    entry->type = value.type;
    entry->flags |= Entry::kPresent;
    list->index().put_in(entry);
  }
  return cursor->status();
}

}  // namespace weir::storage
