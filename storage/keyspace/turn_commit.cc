#include "storage/keyspace/turn_commit.h"

#include <algorithm>

#include "storage/format/codec.h"

namespace weir::storage {

std::string database_record(const WorkingSet& set, size_t database) {
  const bool hidden = database == static_cast<size_t>(set.hidden_database());
  return std::string(kDatabaseRecords) + (hidden ? "hidden" : std::to_string(database));
}

Status TurnCommit::commit(TurnLog* log, StoreInUse* store, LogEnd* end, bool keep_on_failure) {
  end->instant_ns = std::max(end->instant_ns, turn_.now_ns());
  if (!turn_.has_changes() || (store->failed() && turn_.changed().empty())) {
    turn_.end_empty();
    dirty_bytes_.begin_turn();
    return {};
  }
  reclaimer_.find_vanished(turn_);
  put_database_records();
  put_elements_record();
  Status appended = append(log, store, end);
  if (!appended.ok() && !keep_on_failure) {
    take_back();
    return appended;
  }
  settle();
  reclaimer_.reclaim_vanished();
  dirty_bytes_.begin_turn();
  return {};
}

Status TurnCommit::append(TurnLog* log, StoreInUse* store, LogEnd* end) {
  if (store->failed()) return Status::failed("the store has failed and was not reopened yet");
  encode_changes();
  if (Status status = log->append(end->turn + 1, record_.bytes()); !status.ok()) {
    if (!status.is_refusal()) store->mark_failed();
    return status;
  }
  end->bytes_appended += record_.bytes().size();
  ++end->turn;
  if (log == store->get()) {
    end->logged_turn = end->turn;
    end->logged_instant_ns = turn_.now_ns();
  }
  reclaimer_.note_logged();
  return {};
}

void TurnCommit::put_database_records() {
  if (!set_.databases_changed()) return;
  std::string value;
  for (size_t i = 0; i < set_.databases().size(); ++i) {
    const Database& database = set_.databases()[i];
    if (!database.changed) continue;
    value.clear();
    put_varint(&value, database.table->generation());
    put_varint(&value, database.count);
    records_.put_system(database_record(set_, i), value);
  }
  if (!turn_.databases_replaced()) return;
  value.clear();
  put_varint(&value, set_.next_generation());
  records_.put_system(kNextGenerationRecord, value);
}

void TurnCommit::put_elements_record() {
  const auto bound = lists_.new_bound();
  if (!bound) return;
  std::string value;
  put_varint(&value, *bound);
  records_.put_system(kNextElementsIdRecord, value);
}

void TurnCommit::encode_changes() {
  record_.begin(turn_.now_ns());
  for (const bool system : {true, false}) {
    for (const Entry* entry : turn_.changed()) {
      if ((entry->generation == kSystemGeneration) == system) encode(entry);
    }
  }
  reclaimer_.for_each_unlogged(
      [this](const ListName& list) { record_.drop(list.generation, list.id); });
}

void TurnCommit::encode(const Entry* entry) {
  std::string_view key = entry->key();
  if (holds_elements(entry->generation)) {
    name_.clear();
    append_element_name(&name_, entry->key_order, key);
    key = name_;
  }
  if (entry->has(Entry::kPresent)) {
    record_.put(entry->generation, key, entry->view());
  } else {
    record_.erase(entry->generation, key);
  }
}

void TurnCommit::settle() {
  schedule_.note_turn(turn_.changed().size(), record_.bytes().size());
  Table* table = nullptr;
  for (Entry* entry : turn_.changed()) {
    entry->flags &= static_cast<uint8_t>(~Entry::kChanged);
    if (table == nullptr || table->generation() != entry->generation)
      table = set_.table_of(entry->generation);
    if (entry->has(Entry::kDirty)) continue;
    table->mark_dirty(entry);
    ++write_back_.dirty;
  }
  const bool replaced = turn_.databases_replaced();
  turn_.keep_all();
  set_.settle();
  if (replaced) retire_unused_tables();
}

void TurnCommit::take_back() {
  turn_.take_back_all();
  reclaimer_.forget_vanished();
  lists_.take_back_bound();
  retire_unused_tables();
  dirty_bytes_.begin_turn();
}

void TurnCommit::retire_unused_tables() {
  for (Table* table : set_.retire_unused()) reclaimer_.drop(table);
}

}  // namespace weir::storage
