#include "storage/watches.h"

#include <algorithm>

namespace weir::storage {
namespace {

template <typename Index, typename Key>
void forget(Index* index, const Key& key, WatchId id) {
  auto [here, end] = index->equal_range(key);
  here = std::find_if(here, end, [&](const auto& pair) { return pair.second == id; });
  if (here != end) index->erase(here);
}

}  // namespace

WatchId Watches::add(Watched watched) {
  const WatchId id = next_++;
  by_position_.emplace(watched.position, id);
  for (const ElementsId list : watched.lists) by_list_.emplace(list, id);
  watches_.emplace(id, std::move(watched));
  return id;
}

void Watches::remove(WatchId id) {
  const auto found = watches_.find(id);
  if (found == watches_.end()) return;
  forget(&by_position_, found->second.position, id);
  for (const ElementsId list : found->second.lists) forget(&by_list_, list, id);
  watches_.erase(found);
}

void Watches::record_changes(int database, Position position, std::string_view key) {
  const auto [begin, end] = by_position_.equal_range(position);
  for (auto here = begin; here != end; ++here) {
    Watched& watched = watches_.at(here->second);
    if (watched.database == database && watched.key == key) watched.touched = true;
  }
}

void Watches::element_changes(ElementsId list) {
  const auto [begin, end] = by_list_.equal_range(list);
  for (auto here = begin; here != end; ++here) watches_.at(here->second).touched = true;
}

void Watches::touch_all() {
  for (auto& [id, watched] : watches_) watched.touched = true;
}

std::vector<WatchId> Watches::untouched(int database) const {
  std::vector<WatchId> ids;
  for (const auto& [id, watched] : watches_) {
    if (watched.database == database && !watched.touched) ids.push_back(id);
  }
  return ids;
}

}  // namespace weir::storage
