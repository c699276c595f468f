#include "server/failover/member/kept_turns.h"

namespace weir::server {

using storage::Lookup;
using storage::Status;
using storage::replication::LogBookmark;

std::optional<std::string> KeptTurns::turn(uint64_t turn) const {
  std::string record;
  Status failure;
  const Lookup found = keys_.store_in_use()->kept_turn(turn, &record, &failure);
  if (found == Lookup::kFailed) on_failure_(failure);
  return found == Lookup::kFound ? std::optional(std::move(record)) : std::nullopt;
}

std::vector<LogBookmark> KeptTurns::bookmarks() const {
  std::vector<storage::KeptBookmark> kept;
  if (const Status status = keys_.store_in_use()->bookmarks(&kept); !status.ok())
    on_failure_(status);
  std::vector<LogBookmark> bookmarks;
  for (const storage::KeptBookmark& one : kept) {
    if (const auto bookmark = storage::replication::decode_bookmark(one.bytes)) {
      bookmarks.push_back(*bookmark);
    } else {
      on_failure_(Status::corrupt("the log has a bookmark of turn " + std::to_string(one.turn) +
                                  " that this weir-server does not know"));
    }
  }
  return bookmarks;
}

}  // namespace weir::server
