// What a Limiter (limiter.h) has in memory, apart from it so that it can be moved for the price of a
// pointer and used again by the next one with the memory that it has.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "algorithms/algorithm.h"
#include "server/limiter/entries/stored_entries.h"
#include "server/limiter/policy/named_limits.h"
#include "server/limiter/take/held_limit.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

// The entries of a limit that the running command has looked at.
struct EntriesOfLimit {
  const HeldLimit* limit = nullptr;
  StoredEntries entries;
};

struct LimiterContents {
  std::string_view key;
  storage::Ref ref;
  bool exists = false;
  std::vector<HeldLimit> held;
  std::vector<HeldLimit> next;  // while the limits are changed over to those that are named
  size_t named = 0;
  NamedLimits names = {};
  uint64_t policy_version = 0;
  storage::ElementsId bookings = 0;
  storage::ElementsId holds = 0;
  uint64_t changes = 0;
  // The state of a foreign string, which a GCRA limit may adopt.
  std::optional<algorithms::State> adopted;
  bool parameters_changed = false;
  std::vector<EntriesOfLimit> entries;  // of held; with room for all, so none of them moves

  void clear() {
    exists = parameters_changed = false;
    held.clear();
    next.clear();
    entries.clear();
    named = 0;
    names = {};
    policy_version = bookings = holds = changes = 0;
    adopted.reset();
  }
};

}  // namespace weir::server
