#include "storage/keyspace/recovery.h"

#include <algorithm>
#include <string>

#include "storage/format/codec.h"
#include "storage/keyspace/turn_commit.h"
#include "storage/memtable/scan.h"

namespace weir::storage {

namespace {

// Bytes of records between two words to who watches. It takes a millisecond or so to apply them.
constexpr uint64_t kWatchBytes = 64 << 10;

}  // namespace

Status Recovery::fill(Store* store, LogEnd* end, const Watch& watch) {
  if (Status status = load_system_records(store); !status.ok()) return status;
  return replay_log(store, end, watch);
}

Status Recovery::check(Store* store, bool follows) {
  if (Status status = check_number_of_databases(); !status.ok()) return status;
  if (!follows) create_missing_databases();
  return look_over_generations(store);
}

Status Recovery::load_system_records(Store* store) {
  const auto cursor = store->cursor();
  cursor->seek(stored_key_prefix(kSystemGeneration));
  for (; cursor->valid(); cursor->next()) {
    const auto key = parse_stored_key(cursor->key());
    if (!key) return Status::corrupt("the state holds a key that is too short");
    if (key->generation != kSystemGeneration) break;
    ValueView value;
    if (Status status = parse_value(cursor->value(), &value); !status.ok()) return status;
    Table* table = set_.system_table();
    Entry* loaded = table->insert(key->key_order, key->key, value.payload.size());
    table->set_value(loaded, value.payload, false);
    loaded->type = value.type;
    loaded->flags |= Entry::kPresent;
  }
  if (Status status = cursor->status(); !status.ok()) return status;
  replay_.load_databases();
  return {};
}

// The state may be newer than the written-back turn in places, so replay may meet database tables
// that are not there any more: which databases were dropped is known only at its end.
Status Recovery::replay_log(Store* store, LogEnd* end, const Watch& watch) {
  const uint64_t before = end->turn;
  uint64_t told_at_bytes = end->bytes_appended;
  Status status = store->replay(before + 1, [&](uint64_t turn, std::string_view record) {
    end->turn = turn;
    end->bytes_appended += record.size();
    if (watch.watch && end->bytes_appended - told_at_bytes >= kWatchBytes) {
      told_at_bytes = end->bytes_appended;
      watch.watch({.part = OpeningStep::Part::kReplay,
                   .done = turn - before,
                   .all = std::max(watch.last_turn, turn) - before});
    }
    return replay_.apply_at_opening(record, end);
  });
  for (Table* table : set_.retire_unused()) reclaimer_.drop(table);
  return status;
}

// Refuses a number of databases that would hide one that has keys.
Status Recovery::check_number_of_databases() const {
  int needed = 0;
  visit_entries(set_.system_table(), kDatabaseRecords,
                [&](std::string_view key, std::string_view value) {
                  const std::string number(key.substr(kDatabaseRecords.size()));
                  Reader reader(value);
                  reader.varint();
                  if (number != "hidden" && reader.varint() > 0)
                    needed = std::max(needed, std::stoi(number) + 1);
                });
  if (needed <= set_.hidden_database()) return {};
  return Status::refused("database " + std::to_string(needed - 1) +
                         " has keys: databases must be at least " + std::to_string(needed) +
                         ", got " + std::to_string(set_.hidden_database()));
}

void Recovery::create_missing_databases() {
  for (size_t i = 0; i < set_.databases().size(); ++i) {
    if (set_.databases()[i].table == nullptr) records_.clear(static_cast<int>(i));
  }
}

// Learns which databases have anything in the state, and what is left there of dropped ones: a
// crash may have come between the drop of a database and the write-back that erases it.
Status Recovery::look_over_generations(Store* store) {
  // A replayed record may have expired before the crash, when the counter was already reduced by
  // it. What the counter still has may have expired and left the state since it was written.
  for (Database& database : set_.databases()) {
    if (database.table == nullptr) continue;
    database.table->complete = true;
    if (database.table->elements != nullptr) database.table->elements->complete = true;
    database.count_doubtful = database.table->entries() > 0 || database.count > 0;
  }
  const auto cursor = store->cursor();
  cursor->seek(stored_key_prefix(kSystemGeneration + 1));
  while (cursor->valid()) {
    const auto key = parse_stored_key(cursor->key());
    if (!key) return Status::corrupt("the state holds a key that is too short");
    if (key->generation == kStoreGeneration) return {};
    look_at(key->generation);
    cursor->seek(stored_key_prefix(key->generation + 1));
  }
  return cursor->status();
}

// Learns that the state has something of a generation.
void Recovery::look_at(Generation generation) {
  Table* table = set_.table_of(generation & ~kElementsBit);
  if (table == nullptr) {
    reclaimer_.drop_stored(generation);
  } else if (holds_elements(generation)) {
    set_.elements_table(table)->complete = false;
  } else {
    table->complete = false;
    for (Database& database : set_.databases()) database.count_doubtful |= database.table == table;
  }
}

}  // namespace weir::storage
