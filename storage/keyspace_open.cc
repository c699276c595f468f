// Opening: reads the system records from the state, then replays the log from W + 1 on through
// apply().
#include <algorithm>

#include "base/check.h"
#include "storage/codec.h"
#include "storage/keyspace.h"

namespace weir::storage {
namespace {

const std::string kDatabasePrefix = "db/";

}  // namespace

Status Keyspace::open(OpenReport* report) {
  store_.store = make_store_();
  if (Status status = store_->open(report); !status.ok()) {
    store_.store.reset();
    return status;
  }
  return fill_from_store(*report);
}

Status Keyspace::reopen(bool keep_memory) {
  pass_.abandon(set_.tables());
  pass_wanted_ = false;
  drops_.end_pass(false);
  dropped_.insert(dropped_.end(), dropping_.begin(), dropping_.end());
  dropping_.clear();
  set_.free_retired();
  store_.store.reset();
  auto store = make_store_();
  OpenReport report;
  if (Status status = store->open(&report); !status.ok()) return status;
  if (report.created) return Status::refused("the data directory is empty, though it was in use");
  store_.store = std::move(store);
  if (keep_memory) return append_everything_owed();
  forget_everything();
  return fill_from_store(report);
}

void Keyspace::forget_everything() {
  watches_.touch_all();
  turn_.forget();
  set_.forget();
  dropped_.clear();
  dropping_.clear();
  drops_ = {};
  next_elements_id_ = elements_ids_reserved_ = 1;
  pass_ = WriteBack();
}

Status Keyspace::fill_from_store(const OpenReport& report) {
  set_.begin(store_->hash_seed(), static_cast<size_t>(options_.databases) + 1);
  end_.turn = report.written_back_turn;
  pass_.set_written_back_turn(end_.turn);
  end_.instant_ns = std::max(end_.instant_ns, report.instant_ns);
  log_bytes_at_w_ = log_bytes_at_pass_ = end_.bytes_appended;
  if (Status status = load_system_records(); !status.ok()) return status;
  if (Status status = replay_log(); !status.ok()) return status;
  turn_.reach(end_.instant_ns);
  store_.failed = false;
  if (Status status = check_number_of_databases(); !status.ok()) return status;
  create_missing_databases();
  if (Status status = look_over_incarnations(); !status.ok()) return status;
  return commit_turn();
}

Status Keyspace::load_system_records() {
  const auto cursor = store_->cursor();
  cursor->seek(stored_key_prefix(kSystemIncarnation));
  for (; cursor->valid(); cursor->next()) {
    const auto key = parse_stored_key(cursor->key());
    if (!key) return Status::corrupt("the state holds a key that is too short");
    if (key->incarnation != kSystemIncarnation) break;
    TurnEntry entry;
    entry.key = key->key;
    if (Status status = parse_value(cursor->value(), &entry.value); !status.ok()) return status;
    Table* table = set_.system_table();
    Entry* loaded = table->insert(key->position, entry.key, entry.value.payload.size());
    table->set_value(loaded, entry.value.payload, false);
    loaded->type = entry.value.type;
    loaded->flags |= Entry::kPresent;
  }
  if (Status status = cursor->status(); !status.ok()) return status;
  load_databases();
  return {};
}

// The state may be newer than W in places, so replay may meet database tables that are not there
// any more: which databases were dropped is known only at its end.
Status Keyspace::replay_log() {
  Status status = store_->replay(end_.turn + 1, [this](uint64_t turn, std::string_view record) {
    end_.turn = turn;
    end_.bytes_appended += record.size();
    return apply(record);
  });
  retire_unused_tables();
  return status;
}

// Applies one turn's record. Replay calls it; the live path has made the same changes already.
Status Keyspace::apply(std::string_view record) {
  bool databases_known = false;
  int64_t instant_ns = 0;
  Status status = parse_turn_record(record, &instant_ns, [&](const TurnEntry& entry) {
    if (entry.incarnation != kSystemIncarnation && !databases_known) {
      load_databases();
      databases_known = true;
    }
    return apply_entry(entry);
  });
  if (status.ok() && !databases_known) load_databases();
  end_.instant_ns = std::max(end_.instant_ns, instant_ns);
  return status;
}

Status Keyspace::apply_entry(const TurnEntry& change) {
  Table* table = set_.table_of(change.incarnation & ~kElementsBit);
  if (table == nullptr)
    // A later turn, written back already, has dropped this database.
    return {};
  if (holds_elements(change.incarnation)) return apply_element(set_.elements_table(table), change);
  OwnerView owner;
  if (change.dropped ||
      (owns_elements(change.value.type) && !parse_owner(change.value.payload, &owner)))
    return Status::corrupt("a turn's record holds an owner of elements that does not name them");
  apply_change(table, position_of(change.key, set_.seed()), change.key, change);
  return {};
}

Status Keyspace::apply_element(Table* table, const TurnEntry& change) {
  Reader reader(change.key);
  const ElementsId id = reader.varint();
  const std::string_view member = reader.rest();
  const bool is_put = !change.erased && !change.dropped;
  if (!reader.ok() || id == 0 || id > kElementsIdMax || (is_put && !is_element(change.value)))
    return Status::corrupt("a turn's record holds an element that is none");
  if (change.dropped) {
    bury({table->incarnation(), id});
  } else {
    apply_change(table, position_of_element(id, member, set_.seed()), member, change);
  }
  return {};
}

void Keyspace::apply_change(Table* table, Position position, std::string_view key,
                            const TurnEntry& change) {
  Entry* entry = table->find(position, key);
  if (entry == nullptr) entry = table->insert(position, key, change.value.payload.size());
  table->set_value(entry, change.value.payload, false);
  entry->type = change.value.type;
  entry->expire_at_ms = change.value.expire_at_ms;
  entry->flags &= static_cast<uint8_t>(~Entry::kPresent);
  if (!change.erased) entry->flags |= Entry::kPresent;
  if (!entry->has(Entry::kDirty)) {
    table->mark_dirty(entry);
    ++pass_.dirty;
  }
}

std::string Keyspace::database_record(size_t database) const {
  const bool hidden = database == static_cast<size_t>(hidden_database());
  return kDatabasePrefix + (hidden ? std::string("hidden") : std::to_string(database));
}

// Refuses a number of databases that would hide one that has keys.
Status Keyspace::check_number_of_databases() const {
  int needed = 0;
  visit_system(kDatabasePrefix, [&](std::string_view key, std::string_view value) {
    const std::string number(key.substr(kDatabasePrefix.size()));
    Reader reader(value);
    reader.varint();
    if (number != "hidden" && reader.varint() > 0) needed = std::max(needed, std::stoi(number) + 1);
  });
  if (needed <= options_.databases) return {};
  return Status::refused("database " + std::to_string(needed - 1) +
                         " has keys: databases must be at least " + std::to_string(needed) +
                         ", got " + std::to_string(options_.databases));
}

void Keyspace::load_databases() {
  auto& databases = set_.databases();
  for (size_t i = 0; i < databases.size(); ++i) {
    const Ref ref = look_up_system(database_record(i));
    if (!ref.exists()) continue;
    Reader reader(ref.value());
    const auto incarnation = static_cast<Incarnation>(reader.varint());
    databases[i].count = reader.varint();
    databases[i].table = set_.add_table(incarnation);
  }
  const Ref ids = look_up_system(kElementsIdsKey);
  if (ids.exists()) next_elements_id_ = elements_ids_reserved_ = Reader(ids.value()).varint();
  const Ref next = look_up_system("next-incarnation");
  if (next.exists())
    set_.set_next_incarnation(static_cast<Incarnation>(Reader(next.value()).varint()));
}

void Keyspace::create_missing_databases() {
  for (size_t i = 0; i < set_.databases().size(); ++i) {
    if (set_.databases()[i].table == nullptr) clear(static_cast<int>(i));
  }
}

// Learns which databases have anything in the state, and what is left there of dropped ones: a
// crash may have come between the drop of a database and the pass that erases it.
Status Keyspace::look_over_incarnations() {
  // A replayed record may have expired before the crash, when the counter was already reduced by
  // it.
  for (Database& database : set_.databases()) {
    database.table->complete = true;
    if (database.table->elements != nullptr) database.table->elements->complete = true;
    database.count_doubtful = database.table->entries() > 0;
  }
  const auto cursor = store_->cursor();
  cursor->seek(stored_key_prefix(kSystemIncarnation + 1));
  while (cursor->valid()) {
    const auto key = parse_stored_key(cursor->key());
    if (!key) return Status::corrupt("the state holds a key that is too short");
    if (key->incarnation == kStoreIncarnation) return {};
    Table* table = set_.table_of(key->incarnation & ~kElementsBit);
    if (table != nullptr && holds_elements(key->incarnation)) {
      set_.elements_table(table)->complete = false;
    } else if (table != nullptr) {
      table->complete = false;
      for (Database& database : set_.databases())
        database.count_doubtful |= database.table == table;
    } else if (std::find(dropped_.begin(), dropped_.end(), key->incarnation) == dropped_.end()) {
      dropped_.push_back(key->incarnation);
    }
    cursor->seek(stored_key_prefix(key->incarnation + 1));
  }
  return cursor->status();
}

// Brings the log up to memory with one record, after a time in which the store took nothing. It
// does not matter which earlier turns the log holds, since this record has the last state of every
// entry that they changed.
Status Keyspace::append_everything_owed() {
  if (Status status = store_->replay(end_.turn + 1,
                                     [this](uint64_t turn, std::string_view) {
                                       end_.turn = turn;
                                       return Status();
                                     });
      !status.ok()) {
    return status;
  }
  store_.failed = false;
  for (const auto& table : set_.tables()) {
    Position position = 0;
    do {
      const Segment* segment = table->segment_at(position);
      for (Entry* entry = segment->dirty; entry != nullptr; entry = entry->dirty_next) {
        turn_.add_unchanged(entry);
      }
      position = segment->last() + 1;
    } while (position != 0);
  }
  drops_.owe();
  set_.mark_all_changed();
  if (Status status = commit_turn(true); !status.ok()) return status;
  return store_.failed ? Status::failed("the log takes no records yet") : Status();
}

}  // namespace weir::storage
