#include "storage/keyspace.h"

#include <algorithm>

#include "base/check.h"
#include "storage/owner.h"
#include "storage/scan.h"

namespace weir::storage {
namespace {

constexpr size_t kTableBytes = 1024;  // about what an empty table takes

}  // namespace

Keyspace::Keyspace(StoreFactory make_store, KeyspaceOptions options)
    : make_store_(std::move(make_store)), options_(options) {}

Keyspace::~Keyspace() {
  store_.store.reset();  // the store's threads may call notify, and a pass points into the tables
}

void Keyspace::set_options(const KeyspaceOptions& options) {
  const int databases = options_.databases;
  options_ = options;
  options_.databases = databases;
  if (debt_.turn_bytes() == 0) debt_.begin_turn();
}

Ref Keyspace::look_up(int database, std::string_view key) {
  Ref ref;
  ref.database_ = database;
  ref.table_ = set_.table(database);
  ref.position_ = position_of(key, set_.seed());
  ref.key_ = key;
  ref.entry_ = ref.table_->find(ref.position_, key);
  if (ref.entry_ == nullptr && !ref.table_->complete)
    ref.entry_ = load(ref.table_, ref.position_, key);
  if (ref.entry_ == nullptr) return ref;
  if (!ref.entry_->has(Entry::kReferenced)) ref.entry_->flags |= Entry::kReferenced;
  if (ref.entry_->has(Entry::kPresent) && ref.entry_->expired(turn_.now_ms()))
    expire(ref.table_, ref.entry_);
  return ref;
}

Ref Keyspace::look_up_system(std::string_view key) {
  Ref ref;
  ref.database_ = -1;
  ref.table_ = set_.system_table();
  ref.position_ = position_of(key, set_.seed());
  ref.key_ = key;
  ref.entry_ = ref.table_->find(ref.position_, key);
  return ref;
}

// Reads a record that is not in memory. Null if there is none, or if reading failed; then failure()
// is set.
Entry* Keyspace::load(Table* table, Position position, std::string_view key) {
  ++figures_.misses;
  if (store_.store == nullptr) {
    turn_.fail_to_read(Status::failed("the store is closed after a failure"));
    return nullptr;
  }
  std::string stored_key;
  append_stored_key(&stored_key,
                    {.incarnation = table->incarnation(), .position = position, .key = key});
  Status status;
  const Lookup found = store_->get(stored_key, &scratch_, &status);
  if (found == Lookup::kAbsent) return nullptr;
  if (found == Lookup::kFailed) WEIR_CHECK(!status.ok());
  ValueView value;
  if (status.ok()) status = parse_value(scratch_, &value);
  OwnerView owner;
  const bool owns = status.ok() && owns_elements(value.type);
  if (owns && !parse_owner(value.payload, &owner))
    status = Status::corrupt("a stored owner of elements does not name them");
  if (!status.ok()) {
    turn_.fail_to_read(std::move(status));
    return nullptr;
  }
  const bool expired = value.expire_at_ms != 0 && turn_.now_ms() > value.expire_at_ms;
  // Nothing here tells whether the counter still includes this key; recount.cc corrects it.
  if (expired && !owns) return nullptr;
  Entry* entry = table->insert(position, key, value.payload.size());
  table->set_value(entry, value.payload, false);
  entry->type = value.type;
  entry->expire_at_ms = value.expire_at_ms;
  if (expired) {
    set_.recount().note_unseen_expiry();
    note_unburied(table, entry, owner);
  } else {
    entry->flags |= Entry::kPresent;
  }
  return entry;
}

// Removes an expired record. Nothing is logged: a replay of the log hides the record by the same
// expiry.
void Keyspace::expire(Table* table, Entry* entry) {
  if (events_.wants_expired() && !table->has_elements())
    note_event(KeyEvent::Kind::kExpired, table, entry);
  if (owns_elements(entry->type)) return expire_owner(table, entry);
  entry->flags &= static_cast<uint8_t>(~Entry::kPresent);
  table->set_value(entry, {}, false);
  set_.adjust_count(table, entry->position, -1);
  ++figures_.expired;
}

// Removes an expired owner. If the turn in progress changed this owner, the expiry becomes a change
// of the running command, so that a roll-back undoes both.
void Keyspace::expire_owner(Table* table, Entry* entry) {
  ++figures_.expired;
  if (entry->has(Entry::kChanged)) return take_away(table, entry);
  OwnerView owner;
  WEIR_CHECK(parse_owner(entry->value(), &owner));
  entry->flags &= static_cast<uint8_t>(~Entry::kPresent);
  set_.adjust_count(table, entry->position, -1);
  note_unburied(table, entry, owner);
}

void Keyspace::note_unburied(Table* table, Entry* entry, const OwnerView& owner) {
  entry->flags |= Entry::kUnburied;
  const auto ids = owner.all();
  drops_.expired.push_back({.incarnation = table->incarnation(),
                            .position = entry->position,
                            .key = std::string(entry->key()),
                            .ids = {ids.begin(), ids.end()}});
  for (const ElementsId id : ids)
    drops_.unlogged.push_back({table->incarnation() | kElementsBit, id});
}

void Keyspace::put(Ref* ref, Type type, std::string_view value, int64_t expire_at_ms) {
  // If a read has failed, nobody has seen that this key is absent, so no entry may be made for it.
  if (ref->entry_ == nullptr && ref->database_ >= 0 && !turn_.failure().ok()) return;
  if (ref->database_ >= 0) turn_.charge(ref->key_.size() + value.size());
  if (ref->entry_ == nullptr)
    ref->entry_ = ref->table_->insert(ref->position_, ref->key_, value.size());
  Entry* entry = ref->entry_;
  const bool first_change = turn_.save(ref->table_, entry, true);
  ref->table_->set_value(entry, value, first_change);
  entry->type = type;
  entry->expire_at_ms = expire_at_ms;
  if (entry->has(Entry::kPresent)) return;
  entry->flags = static_cast<uint8_t>((entry->flags & ~Entry::kUnburied) | Entry::kPresent |
                                      Entry::kReferenced);
  if (ref->database_ >= 0) set_.adjust_count(ref->table_, entry->position, 1);
  if (events_.wants_created()) note_event(KeyEvent::Kind::kCreated, ref->table_, entry);
}

void Keyspace::set_expiry(Ref* ref, int64_t expire_at_ms) {
  WEIR_CHECK(ref->exists());
  turn_.charge(ref->key_.size() +
               2 * ref->entry_->value_size);  // pays for the undo and for the log
  turn_.save(ref->table_, ref->entry_, false);
  ref->entry_->expire_at_ms = expire_at_ms;
}

void Keyspace::erase(Ref* ref) {
  if (ref->exists()) take_away(ref->table_, ref->entry_);
}

void Keyspace::take_away(Table* table, Entry* entry) {
  turn_.charge(entry->key_size);
  const bool first_change = turn_.save(table, entry, true);
  table->set_value(entry, {}, first_change);
  entry->expire_at_ms = 0;
  entry->flags &= static_cast<uint8_t>(~Entry::kPresent);
  set_.adjust_count(table, entry->position, -1);
}

void Keyspace::clear(int database) {
  turn_.charge(set_.databases().size() * sizeof(Database) + kTableBytes);
  if (!watches_.empty()) note_replaced(database, -1);
  turn_.save_databases();
  set_.clear(database);
}

void Keyspace::swap(int first, int second) {
  turn_.charge(set_.databases().size() * sizeof(Database));
  if (!watches_.empty()) {
    note_replaced(first, second);
    note_replaced(second, first);
  }
  turn_.save_databases();
  set_.swap(first, second);
}

void Keyspace::visit_system(
    std::string_view prefix,
    const std::function<void(std::string_view key, std::string_view value)>& visit) const {
  visit_entries(set_.system_table(), prefix, visit);
}

uint64_t Keyspace::scan(int database, uint64_t cursor, size_t count,
                        const std::function<void(const Seen&)>& visit) {
  uint64_t next = 0;
  Status status = walk_records(set_.table(database), store_.get(),
                               {.cursor = cursor, .count = count, .now_ms = turn_.now_ms()}, &next,
                               [&](const Seen& seen) {
                                 if (!seen.expired) visit(seen);
                               });
  if (!status.ok()) turn_.fail_to_read(std::move(status));
  return next;
}

KeyspaceFigures Keyspace::figures() const {
  figures_.turn = end_.turn;
  figures_.log_bytes_appended = end_.bytes_appended;
  figures_.written_back_turn = pass_.written_back_turn();
  figures_.unwritten = pass_.dirty + pass_.writing();
  figures_.entries = figures_.bytes = 0;
  for (const auto& table : set_.tables()) {
    figures_.entries += table->entries();
    figures_.bytes += table->bytes();
  }
  return figures_;
}

}  // namespace weir::storage
