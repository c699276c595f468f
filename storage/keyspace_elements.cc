// Makes lists of elements, and buries those that no owner names any more (drops.h).
#include <algorithm>

#include "base/check.h"
#include "storage/elements_index.h"
#include "storage/keyspace.h"
#include "storage/open_lists.h"

namespace weir::storage {
namespace {

constexpr size_t kShortList = 64;  // elements that may be looked at in one go
constexpr size_t kEntriesPerSlice = 4000;
constexpr size_t kEntriesPerSliceMax = 20'000;
constexpr size_t kOwnersPerLook = 64;

}  // namespace

ElementsId Keyspace::new_elements(int database, Layout layout) {
  Table* table = set_.elements_table(set_.table(database));
  if (layout_of(next_elements_id_) != layout) ++next_elements_id_;
  const ElementsId id = next_elements_id_++;
  WEIR_CHECK(id <= kElementsIdMax);
  // A pass that is running may still come to this list, so it counts as a pass after its birth.
  const uint64_t passes = pass_.running() ? passes_begun_ - 1 : passes_begun_;
  table->open->add(std::make_unique<Elements>(&set_, &turn_, table, ListBirth{id, passes}));
  turn_.note_newborn({table->incarnation(), id});
  return id;
}

void Keyspace::rename(Ref* from, Ref* to) {
  WEIR_CHECK(from->exists() && from->database_ == to->database_);
  if (from->key_ == to->key_) return;
  const std::string payload(from->value());
  put(to, from->type(), payload, from->expire_at_ms());
  erase(from);
}

bool Keyspace::copy_elements(int from_database, ElementsId from, int to_database, ElementsId to) {
  const Elements* source = open_elements(from_database, from);
  Elements* target = open_elements(to_database, to);
  if (source == nullptr || target == nullptr) return false;
  source->walk(0, [target](const Element& element) {
    target->put(element.member, element.order, element.value);
    return true;
  });
  return true;
}

// Finds the vanished lists: those that had a name before or during the turn, or were made in it,
// and have no name at its end. Only names before and after are compared, so the result is right
// whatever the commands did.
void Keyspace::find_vanished() {
  vanished_.clear();
  if (!turn_.owners_changed() && turn_.newborn().empty()) return;
  const auto collect = [](Incarnation owners, std::string_view payload, auto* lists) {
    OwnerView owner;
    WEIR_CHECK(parse_owner(payload, &owner));
    for (const ElementsId id : owner.all()) lists->push_back({owners | kElementsBit, id});
  };
  auto& had_name = had_name_;
  auto& have_name = have_name_;
  had_name = turn_.newborn();
  have_name.clear();
  turn_.undo().for_each_present([&](const Table* table, Type type, std::string_view payload) {
    if (owns_elements(type)) collect(table->incarnation(), payload, &had_name);
  });
  for (const Entry* entry : turn_.changed()) {
    if (entry->has(Entry::kPresent) && owns_elements(entry->type))
      collect(entry->incarnation, entry->value(), &have_name);
  }
  std::sort(had_name.begin(), had_name.end());
  had_name.erase(std::unique(had_name.begin(), had_name.end()), had_name.end());
  std::sort(have_name.begin(), have_name.end());
  std::set_difference(had_name.begin(), had_name.end(), have_name.begin(), have_name.end(),
                      std::back_inserter(vanished_));
}

void Keyspace::bury(const Drops::List& list) {
  Table* table = set_.table_of(list.incarnation);
  if (table == nullptr) return;  // the database was cleared
  auto open = table->open->take(list.id);
  const bool whole = open != nullptr && open->index().whole();
  if (whole && open->size() <= kShortList) return bury_short(table, *open);
  const bool stored = open == nullptr || open->passes_at_birth() != passes_begun_;
  if (open != nullptr) drops_.closed.push_back(std::move(open));
  drops_.dying.push_back({list, stored});
}

void Keyspace::bury_short(Table* table, const Elements& list) {
  for (const ElementNode& node : list.index().nodes()) {
    table->set_value(node.entry, {}, false);
    node.entry->flags &= static_cast<uint8_t>(~Entry::kPresent);
    if (node.entry->has(Entry::kDirty)) continue;
    table->mark_dirty(node.entry);
    ++pass_.dirty;
  }
}

// Buries expired owners with their lists. REQUIRES: no pass is running, no turn is in progress.
void Keyspace::bury_expired() {
  for (size_t looks = 0; looks < kEntriesPerSlice && !drops_.expired.empty();) {
    const Drops::Expired expired = std::move(drops_.expired.front());
    drops_.expired.pop_front();
    Table* owners = set_.table_of(expired.incarnation);
    if (owners == nullptr) continue;  // cleared meanwhile
    for (const ElementsId id : expired.ids) bury({owners->incarnation() | kElementsBit, id});
    looks += kShortList * expired.ids.size();
    Entry* entry = owners->find(expired.position, expired.key);
    if (entry == nullptr || !entry->has(Entry::kUnburied)) continue;
    entry->flags &= static_cast<uint8_t>(~Entry::kUnburied);
    owners->set_value(entry, {}, false);
    if (entry->has(Entry::kDirty)) continue;
    owners->mark_dirty(entry);
    ++pass_.dirty;
  }
}

// Frees the entries of dying lists. REQUIRES: no pass is running, because a pass points to entries.
void Keyspace::free_dying() {
  size_t budget = std::clamp(changed_last_turn_ * 8, kEntriesPerSlice, kEntriesPerSliceMax);
  while (budget > 0 && !drops_.dying.empty()) {
    const Drops::Dying dying = drops_.dying.front();
    Table* table = set_.table_of(dying.list.incarnation);
    if (table != nullptr && !free_some(table, dying.list.id, &budget)) return;
    if (table != nullptr && dying.stored) drops_.erase_range_of(dying.list);
    drops_.dying.pop_front();
    drops_.dying_position = 0;
  }
}

// Frees a list's entries within the budget. False if some are left when it is used up.
bool Keyspace::free_some(Table* table, ElementsId id, size_t* budget) {
  const Position last = last_position(id);
  Position position = std::max(drops_.dying_position, first_position(id));
  while (*budget > 0) {
    Segment* segment = table->segment_at(position);
    const Position segment_last = segment->last();
    victims_.clear();
    Table::append_range(segment, position, last, &victims_);
    pass_.dirty -= table->forget_dirty(segment, position, last);
    for (Entry* entry : victims_) table->erase(entry);
    *budget -= std::min(*budget, victims_.size() + 1);
    if (segment_last >= last) return true;
    position = drops_.dying_position = segment_last + 1;
  }
  return false;
}

void Keyspace::shrink_closed() {
  for (size_t budget = kEntriesPerSlice; budget > 0 && drops_.indexes_wait();) {
    if (drops_.closed.empty()) {
      if (auto list = drops_.closed_tables.back()->take_any()) {
        drops_.closed.push_back(std::move(list));
      } else {
        drops_.closed_tables.pop_back();
      }
      --budget;
      continue;
    }
    const size_t size = drops_.closed.back()->size();
    if (!drops_.closed.back()->index().shrink(budget)) drops_.closed.pop_back();
    budget -= std::min(budget, size);
  }
}

// Closes an owner's lists when the owner leaves memory, so that its elements can follow.
void Keyspace::close_lists(Table* table, const Entry* owner) {
  OwnerView view;
  WEIR_CHECK(parse_owner(owner->value(), &view));
  if (table->elements == nullptr) return;
  for (const ElementsId id : view.all()) {
    auto list = table->elements->open->take(id);
    if (list != nullptr && list->size() > kShortList) drops_.closed.push_back(std::move(list));
  }
}

// The store never drops an expired owner but tells of it. Loading such an owner notes it as
// unburied, which is all that is needed.
void Keyspace::look_at_expired_owners() {
  for (const std::string& stored_key : store_->take_expired_owners(kOwnersPerLook)) {
    const auto key = parse_stored_key(stored_key);
    Table* table = key ? set_.table_of(key->incarnation) : nullptr;
    if (table != nullptr && table->find(key->position, key->key) == nullptr)
      load(table, key->position, key->key);
  }
}

}  // namespace weir::storage
