#include "storage/memtable/watches.h"

#include <algorithm>
#include <utility>

#include "base/heap_bytes.h"
#include "storage/format/header.h"

namespace weir::storage {
namespace {

template <typename Index, typename Key>
void forget(Index* index, const Key& key, WatchId id) {
  auto [here, end] = index->equal_range(key);
  here = std::find_if(here, end, [&](const auto& pair) { return pair.second == id; });
  if (here != end) index->erase(here);
}

}  // namespace

WatchId Watches::add(const Ref& ref, std::shared_ptr<bool> any_touched) {
  Watched watched{.database = ref.database(),
                  .key_order = ref.key_order(),
                  .key = std::string(ref.key()),
                  .existed = ref.exists(),
                  .expire_at_ms = ref.expire_at_ms(),
                  .lists = {},
                  .any_touched = std::move(any_touched)};
  HeaderView header;
  if (owns_elements(ref.type()) && parse_header(ref.value(), &header)) {
    const auto ids = header.all();
    watched.lists.assign(ids.begin(), ids.end());
  }
  const WatchId id = next_++;
  by_key_order_.emplace(watched.key_order, id);
  for (const ElementsId list : watched.lists) by_list_.emplace(list, id);
  watches_.emplace(id, std::move(watched));
  return id;
}

bool Watches::changed(WatchId id, int64_t now_ms) const {
  const Watched& watched = watches_.at(id);
  const bool ended = watched.expire_at_ms != 0 && now_ms > watched.expire_at_ms;
  return watched.touched || ended;
}

size_t Watches::memory_bytes(WatchId id) const {
  const Watched& watched = watches_.at(id);
  return memory_bytes(watched.key) + heap_bytes(watched.lists) +
         watched.lists.size() * hash_node_bytes<ByList::value_type>();
}

size_t Watches::memory_bytes(const std::string& key) {
  return hash_node_bytes<ById::value_type>() + heap_bytes(key) +
         hash_node_bytes<ByKeyOrder::value_type>();
}

void Watches::remove(WatchId id) {
  const auto found = watches_.find(id);
  if (found == watches_.end()) return;
  forget(&by_key_order_, found->second.key_order, id);
  for (const ElementsId list : found->second.lists) forget(&by_list_, list, id);
  watches_.erase(found);
}

void Watches::record_changes(int database, KeyOrder key_order, std::string_view key) {
  const auto [begin, end] = by_key_order_.equal_range(key_order);
  for (auto here = begin; here != end; ++here) {
    Watched& watched = watches_.at(here->second);
    if (watched.database == database && watched.key == key) watched.touch();
  }
}

void Watches::element_changes(ElementsId list) {
  const auto [begin, end] = by_list_.equal_range(list);
  for (auto here = begin; here != end; ++here) watches_.at(here->second).touch();
}

void Watches::touch_all() {
  for (auto& [id, watched] : watches_) watched.touch();
}

std::vector<WatchId> Watches::untouched(int database) const {
  std::vector<WatchId> ids;
  for (const auto& [id, watched] : watches_) {
    if (watched.database == database && !watched.touched) ids.push_back(id);
  }
  return ids;
}

}  // namespace weir::storage
