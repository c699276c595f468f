#include "storage/keyspace/live_records.h"

#include <utility>

#include "base/check.h"
#include "storage/format/header.h"

namespace weir::storage {
namespace {

constexpr size_t kTableBytes = 1024;  // about what an empty table takes

}  // namespace

Ref LiveRecords::look_up(int database, std::string_view key) {
  Ref ref;
  ref.database_ = database;
  ref.table_ = set_.table(database);
  ref.key_order_ = key_order_of(key, set_.seed());
  ref.key_ = key;
  ref.entry_ = find(ref.table_, ref.key_order_, key);
  if (ref.entry_ == nullptr) return ref;
  if (!ref.entry_->has(Entry::kReferenced)) ref.entry_->flags |= Entry::kReferenced;
  if (ref.entry_->has(Entry::kPresent) && ref.entry_->expired(turn_.now_ms()))
    expire(ref.table_, ref.entry_);
  return ref;
}

Ref LiveRecords::look_up_system(std::string_view key) {
  Ref ref;
  ref.database_ = -1;
  ref.table_ = set_.system_table();
  ref.key_order_ = key_order_of(key, set_.seed());
  ref.key_ = key;
  ref.entry_ = ref.table_->find(ref.key_order_, key);
  return ref;
}

// Reads a record that is not in memory.
Entry* LiveRecords::load(Table* table, KeyOrder key_order, std::string_view key) {
  ++misses_;
  if (!store_.is_open()) {
    turn_.fail_to_read(Status::failed("the store is closed after a failure"));
    return nullptr;
  }
  std::string stored_key;
  append_stored_key(&stored_key,
                    {.generation = table->generation(), .key_order = key_order, .key = key});
  Status status;
  const Lookup found = store_->get(stored_key, &value_, &status);
  if (found == Lookup::kAbsent) return nullptr;
  if (found == Lookup::kFailed) WEIR_CHECK(!status.ok());
  ValueView value;
  if (status.ok()) status = parse_value(value_, &value);
  HeaderView header;
  const bool owns = status.ok() && owns_elements(value.type);
  if (owns && !parse_header(value.payload, &header))
    status = Status::corrupt("a stored header record does not name them");
  if (!status.ok()) {
    turn_.fail_to_read(std::move(status));
    return nullptr;
  }
  const bool expired = value.expire_at_ms != 0 && turn_.now_ms() > value.expire_at_ms;
  // Nothing here tells whether the counter still includes this key. It may be put again, over what
  // the compaction filter would have dropped and told of.
  if (expired) set_.note_unseen_expiry();
  if (expired && !owns) return nullptr;
  Entry* entry = table->insert(key_order, key, value.payload.size());
  table->set_value(entry, value.payload, false);
  entry->type = value.type;
  entry->expire_at_ms = value.expire_at_ms;
  if (expired) {
    reclaimer_.note_expired(table, entry, header);
  } else {
    entry->flags |= Entry::kPresent;
  }
  return entry;
}

void LiveRecords::expire(Table* table, Entry* entry) {
  if (events_.wants_expired() && !table->has_elements())
    note_event(KeyEvent::Kind::kExpired, table, entry);
  ++expired_;
  if (owns_elements(entry->type)) return expire_header(table, entry);
  entry->flags &= static_cast<uint8_t>(~Entry::kPresent);
  table->set_value(entry, {}, false);
  set_.adjust_count(table, entry->key_order, -1);
}

// If the turn in progress changed this header, the expiry becomes a change of the running command,
// so that a roll-back undoes both.
void LiveRecords::expire_header(Table* table, Entry* entry) {
  if (entry->has(Entry::kChanged)) return take_away(table, entry);
  HeaderView header;
  WEIR_CHECK(parse_header(entry->value(), &header));
  entry->flags &= static_cast<uint8_t>(~Entry::kPresent);
  set_.adjust_count(table, entry->key_order, -1);
  reclaimer_.note_expired(table, entry, header);
}

// The names of other records are the server's own: a short prefix before a name that is bounded.
bool LiveRecords::is_named_by_clients(const Ref& ref) const {
  return ref.database_ >= 0 && ref.database_ != set_.hidden_database();
}

void LiveRecords::put(Ref* ref, Type type, std::string_view value, int64_t expire_at_ms) {
  HeaderView header;
  WEIR_REQUIRE(!owns_elements(type) || parse_header(value, &header));
  // If a read has failed, it is not known that this key is absent, so no entry may be made for it.
  if (ref->entry_ == nullptr && ref->database_ >= 0 && !turn_.failure().ok()) return;
  if (ref->entry_ == nullptr && is_named_by_clients(*ref))
    turn_.admit_name("a key", ref->key_.size());
  if (ref->database_ >= 0) turn_.charge(ref->key_.size() + value.size());
  if (ref->entry_ == nullptr)
    ref->entry_ = ref->table_->insert(ref->key_order_, ref->key_, value.size());
  Entry* entry = ref->entry_;
  const bool first_change = turn_.save(ref->table_, entry, true);
  ref->table_->set_value(entry, value, first_change);
  entry->type = type;
  entry->expire_at_ms = expire_at_ms;
  if (entry->has(Entry::kPresent)) return;
  entry->flags = static_cast<uint8_t>((entry->flags & ~Entry::kUnreclaimed) | Entry::kPresent |
                                      Entry::kReferenced);
  if (ref->database_ >= 0) set_.adjust_count(ref->table_, entry->key_order, 1);
  if (events_.wants_created()) note_event(KeyEvent::Kind::kCreated, ref->table_, entry);
}

void LiveRecords::put_system(std::string_view key, std::string_view value) {
  Ref ref = look_up_system(key);
  put(&ref, Type::kSystem, value, 0);
}

void LiveRecords::set_expiry(Ref* ref, int64_t expire_at_ms) {
  WEIR_CHECK(ref->exists());
  turn_.charge(ref->key_.size() + 2 * ref->entry_->value_size);  // pays for the undo and the log
  turn_.save(ref->table_, ref->entry_, false);
  ref->entry_->expire_at_ms = expire_at_ms;
}

void LiveRecords::erase(Ref* ref) {
  if (ref->exists()) take_away(ref->table_, ref->entry_);
}

void LiveRecords::take_away(Table* table, Entry* entry) {
  turn_.charge(entry->key_size);
  const bool first_change = turn_.save(table, entry, true);
  table->set_value(entry, {}, first_change);
  entry->expire_at_ms = 0;
  entry->flags &= static_cast<uint8_t>(~Entry::kPresent);
  set_.adjust_count(table, entry->key_order, -1);
}

void LiveRecords::rename(Ref* from, Ref* to) {
  WEIR_CHECK(from->exists() && from->database_ == to->database_);
  if (from->key_ == to->key_) return;
  const std::string payload(from->value());
  put(to, from->type(), payload, from->expire_at_ms());
  erase(from);
}

void LiveRecords::clear(int database) {
  turn_.charge(set_.databases().size() * sizeof(Database) + kTableBytes);
  if (!watches_.empty()) note_replaced(database, -1);
  turn_.save_databases();
  set_.clear(database);
}

void LiveRecords::swap(int first, int second) {
  turn_.charge(set_.databases().size() * sizeof(Database));
  if (!watches_.empty()) {
    note_replaced(first, second);
    note_replaced(second, first);
  }
  turn_.save_databases();
  set_.swap(first, second);
}

// Notes that a database gets other contents: those of database `instead`, or none if that is -1.
void LiveRecords::note_replaced(int database, int instead) {
  for (const WatchId id : watches_.untouched(database)) {
    const Watched& watched = watches_.at(id);
    const std::string key = watched.key;
    const bool changes = watched.existed || (instead >= 0 && look_up(instead, key).exists());
    if (changes || !turn_.failure().ok()) watches_.touch(id);
  }
}

void LiveRecords::note_event(KeyEvent::Kind kind, const Table* table, const Entry* entry) {
  const int database = set_.database_of(table);
  if (database >= 0 && database != set_.hidden_database())
    events_.note(kind, database, entry->key());
}

}  // namespace weir::storage
