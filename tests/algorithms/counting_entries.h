// Entries that count how often they are looked at.
#pragma once

#include "tests/algorithms/map_entries.h"

namespace weir::algorithms::testing {

class CountingEntries : public MapEntries {
 public:
  LogEntry entry(size_t rank) const override {
    ++looks;
    return MapEntries::entry(rank);
  }
  std::optional<LogEntry> find(int64_t id) const override {
    ++looks;
    return MapEntries::find(id);
  }
  size_t lower_bound(int64_t at_ns) const override {
    ++looks;
    return MapEntries::lower_bound(at_ns);
  }

  mutable int64_t looks = 0;
};

}  // namespace weir::algorithms::testing
