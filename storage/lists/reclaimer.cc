#include "storage/lists/reclaimer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "storage/memtable/elements_index.h"
#include "storage/memtable/entry_memory.h"
#include "storage/memtable/open_lists.h"
#include "storage/memtable/turn_in_progress.h"

namespace weir::storage {
namespace {

constexpr size_t kShortList = 64;  // elements that may be looked at in one go

void collect(Generation headers, std::string_view payload, std::vector<ListName>* lists) {
  HeaderView header;
  WEIR_CHECK(parse_header(payload, &header));
  for (const ElementsId id : header.all()) lists->push_back({headers | kElementsBit, id});
}

void append(const std::vector<ListName>& lists, std::vector<ListName>* to) {
  to->insert(to->end(), lists.begin(), lists.end());
}

}  // namespace

Reclaimer::Reclaimer(WorkingSet* set, WriteBack* write_back)
    : set_(*set), write_back_(*write_back) {}

Reclaimer::~Reclaimer() = default;

void Reclaimer::close(std::unique_ptr<ElementsIndex> list) { closed_.push_back(std::move(list)); }

void Reclaimer::mark_dirty(Table* table, Entry* entry) {
  if (entry->has(Entry::kDirty)) return;
  table->mark_dirty(entry);
  ++write_back_.dirty;
}

void Reclaimer::note_expired(Table* table, Entry* entry, const HeaderView& header) {
  entry->flags |= Entry::kUnreclaimed;
  const auto ids = header.all();
  expired_.push_back({.generation = table->generation(),
                      .key_order = entry->key_order,
                      .key = std::string(entry->key()),
                      .ids = {ids.begin(), ids.end()}});
  for (const ElementsId id : ids) unlogged_.push_back({table->generation() | kElementsBit, id});
}

void Reclaimer::note_had_names(Generation headers, std::string_view payload) {
  collect(headers, payload, &had_name_);
}

void Reclaimer::note_have_names(Generation headers, std::string_view payload) {
  collect(headers, payload, &have_name_);
}

void Reclaimer::find_vanished(const TurnInProgress& turn) {
  vanished_.clear();
  if (!turn.headers_changed() && turn.newborn().empty()) return;
  had_name_ = turn.newborn();
  turn.undo().for_each_present([&](const Table* table, Type type, std::string_view payload) {
    if (owns_elements(type)) collect(table->generation(), payload, &had_name_);
  });
  for (const Entry* entry : turn.changed()) {
    if (entry->has(Entry::kPresent) && owns_elements(entry->type))
      collect(entry->generation, entry->value(), &have_name_);
  }
  compare_names();
}

void Reclaimer::compare_names() {
  vanished_.clear();
  std::sort(had_name_.begin(), had_name_.end());
  had_name_.erase(std::unique(had_name_.begin(), had_name_.end()), had_name_.end());
  std::sort(have_name_.begin(), have_name_.end());
  std::set_difference(had_name_.begin(), had_name_.end(), have_name_.begin(), have_name_.end(),
                      std::back_inserter(vanished_));
  had_name_.clear();
  have_name_.clear();
}

void Reclaimer::reclaim_vanished() {
  for (const ListName& list : vanished_) reclaim(list);
  vanished_.clear();
}

void Reclaimer::reclaim(const ListName& list) {
  Table* table = set_.table_of(list.generation);
  if (table == nullptr) return;  // the database was cleared
  auto open = table->open->take(list.id);
  if (open != nullptr && open->whole() && open->size() <= kShortList)
    return reclaim_short(table, *open);
  const bool stored = open == nullptr || open->write_backs_at_birth() != write_backs_begun_;
  if (open != nullptr) close(std::move(open));
  reclaimable_.push_back({list, stored});
}

void Reclaimer::reclaim_short(Table* table, const ElementsIndex& list) {
  for (const ElementNode& node : list.nodes()) {
    table->set_value(node.entry, {}, false);
    node.entry->flags &= static_cast<uint8_t>(~Entry::kPresent);
    mark_dirty(table, node.entry);
  }
}

void Reclaimer::drop(Table* table) {
  // The dirty entries of this table will never be written back; the write-back counts those that it
  // has in hand.
  write_back_.dirty -= table->dirty();
  dropped_.push_back(table->generation());
  if (table->has_elements()) closed_tables_.push_back(std::move(table->open));
}

void Reclaimer::drop_stored(Generation generation) {
  if (std::find(dropped_.begin(), dropped_.end(), generation) == dropped_.end())
    dropped_.push_back(generation);
}

void Reclaimer::note_logged() {
  unlogged_.clear();
  unlogged_in_write_back_.clear();
}

void Reclaimer::owe() {
  for (const Reclaimable& next : reclaimable_) unlogged_.push_back(next.list);
  append(erasable_, &unlogged_);
}

void Reclaimer::close_lists(Table* table, const Entry* header) {
  HeaderView view;
  WEIR_CHECK(parse_header(header->value(), &view));
  if (table->elements == nullptr) return;
  for (const ElementsId id : view.all()) {
    auto list = table->elements->open->take(id);
    if (list != nullptr && list->size() > kShortList) close(std::move(list));
  }
}

size_t Reclaimer::reclaim_some(size_t units) {
  return expired_.empty() ? free_reclaimable(units) : reclaim_expired(units);
}

// Reclaims expired headers with their lists.
size_t Reclaimer::reclaim_expired(size_t units) {
  size_t spent = 0;
  while (spent < units && !expired_.empty()) {
    const Expired expired = std::move(expired_.front());
    expired_.pop_front();
    ++spent;
    Table* headers = set_.table_of(expired.generation);
    if (headers == nullptr) continue;  // cleared meanwhile
    for (const ElementsId id : expired.ids) reclaim({headers->generation() | kElementsBit, id});
    spent += kShortList * expired.ids.size();
    Entry* entry = headers->find(expired.key_order, expired.key);
    if (entry != nullptr && entry->has(Entry::kUnreclaimed)) reclaim_header(headers, entry);
  }
  return spent;
}

void Reclaimer::reclaim_header(Table* headers, Entry* entry) {
  entry->flags &= static_cast<uint8_t>(~Entry::kUnreclaimed);
  headers->set_value(entry, {}, false);
  mark_dirty(headers, entry);
}

// Frees the entries of reclaimable lists.
size_t Reclaimer::free_reclaimable(size_t units) {
  size_t spent = 0;
  while (spent < units && !reclaimable_.empty()) {
    const Reclaimable next = reclaimable_.front();
    Table* table = set_.table_of(next.list.generation);
    ++spent;
    if (table != nullptr && !free_some(table, next.list.id, units, &spent)) break;
    if (table != nullptr && next.stored) erase_range_of(next.list);
    reclaimable_.pop_front();
    reclaimable_key_order_ = 0;
  }
  return spent;
}

// Frees a list's entries, with about `units` work units in all. False if some are left then.
bool Reclaimer::free_some(Table* table, ElementsId id, size_t units, size_t* spent) {
  // Only where a turn that no primary made has named a dropped list can somebody have opened it
  // again.
  if (auto open = table->open->take(id)) close(std::move(open));
  const KeyOrder last = last_key_order(id);
  KeyOrder key_order = std::max(reclaimable_key_order_, first_key_order(id));
  while (*spent < units) {
    Segment* segment = table->segment_at(key_order);
    const KeyOrder segment_last = segment->last();
    freed_.clear();
    Table::append_range(segment, key_order, last, &freed_);
    write_back_.dirty -= table->forget_dirty(segment, key_order, last);
    ++*spent;
    for (Entry* entry : freed_) {
      *spent += units_to_free(entry);
      table->erase(entry);
    }
    if (segment_last >= last) return true;
    key_order = reclaimable_key_order_ = segment_last + 1;
  }
  return false;
}

size_t Reclaimer::shrink_closed(size_t units) {
  size_t budget = units;
  while (budget > 0 && indexes_wait()) {
    if (closed_.empty()) {
      if (auto list = closed_tables_.back()->take_any()) {
        closed_.push_back(std::move(list));
      } else {
        closed_tables_.pop_back();
      }
      --budget;
      continue;
    }
    const size_t size = closed_.back()->size();
    if (!closed_.back()->shrink(budget)) closed_.pop_back();
    budget -= std::min(budget, size + 1);
  }
  return units - budget;
}

void Reclaimer::erase_range_of(const ListName& list) {
  erasable_.push_back(list);
  const KeyOrder last = last_key_order(list.id);
  // The range that follows the last key order of all begins with the next generation.
  ranges_.erase_range(stored_key_prefix(list.generation, first_key_order(list.id)),
                      last == ~KeyOrder{0} ? stored_key_prefix(list.generation + 1)
                                           : stored_key_prefix(list.generation, last + 1));
}

StateSlice Reclaimer::begin_write_back() {
  WEIR_CHECK(!lists_wait());
  ++write_backs_begun_;
  StateSlice ranges = std::exchange(ranges_, {});
  for (const Generation generation : dropped_)
    ranges.erase_range(stored_key_prefix(generation), stored_key_prefix(generation + 1));
  dropping_.swap(dropped_);
  dropped_.clear();
  erasing_.swap(erasable_);
  unlogged_in_write_back_.swap(unlogged_);
  return ranges;
}

void Reclaimer::end_write_back(bool done) {
  if (!done) {
    const std::vector<ListName> again = std::exchange(erasing_, {});
    for (const ListName& list : again) erase_range_of(list);
    append(unlogged_in_write_back_, &unlogged_);
    dropped_.insert(dropped_.end(), dropping_.begin(), dropping_.end());
  }
  erasing_.clear();
  unlogged_in_write_back_.clear();
  dropping_.clear();
}

void Reclaimer::forget() {
  vanished_.clear();
  had_name_.clear();
  have_name_.clear();
  expired_.clear();
  unlogged_.clear();
  unlogged_in_write_back_.clear();
  reclaimable_.clear();
  reclaimable_key_order_ = 0;
  erasable_.clear();
  ranges_ = {};
  erasing_.clear();
  dropped_.clear();
  dropping_.clear();
  closed_.clear();
  closed_tables_.clear();
}

}  // namespace weir::storage
