#include "storage/memtable/elements.h"

#include <algorithm>

#include "base/check.h"
#include "storage/memtable/elements_index.h"
#include "storage/memtable/turn_in_progress.h"

namespace weir::storage {
namespace {

constexpr uint64_t kKeyOrderHashMask = (uint64_t{1} << (kElementHashBits - kUnstoredBits)) - 1;

Element element_of(const Entry* entry) {
  return {.member = entry->key(),
          .order = order_of(entry),
          .value = entry->value().substr(kOrderBytes)};
}

uint64_t hash_of(KeyOrder key_order) { return key_order >> kUnstoredBits & kKeyOrderHashMask; }

}  // namespace

Elements::Elements(const HashSeed& seed, TurnInProgress* turn, Table* table, ElementsIndex* index)
    : seed_(&seed), turn_(turn), table_(table), index_(index), id_(index->id()) {}

size_t Elements::size() const { return index_->size(); }

KeyOrder Elements::key_order_of(std::string_view member) const {
  return key_order_of_element(id_, member, *seed_);
}

Entry* Elements::find_entry(std::string_view member) const {
  Entry* entry = table_->find(key_order_of(member), member);
  return entry != nullptr && entry->has(Entry::kPresent) ? entry : nullptr;
}

std::optional<Element> Elements::find(std::string_view member) const {
  const Entry* entry = find_entry(member);
  return entry == nullptr ? std::nullopt : std::optional(element_of(entry));
}

Element Elements::at(size_t rank) const {
  WEIR_CHECK(rank < size());
  const auto& nodes = index_->nodes();
  if (rank == 0) return element_of(nodes.begin()->entry);
  if (rank == size() - 1) return element_of(nodes.rbegin()->entry);
  return element_of(nodes.nth(rank)->entry);
}

std::optional<size_t> Elements::rank_of(std::string_view member) const {
  const Entry* entry = find_entry(member);
  return entry == nullptr ? std::nullopt : std::optional(lower_bound(order_of(entry), member));
}

size_t Elements::lower_bound(uint64_t order, std::string_view member) const {
  return index_->nodes().rank(index_->nodes().lower_bound(ElementRank{order, member}));
}

size_t Elements::upper_bound(uint64_t order) const {
  return order == UINT64_MAX ? size() : lower_bound(order + 1);
}

size_t Elements::walk(size_t first_rank, const Visit& visit) const {
  size_t visited = 0;
  for (auto at = index_->nodes().nth(first_rank); at != index_->nodes().end(); ++at) {
    ++visited;
    if (!visit(element_of(at->entry))) break;
  }
  return visited;
}

size_t Elements::walk_back(size_t first_rank, const Visit& visit) const {
  if (empty()) return 0;
  auto at = index_->nodes().nth(std::min(first_rank, size() - 1));
  size_t visited = 1;
  while (visit(element_of(at->entry)) && at != index_->nodes().begin()) --at, ++visited;
  return visited;
}

uint64_t Elements::scan(uint64_t cursor, size_t count,
                        const std::function<void(const Element&)>& visit) const {
  if (cursor > kKeyOrderHashMask) return 0;
  KeyOrder key_order = first_key_order(id_) | cursor << kUnstoredBits;
  const KeyOrder last = last_key_order(id_);
  std::vector<Entry*> entries;
  size_t visited = 0;
  uint64_t hash = cursor;  // elements with one hash are visited in one call
  while (true) {
    const Segment* segment = table_->segment_at(key_order);
    const KeyOrder segment_last = segment->last();
    entries.clear();
    Table::append_range(segment, key_order, last, &entries);
    for (const Entry* entry : entries) {
      if (!entry->has(Entry::kPresent)) continue;
      if (visited >= count && hash_of(entry->key_order) != hash) return hash_of(entry->key_order);
      hash = hash_of(entry->key_order);
      visit(element_of(entry));
      ++visited;
    }
    if (segment_last >= last) return 0;
    key_order = segment_last + 1;
  }
}

bool Elements::put(std::string_view member, uint64_t order, std::string_view value) {
  return set(member, order, value, false);
}

bool Elements::add(std::string_view member, uint64_t order, std::string_view value) {
  return set(member, order, value, true);
}

// Puts an element; true if there was none.
bool Elements::set(std::string_view member, uint64_t order, std::string_view value,
                   bool if_absent) {
  std::string& payload = *turn_->payload();
  payload.clear();
  put_u64_be(&payload, order);
  payload.append(value);
  const KeyOrder key_order = key_order_of(member);
  Entry* entry = table_->find(key_order, member);
  if (if_absent && entry != nullptr && entry->has(Entry::kPresent)) return false;
  if (entry == nullptr) turn_->admit_name("a field or member", member.size());
  turn_->charge(member.size() + payload.size());
  if (entry == nullptr) {
    entry = table_->insert(key_order, member, payload.size());
    entry->flags |= Entry::kUnstored;  // the list is open, so whatever the state has is in memory
  }
  const bool is_new = !entry->has(Entry::kPresent);
  const bool moves = is_new || order_of(entry) != order;
  const bool first_change = turn_->save(table_, entry, true);
  if (!is_new && moves) index_->take_out(entry);
  table_->set_value(entry, payload, first_change);
  entry->type = Type::kElement;
  entry->flags |= Entry::kPresent;
  if (moves) index_->put_in(entry);
  return is_new;
}

bool Elements::erase(std::string_view member) {
  Entry* entry = find_entry(member);
  if (entry == nullptr) return false;
  turn_->charge(member.size());
  index_->take_out(entry);
  take_value(entry);
  return true;
}

void Elements::erase_ranks(size_t first_rank, size_t count) {
  WEIR_CHECK(count <= size() && first_rank <= size() - count);
  if (count == 0) return;
  turn_->charge(count * DirtyBytes::kChangeBytes);
  auto node = index_->nodes().nth(first_rank);
  for (size_t left = count; left > 0; --left) {
    Entry* entry = node->entry;
    node = index_->erase(node);
    take_value(entry);
  }
}

void Elements::take_value(Entry* entry) {
  const bool first_change = turn_->save(table_, entry, true);
  table_->set_value(entry, {}, first_change);
  entry->flags &= static_cast<uint8_t>(~Entry::kPresent);
}

}  // namespace weir::storage
