// Walks of a table in cursor order: the entries in memory and the records in the state, merged.
// Memory wins: it is newer, and an absent entry hides what the state still has. A walk changes
// nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "storage/memtable/ref.h"
#include "storage/memtable/table.h"
#include "storage/store/store.h"

namespace weir::storage {

struct Walk {
  uint64_t cursor = 0;  // where to begin
  size_t count = 0;
  int64_t now_ms = 0;
};

// Visits records in cursor order until at least `count` live ones were visited or ten times as many
// places were looked at. `next` gets the cursor to go on from, 0 at the end or where reading
// failed. Expired records are shown too, marked as such. `store` may be null only if the table is
// complete.
Status walk_records(const Table* table, Store* store, const Walk& walk, uint64_t* next,
                    const std::function<void(const Seen&)>& visit);

// Visits the records in memory whose keys begin with a prefix.
void visit_entries(const Table* table, std::string_view prefix,
                   const std::function<void(std::string_view key, std::string_view value)>& visit);

}  // namespace weir::storage
