#include "storage/memtable/working_set.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "storage/memtable/open_lists.h"

namespace weir::storage {

void WorkingSet::begin(const HashSeed& seed, size_t databases) {
  seed_ = seed;
  add_table(kSystemGeneration)->complete = true;
  databases_.resize(databases);
}

void WorkingSet::forget() {
  databases_.clear();
  tables_.clear();
  retired_.forget();
  expired_unseen_ = false;
  dropped_seen_ = 0;
  count_in_progress_ = {};
  databases_changed_ = false;
}

Table* WorkingSet::table_of(Generation generation) const {
  const auto place = std::lower_bound(
      tables_.begin(), tables_.end(), generation,
      [](const auto& table, Generation wanted) { return table->generation() < wanted; });
  return place != tables_.end() && (*place)->generation() == generation ? place->get() : nullptr;
}

Table* WorkingSet::add_table(Generation generation) {
  if (Table* known = table_of(generation)) return known;
  auto table = std::make_unique<Table>(generation, &totals_);
  Table* added = table.get();
  const auto place = std::find_if(tables_.begin(), tables_.end(), [&](const auto& other) {
    return other->generation() > generation;
  });
  tables_.insert(place, std::move(table));
  return added;
}

Table* WorkingSet::elements_table(Table* headers) {
  if (headers->elements == nullptr) {
    headers->elements = add_table(headers->generation() | kElementsBit);
    headers->elements->complete = true;
  }
  return headers->elements;
}

std::vector<Table*> WorkingSet::retire_unused() {
  std::vector<Table*> unused;
  for (auto it = tables_.begin() + 1; it != tables_.end();) {
    const bool used =
        std::any_of(databases_.begin(), databases_.end(), [&](const Database& database) {
          return database.table == it->get() ||
                 (database.table != nullptr && database.table->elements == it->get());
        });
    if (used) {
      ++it;
      continue;
    }
    unused.push_back(it->get());
    (*it)->leave_totals();
    retired_.add(std::move(*it));
    it = tables_.erase(it);
  }
  return unused;
}

int WorkingSet::database_of(const Table* table) const {
  for (size_t i = 0; i < databases_.size(); ++i) {
    if (databases_[i].table == table) return static_cast<int>(i);
  }
  return -1;
}

bool WorkingSet::usable() const {
  return !databases_.empty() &&
         std::all_of(databases_.begin(), databases_.end(),
                     [](const Database& database) { return database.table != nullptr; });
}

void WorkingSet::clear(int database) {
  WEIR_REQUIRE(next_generation_ < kElementsBit);
  Table* table = add_table(next_generation_++);
  table->complete = true;
  this->database(database) = {.table = table, .count = 0, .changed = true};
  databases_changed_ = true;
}

void WorkingSet::swap(int first, int second) {
  std::swap(database(first), database(second));
  database(first).changed = database(second).changed = true;
  databases_changed_ = true;
}

void WorkingSet::adjust_count(Table* table, KeyOrder key_order, int change) {
  if (counts_are_told_) return;
  count_in_progress_.note_key(table, key_order, change);
  for (Database& database : databases_) {
    if (database.table != table) continue;
    if (change < 0 && database.count == 0) {
      database.count_doubtful = true;
      return;
    }
    database.count = static_cast<uint64_t>(static_cast<int64_t>(database.count) + change);
    database.changed = databases_changed_ = true;
    return;
  }
}

void WorkingSet::set_count(int database, uint64_t count) {
  Database& counted = this->database(database);
  if (counted.count == count) return;
  counted.count = count;
  counted.changed = databases_changed_ = true;
}

void WorkingSet::note_dropped(uint64_t records_dropped) {
  if (records_dropped == dropped_seen_ && !expired_unseen_) return;
  expired_unseen_ = false;
  dropped_seen_ = records_dropped;
  for (Database& database : databases_)
    database.count_doubtful |= database.table != nullptr && !database.table->complete;
}

void WorkingSet::tell_counts(bool told) {
  if (counts_are_told_ && !told) {
    for (Database& database : databases_) database.count_doubtful = true;
  }
  counts_are_told_ = told;
}

void WorkingSet::mark_all_changed() {
  for (Database& database : databases_) database.changed = true;
  databases_changed_ = true;
}

void WorkingSet::settle() {
  for (Database& database : databases_) database.changed = false;
  databases_changed_ = false;
}

}  // namespace weir::storage
