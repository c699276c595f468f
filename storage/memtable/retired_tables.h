// Tables that no database names any more: first a running write-back may point to their entries,
// then they are destroyed a little at a time.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "storage/memtable/table.h"

namespace weir::storage {

class RetiredTables {
 public:
  void add(std::unique_ptr<Table> table) { retired_.push_back(std::move(table)); }
  // No write-back points to what was added any more, so it may be destroyed.
  void release() {
    released_.insert(released_.end(), std::make_move_iterator(retired_.begin()),
                     std::make_move_iterator(retired_.end()));
    retired_.clear();
  }
  // Destroys some of that, with about `units` work units; any_released() is true while any is left.
  void destroy(size_t units) {
    if (any_released() && !released_.back()->shrink(units)) released_.pop_back();
  }
  bool any_released() const { return !released_.empty(); }
  void forget() {
    retired_.clear();
    released_.clear();
  }

 private:
  std::vector<std::unique_ptr<Table>> retired_;
  std::vector<std::unique_ptr<Table>> released_;
};

}  // namespace weir::storage
