// The lists of one table of elements that are open, as their indexes.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "storage/format/element_key.h"
#include "storage/memtable/elements_index.h"

namespace weir::storage {

class OpenLists {
 public:
  ElementsIndex* find(ElementsId id) const {
    const auto& lists = lists_[id % kParts];
    const auto found = lists.find(id);
    return found == lists.end() ? nullptr : found->second.get();
  }
  ElementsIndex* add(std::unique_ptr<ElementsIndex> list) {
    ElementsIndex* added = list.get();
    lists_[added->id() % kParts].emplace(added->id(), std::move(list));
    return added;
  }
  // Null if it is not open.
  std::unique_ptr<ElementsIndex> take(ElementsId id) {
    const auto node = lists_[id % kParts].extract(id);
    return node.empty() ? nullptr : std::move(node.mapped());
  }
  // Takes out any list; null if there are none. From then on only take_any() may be called.
  std::unique_ptr<ElementsIndex> take_any() {
    while (!lists_.empty() && lists_.back().empty()) lists_.pop_back();
    if (lists_.empty()) return nullptr;
    return std::move(lists_.back().extract(lists_.back().begin()).mapped());
  }

 private:
  // Many small maps are used because a map that grows moves everything it holds at once.
  static constexpr size_t kParts = 512;

  std::vector<std::unordered_map<ElementsId, std::unique_ptr<ElementsIndex>>> lists_ =
      std::vector<std::unordered_map<ElementsId, std::unique_ptr<ElementsIndex>>>(kParts);
};

}  // namespace weir::storage
