#include "server/failover/member/kept_turns.h"

namespace weir::server {

using storage::Lookup;
using storage::Status;
using storage::replication::Stamp;

std::optional<std::string> KeptTurns::turn(uint64_t turn) const {
  std::string record;
  Status failure;
  const Lookup found = keys_.store_in_use()->kept_turn(turn, &record, &failure);
  if (found == Lookup::kFailed) on_failure_(failure);
  return found == Lookup::kFound ? std::optional(std::move(record)) : std::nullopt;
}

std::vector<Stamp> KeptTurns::stamps() const {
  std::vector<storage::KeptStamp> kept;
  if (const Status status = keys_.store_in_use()->stamps(&kept); !status.ok()) on_failure_(status);
  std::vector<Stamp> stamps;
  for (const storage::KeptStamp& one : kept) {
    if (const auto stamp = storage::replication::decode_stamp(one.bytes)) {
      stamps.push_back(*stamp);
    } else {
      on_failure_(Status::corrupt("the log has a stamp of turn " + std::to_string(one.turn) +
                                  " that this weir-server does not know"));
    }
  }
  return stamps;
}

}  // namespace weir::server
