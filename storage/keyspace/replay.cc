#include "storage/keyspace/replay.h"

#include <algorithm>

#include "base/check.h"
#include "storage/format/codec.h"
#include "storage/keyspace/turn_commit.h"
#include "storage/memtable/open_lists.h"

namespace weir::storage {

Status Replay::apply_at_opening(std::string_view record, LogEnd* end) {
  live_ = false;
  return apply(record, end);
}

Status Replay::follow(std::string_view record, LogEnd* end) {
  WEIR_CHECK(!turn_.has_changes());
  turn_.begin_command(turn_.now_ns());
  live_ = true;
  changed_ = 0;
  if (Status status = apply(record, end); !status.ok()) return status;
  for (Table* table : set_.retire_unused()) reclaimer_.drop(table);
  reclaimer_.compare_names();
  reclaimer_.reclaim_vanished();
  turn_.reach(end->instant_ns);
  return {};
}

// System records come first in a record, and say which databases there are.
Status Replay::apply(std::string_view record, LogEnd* end) {
  int64_t instant_ns = 0;
  Status status = parse_turn_record(record, &instant_ns, [&](const TurnEntry& entry) {
    if (entry.generation == kSystemGeneration) return apply_system(entry);
    if (system_changed_) load_databases();
    return apply_entry(entry);
  });
  if (status.ok() && system_changed_) load_databases();
  end->instant_ns = std::max(end->instant_ns, instant_ns);
  return status;
}

Status Replay::apply_system(const TurnEntry& change) {
  if (change.dropped || owns_elements(change.value.type))
    return Status::corrupt("a turn's record holds a system record that is none");
  system_changed_ = true;
  Table* table = set_.system_table();
  const KeyOrder key_order = key_order_of(change.key, set_.seed());
  set_entry(table, find_or_insert(table, key_order, change.key, change.value.payload.size()),
            change);
  return {};
}

Status Replay::apply_entry(const TurnEntry& change) {
  Table* table = set_.table_of(change.generation & ~kElementsBit);
  // The turn itself has dropped this database. At opening it may also have been a later turn, which
  // is written back already.
  if (table == nullptr) return {};
  if (holds_elements(change.generation)) return apply_element(set_.elements_table(table), change);
  HeaderView header;
  if (change.dropped ||
      (owns_elements(change.value.type) && !parse_header(change.value.payload, &header)))
    return Status::corrupt("a turn's record holds a header record that does not name them");
  return apply_record(table, change);
}

Status Replay::apply_record(Table* table, const TurnEntry& change) {
  const KeyOrder key_order = key_order_of(change.key, set_.seed());
  Entry* entry = nullptr;
  if (live_) {
    if (Status status = find_old(table, key_order, change, &entry); !status.ok()) return status;
  }
  if (entry == nullptr)
    entry = find_or_insert(table, key_order, change.key, change.value.payload.size());
  if (live_ && !watches_.empty()) turn_.tell_watches(table, entry);
  set_entry(table, entry, change);
  return {};
}

// Finds what a key held before, and compares the lists that it names with those that it will name.
Status Replay::find_old(Table* table, KeyOrder key_order, const TurnEntry& change, Entry** entry) {
  *entry = records_.find(table, key_order, change.key);
  if (!turn_.failure().ok()) return turn_.failure();
  Entry* old = *entry;
  if (old != nullptr && old->has(Entry::kPresent)) {
    if (old->expired(turn_.now_ms())) {
      records_.expire(table, old);
    } else if (owns_elements(old->type)) {
      reclaimer_.note_had_names(table->generation(), old->value());
    }
  }
  if (!change.erased && owns_elements(change.value.type))
    reclaimer_.note_have_names(table->generation(), change.value.payload);
  return {};
}

Status Replay::apply_element(Table* table, const TurnEntry& change) {
  Reader reader(change.key);
  const ElementsId id = reader.varint();
  const std::string_view member = reader.rest();
  const bool is_put = !change.erased && !change.dropped;
  if (!reader.ok() || id == 0 || id > kElementsIdMax || (is_put && !is_element(change.value)))
    return Status::corrupt("a turn's record holds an element that is none");
  if (change.dropped) {
    live_ ? reclaimer_.note_had_name({table->generation(), id})
          : reclaimer_.reclaim({table->generation(), id});
    return {};
  }
  const KeyOrder key_order = key_order_of_element(id, member, set_.seed());
  Entry* entry = find_or_insert(table, key_order, member, change.value.payload.size());
  ElementsIndex* list = live_ ? table->open->find(id) : nullptr;
  const bool indexed = list != nullptr && list->reaches(key_order);
  if (live_ && !watches_.empty()) turn_.tell_watches(table, entry);
  if (indexed && entry->has(Entry::kPresent)) list->take_out(entry);
  set_entry(table, entry, change);
  if (indexed && entry->has(Entry::kPresent)) list->put_in(entry);
  return {};
}

Entry* Replay::find_or_insert(Table* table, KeyOrder key_order, std::string_view key,
                              size_t bytes) {
  Entry* entry = table->find(key_order, key);
  return entry != nullptr ? entry : table->insert(key_order, key, bytes);
}

// The lists of a header that was unreclaimed are reclaimed all the same: Reclaimer knows them by
// their ids.
void Replay::set_entry(Table* table, Entry* entry, const TurnEntry& change) {
  ++changed_;
  table->set_value(entry, change.value.payload, false);
  entry->type = change.value.type;
  entry->expire_at_ms = change.value.expire_at_ms;
  entry->flags &= static_cast<uint8_t>(~(Entry::kPresent | Entry::kUnreclaimed));
  if (!change.erased) entry->flags |= Entry::kPresent;
  if (entry->has(Entry::kDirty)) return;
  table->mark_dirty(entry);
  ++write_back_.dirty;
}

void Replay::load_databases() {
  system_changed_ = false;
  for (size_t i = 0; i < set_.databases().size(); ++i) {
    const Ref ref = records_.look_up_system(database_record(set_, i));
    if (!ref.exists()) continue;
    Reader reader(ref.value());
    name_table(i, static_cast<Generation>(reader.varint()));
    set_.databases()[i].count = reader.varint();
  }
  const Ref ids = records_.look_up_system(kNextElementsIdRecord);
  if (ids.exists()) lists_.set_bound(Reader(ids.value()).varint());
  const Ref next = records_.look_up_system(kNextGenerationRecord);
  if (next.exists())
    set_.set_next_generation(static_cast<Generation>(Reader(next.value()).varint()));
}

// Gives a database its table. The state has nothing yet of a generation that is new here; what
// opening finds in the state is looked over at its end.
void Replay::name_table(size_t database, Generation generation) {
  Database& named = set_.databases()[database];
  if (named.table != nullptr && named.table->generation() == generation) return;
  const bool is_new = set_.table_of(generation) == nullptr;
  named.table = set_.add_table(generation);
  if (!live_) return;
  if (is_new) named.table->complete = true;
  for (const WatchId id : watches_.untouched(static_cast<int>(database))) watches_.touch(id);
}

}  // namespace weir::storage
