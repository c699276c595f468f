#include "storage/memtable/turn_in_progress.h"

#include <algorithm>

#include "base/check.h"
#include "base/time_units.h"
#include "storage/format/name_bound.h"
#include "storage/memtable/elements_index.h"
#include "storage/memtable/open_lists.h"

namespace weir::storage {
namespace {

// The index that an entry belongs to; null unless it is an element of an open list.
ElementsIndex* index_of(const Table* table, const Entry* entry) {
  return table->open->find(elements_id_at(entry->key_order));
}

}  // namespace

void TurnInProgress::reach(int64_t instant_ns) {
  now_ns_ = std::max(now_ns_, instant_ns);
  now_ms_ = now_ns_ / kNsPerMs;
}

void TurnInProgress::roll_back(const Savepoint& savepoint) {
  const auto restoring = [](Table* table, Entry* entry) {
    if (!table->has_elements() || !entry->has(Entry::kPresent)) return;
    if (ElementsIndex* index = index_of(table, entry)) index->take_out(entry);
  };
  const auto restored = [this](Table* table, Entry* entry, bool was_present) {
    const bool present = entry->has(Entry::kPresent);
    if (!watches_.empty()) tell_watches(table, entry);
    if (table->has_elements()) {
      if (!present) return;
      if (ElementsIndex* index = index_of(table, entry)) index->put_in(entry);
      return;
    }
    if (present != was_present) set_.adjust_count(table, entry->key_order, present ? 1 : -1);
  };
  while (databases_undo_.size() > savepoint.databases) {
    undo_.roll_back(databases_undo_.back().undo_savepoint, restoring, restored);
    set_.restore(std::move(databases_undo_.back().databases));
    watches_.touch_all();
    databases_undo_.pop_back();
  }
  undo_.roll_back(savepoint.undo, restoring, restored);
  changed_.resize(savepoint.changed);
  forget_newborn(savepoint.newborn);
  events_.forget_created(savepoint.events);
  dirty_bytes_.take_back(savepoint.turn_bytes);
}

// Forgets the lists that were made since a savepoint and are taken back.
void TurnInProgress::forget_newborn(size_t savepoint) {
  for (size_t i = savepoint; i < newborn_.size(); ++i) {
    if (Table* table = set_.table_of(newborn_[i].generation)) table->open->take(newborn_[i].id);
  }
  newborn_.resize(savepoint);
}

bool TurnInProgress::save(Table* table, Entry* entry, bool value_goes) {
  if (entry->has(Entry::kChanged) && entry->saved_by == command_) return false;
  if (!watches_.empty()) tell_watches(table, entry);
  undo_.save(table, entry, value_goes);
  entry->saved_by = command_;
  headers_changed_ |= owns_elements(entry->type);
  if (!entry->has(Entry::kChanged)) add_unchanged(entry);
  return true;
}

void TurnInProgress::tell_watches(const Table* table, const Entry* entry) {
  if (table->has_elements()) return watches_.element_changes(elements_id_at(entry->key_order));
  const int database = set_.database_of(table);
  if (database >= 0) watches_.record_changes(database, entry->key_order, entry->key());
}

void TurnInProgress::add_unchanged(Entry* entry) {
  entry->flags |= Entry::kChanged;
  changed_.push_back(entry);
}

void TurnInProgress::refuse_change() {
  fail(dirty_bytes_.refusal());
  throw ChangeRefused();
}

void TurnInProgress::admit_name(std::string_view what, size_t bytes) {
  if (bytes <= options_.name_bytes_max) return;
  fail(Status::aborted(long_name_error(what, bytes, options_.name_bytes_max)));
  throw ChangeRefused();
}

void TurnInProgress::keep_all() {
  changed_.clear();
  newborn_.clear();
  headers_changed_ = false;
  undo_.forget();
  databases_undo_.clear();
}

void TurnInProgress::take_back_all() {
  roll_back(Savepoint{.events = command_savepoint_.events});
  undo_.forget();
  headers_changed_ = false;
  command_savepoint_ = savepoint();
}

void TurnInProgress::end_empty() {
  undo_.forget();
  forget_newborn(0);
}

void TurnInProgress::forget() {
  WEIR_CHECK(changed_.empty());
  keep_all();
}

}  // namespace weir::storage
