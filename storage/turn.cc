// The end of a turn: one record for all that changed.
#include <algorithm>

#include "base/check.h"
#include "storage/codec.h"
#include "storage/keyspace.h"

namespace weir::storage {
namespace {

constexpr ElementsId kElementsIdsPerRecord = 4096;

}  // namespace

Status Keyspace::commit_turn(bool keep_on_failure) {
  end_.instant_ns = std::max(end_.instant_ns, turn_.now_ns());
  if (!turn_has_changes() || (store_.failed && turn_.changed().empty())) {
    turn_.end_empty();
    debt_.begin_turn();
    return {};
  }
  find_vanished();
  put_database_records();
  put_elements_record();
  if (!store_.failed) {
    encode_changes();
    TurnLog& log = *store_.store;
    Status appended = log.append(end_.turn + 1, record_.bytes());
    if (!appended.ok()) {
      store_.failed = true;
      if (!keep_on_failure) {
        roll_back_turn();
        return appended;
      }
    }
    end_.bytes_appended += record_.bytes().size();
  } else if (!keep_on_failure) {
    roll_back_turn();
    return Status::failed("the store has failed and was not reopened yet");
  }
  if (!store_.failed) {
    ++end_.turn;
    drops_.unlogged.clear();
    drops_.unlogged_in_pass.clear();
  }
  settle_changes();
  for (const Drops::List& list : vanished_) bury(list);
  vanished_.clear();
  debt_.begin_turn();
  return {};
}

void Keyspace::put_system(std::string_view key, std::string_view value) {
  Ref ref = look_up_system(key);
  put(&ref, Type::kSystem, value, 0);
}

void Keyspace::put_database_records() {
  if (!set_.databases_changed()) return;
  std::string value;
  for (size_t i = 0; i < set_.databases().size(); ++i) {
    const Database& database = set_.databases()[i];
    if (!database.changed) continue;
    value.clear();
    put_varint(&value, database.table->incarnation());
    put_varint(&value, database.count);
    put_system(database_record(i), value);
  }
  if (!turn_.databases_replaced()) return;
  value.clear();
  put_varint(&value, set_.next_incarnation());
  put_system("next-incarnation", value);
}

// Writes the bound of used ids ahead of the ids: an id that this process has used must not be used
// again by the next process, even if this one dies now.
void Keyspace::put_elements_record() {
  if (next_elements_id_ <= elements_ids_reserved_) return;
  elements_ids_reserved_ = next_elements_id_ + kElementsIdsPerRecord;
  std::string value;
  put_varint(&value, elements_ids_reserved_);
  put_system(kElementsIdsKey, value);
}

void Keyspace::encode_changes() {
  record_.begin(turn_.now_ns());
  // System records first: replay learns from them which databases there are.
  for (const bool system : {true, false}) {
    for (const Entry* entry : turn_.changed()) {
      if ((entry->incarnation == kSystemIncarnation) == system) encode(entry);
    }
  }
  // Drops follow the elements, so that replay leaves nothing of a list that the turn both changed
  // and dropped.
  for (const auto* lists : {&drops_.unlogged, &drops_.unlogged_in_pass, &vanished_}) {
    for (const Drops::List& list : *lists) record_.drop(list.incarnation, list.id);
  }
}

void Keyspace::encode(const Entry* entry) {
  std::string_view key = entry->key();
  if (holds_elements(entry->incarnation)) {
    scratch_.clear();
    append_element_name(&scratch_, entry->position, key);
    key = scratch_;
  }
  if (entry->has(Entry::kPresent)) {
    record_.put(entry->incarnation, key, entry->view());
  } else {
    record_.erase(entry->incarnation, key);
  }
}

void Keyspace::settle_changes() {
  changed_last_turn_ = turn_.changed().size();
  Table* table = nullptr;
  for (Entry* entry : turn_.changed()) {
    entry->flags &= static_cast<uint8_t>(~Entry::kChanged);
    if (table == nullptr || table->incarnation() != entry->incarnation)
      table = set_.table_of(entry->incarnation);
    if (entry->has(Entry::kDirty)) continue;
    table->mark_dirty(entry);
    ++pass_.dirty;
  }
  const bool replaced = turn_.databases_replaced();
  turn_.keep_all();
  set_.settle();
  if (replaced) retire_unused_tables();
}

void Keyspace::roll_back_turn() {
  turn_.take_back_all();
  vanished_.clear();
  elements_ids_reserved_ = 0;  // the turn that is rolled back may have held the record of it
  retire_unused_tables();
  debt_.begin_turn();
}

void Keyspace::retire_unused_tables() {
  for (Table* table : set_.retire_unused()) {
    // The dirty entries of this table will never be written back; the pass counts those that it has
    // in hand.
    pass_.dirty -= table->dirty();
    dropped_.push_back(table->incarnation());
    if (table->has_elements()) drops_.closed_tables.push_back(std::move(table->open));
  }
}

}  // namespace weir::storage
