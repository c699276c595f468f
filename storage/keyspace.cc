#include "storage/keyspace.h"

#include <algorithm>

#include "base/check.h"
#include "storage/owner.h"
#include "storage/scan.h"

namespace weir::storage {
namespace {

constexpr size_t kTableBytes = 1024;  // about what an empty table takes
constexpr size_t kDebtBytesLeast = 8 << 20;
constexpr size_t kDebtBytesMost = 1 << 30;

}  // namespace

Keyspace::Keyspace(StoreFactory make_store, KeyspaceOptions options)
    : make_store_(std::move(make_store)), options_(options) {}

Keyspace::~Keyspace() {
  store_.reset();  // the store's threads may call notify, and a pass points into the tables
}

void Keyspace::set_options(const KeyspaceOptions& options) {
  const int databases = options_.databases;
  options_ = options;
  options_.databases = databases;
  if (turn_bytes_ == 0) set_turn_bytes_max();
}

void Keyspace::begin_command(int64_t now_ns) {
  WEIR_CHECK(now_ns >= now_ns_);
  now_ns_ = now_ns;
  now_ms_ = now_ns / 1'000'000;
  transaction_begin_bytes_ = turn_bytes_;
  begin_next_of_transaction(now_ns);
}

void Keyspace::begin_next_of_transaction(int64_t now_ns) {
  WEIR_CHECK(now_ns == now_ns_);
  ++stamp_;
  failure_ = {};
  command_mark_ = mark();
}

Keyspace::Mark Keyspace::mark() const {
  return {.undo = undo_.mark(),
          .changed = changed_.size(),
          .databases = databases_undo_.size(),
          .newborn = newborn_.size(),
          .events = events_.size(),
          .turn_bytes = turn_bytes_};
}

void Keyspace::roll_back(const Mark& mark) {
  const auto restoring = [](Table* table, Entry* entry) {
    if (!table->has_elements() || !entry->has(Entry::kPresent)) return;
    if (Elements* list = open_list_of(table, entry)) list->take_out(entry);
  };
  const auto restored = [this](Table* table, Entry* entry, bool was_present) {
    const bool present = entry->has(Entry::kPresent);
    if (table->has_elements()) {
      if (!present) return;
      if (Elements* list = open_list_of(table, entry)) list->put_in(entry);
      return;
    }
    if (present != was_present) set_.adjust_count(table, entry->position, present ? 1 : -1);
  };
  while (databases_undo_.size() > mark.databases) {
    undo_.roll_back(databases_undo_.back().undo_mark, restoring, restored);
    set_.restore(std::move(databases_undo_.back().databases));
    databases_undo_.pop_back();
  }
  undo_.roll_back(mark.undo, restoring, restored);
  changed_.resize(mark.changed);
  forget_newborn(mark.newborn);
  if (!events_.empty()) forget_created(mark.events);
  turn_bytes_ = mark.turn_bytes;
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
  if (ref.entry_->has(Entry::kPresent) && ref.entry_->expired(now_ms_))
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
  if (store_ == nullptr) {
    failure_ = Status::failed("the store is closed after a failure");
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
    failure_ = std::move(status);
    return nullptr;
  }
  const bool expired = value.expire_at_ms != 0 && now_ms_ > value.expire_at_ms;
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
  if (wants_expired_ && !table->has_elements()) note_event(KeyEvent::Kind::kExpired, table, entry);
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

void Keyspace::save_for_undo(Table* table, Entry* entry, bool value_goes) {
  if (entry->has(Entry::kChanged) && entry->stamp == stamp_) return;
  if (!watches_.empty()) note_change(table, entry);
  undo_.save(table, entry, value_goes);
  entry->stamp = stamp_;
  owners_changed_ |= owns_elements(entry->type);
  if (entry->has(Entry::kChanged)) return;
  entry->flags |= Entry::kChanged;
  changed_.push_back(entry);
}

void Keyspace::put(Ref* ref, Type type, std::string_view value, int64_t expire_at_ms) {
  // If a read has failed, nobody has seen that this key is absent, so no entry may be made for it.
  if (ref->entry_ == nullptr && ref->database_ >= 0 && !failure_.ok()) return;
  if (ref->database_ >= 0) charge(ref->key_.size() + value.size());
  if (ref->entry_ == nullptr)
    ref->entry_ = ref->table_->insert(ref->position_, ref->key_, value.size());
  Entry* entry = ref->entry_;
  const bool first_change = !entry->has(Entry::kChanged) || entry->stamp != stamp_;
  save_for_undo(ref->table_, entry, true);
  ref->table_->set_value(entry, value, first_change);
  entry->type = type;
  entry->expire_at_ms = expire_at_ms;
  if (entry->has(Entry::kPresent)) return;
  entry->flags = static_cast<uint8_t>((entry->flags & ~Entry::kUnburied) | Entry::kPresent |
                                      Entry::kReferenced);
  if (ref->database_ >= 0) set_.adjust_count(ref->table_, entry->position, 1);
  if (wants_created_) note_event(KeyEvent::Kind::kCreated, ref->table_, entry);
}

void Keyspace::set_expiry(Ref* ref, int64_t expire_at_ms) {
  WEIR_CHECK(ref->exists());
  charge(ref->key_.size() + 2 * ref->entry_->value_size);  // pays for the undo and for the log
  save_for_undo(ref->table_, ref->entry_, false);
  ref->entry_->expire_at_ms = expire_at_ms;
}

void Keyspace::erase(Ref* ref) {
  if (ref->exists()) take_away(ref->table_, ref->entry_);
}

void Keyspace::take_away(Table* table, Entry* entry) {
  charge(entry->key_size);
  const bool first_change = !entry->has(Entry::kChanged) || entry->stamp != stamp_;
  save_for_undo(table, entry, true);
  table->set_value(entry, {}, first_change);
  entry->expire_at_ms = 0;
  entry->flags &= static_cast<uint8_t>(~Entry::kPresent);
  set_.adjust_count(table, entry->position, -1);
}

size_t Keyspace::debt_bytes_max() const {
  return std::clamp(options_.memory_bytes_max / 2, kDebtBytesLeast, kDebtBytesMost);
}

// Sets what the next turn may change. REQUIRES: no turn is in progress. The debt can only shrink
// until the next turn begins.
void Keyspace::set_turn_bytes_max() {
  turn_bytes_ = transaction_begin_bytes_ = 0;
  owed_bytes_ = pass_.writing_bytes() + set_.dirty_bytes();
  const size_t most = debt_bytes_max();
  turn_bytes_max_ = most - std::min(most, owed_bytes_);
  turn_bytes_worry_ = turn_bytes_max_ - std::min(turn_bytes_max_, most / 4);
}

void Keyspace::refuse_change() {
  const bool too_much = turn_bytes_ - transaction_begin_bytes_ > debt_bytes_max();
  fail(too_much || !can_write_back()
           ? Status::too_much("more was changed than memory may owe the disk (half of maxmemory, " +
                              std::to_string(debt_bytes_max()) + " bytes)")
           : Status::behind());
  throw ChangeRefused();
}

void Keyspace::clear(int database) {
  charge(set_.databases().size() * sizeof(Database) + kTableBytes);
  if (!watches_.empty()) note_replaced(database, -1);
  databases_undo_.push_back({undo_.mark(), set_.databases()});
  set_.clear(database);
}

void Keyspace::swap(int first, int second) {
  charge(set_.databases().size() * sizeof(Database));
  if (!watches_.empty()) {
    note_replaced(first, second);
    note_replaced(second, first);
  }
  databases_undo_.push_back({undo_.mark(), set_.databases()});
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
                               {.cursor = cursor, .count = count, .now_ms = now_ms_}, &next,
                               [&](const Seen& seen) {
                                 if (!seen.expired) visit(seen);
                               });
  if (!status.ok()) failure_ = std::move(status);
  return next;
}

KeyspaceFigures Keyspace::figures() const {
  figures_.turn = turn_;
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
