// What a member asks of its local log, and what is written there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/replication/log_bookmark.h"

namespace weir::storage::replication {

// The turns of one record (or of all PARTs of one turn) as they stand in the shared log. They
// become one write of the local log, together with the bookmark: there whole or not at all.
struct Batch {
  uint64_t first_turn = 0;
  std::vector<std::string> turns;
  LogBookmark bookmark;

  uint64_t last_turn() const { return first_turn + turns.size() - 1; }
};

class LocalTurns {
 public:
  virtual ~LocalTurns() = default;

  virtual uint64_t newest_turn() const = 0;  // 0: none
  // The turn's record; nothing if it is not kept. A turn is kept as long as a bookmark before it
  // is, and both as long as Member::turns_needed_from() says.
  virtual std::optional<std::string> turn(uint64_t turn) const = 0;
  virtual std::vector<LogBookmark> bookmarks() const = 0;  // ascending
};

}  // namespace weir::storage::replication
