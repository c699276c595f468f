// What people want of a shard's members: an operator, that this one is promoted or switches over;
// and who stops the process, that another one is promoted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/core/shard/membership.h"
#include "server/failover/member/leaving.h"
#include "server/failover/peers/switchover_request.h"
#include "storage/replication/member.h"

namespace weir::server {

class OperatorRequests {
 public:
  explicit OperatorRequests(PeerAccess peers) : request_(std::move(peers)) {}

  // Instants are of CLOCK_BOOTTIME.
  // Fails, with a whole line, where `seen`, which is this member, cannot do it. `members` are all
  // of the shard. REQUIRES: the order is about who is the primary, and a primary is only asked to
  // switch over.
  Result<void, std::string> order(const MemberOrder& order, const MemberView& seen,
                                  const std::vector<MemberSeen>& members, int64_t boot_ns);
  void give_up_taking() { takeover_.reset(); }
  // The process is to end.
  Leaving& leaving() { return leaving_; }
  const Leaving& leaving() const { return leaving_; }

  // Asks of the protocol what is due.
  void act(storage::replication::Member* member, const storage::replication::Instants& now);
  // INT64_MAX: nothing is due by itself.
  int64_t next_ns() const {
    if (successor_) return 0;
    return std::min(takeover_ ? takeover_->next_ns : INT64_MAX, leaving_.next_ns());
  }

 private:
  Result<void, std::string> ask_for_switchover(const MemberView& seen);
  void claim(storage::replication::Member* member, const storage::replication::Instants& now);

  // A CLAIM over an epoch that is not the current one any more is void, so an operator's is
  // repeated.
  struct Takeover {
    int64_t until_ns = 0;
    int64_t next_ns = 0;
  };
  SwitchoverRequest request_;
  std::optional<std::string> successor_;  // who is to be promoted after this primary, by its node
  std::optional<Takeover> takeover_;
  Leaving leaving_;
};

}  // namespace weir::server
