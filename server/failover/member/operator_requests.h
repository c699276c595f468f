// What people want of a shard's members: an operator, that this one is promoted or switches over;
// and who stops the process, that another one is promoted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/core/shard/membership.h"
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
  // `to` is the node of who is to be promoted; "": nobody is known.
  void leave(int64_t until_boot_ns, std::string to);

  // Asks of the protocol what is due. `self` is this member's node.
  void act(storage::replication::Member* member, const std::string& self,
           const storage::replication::Instants& now);
  // The last primary that this member has followed, by its node; "": none.
  const std::string& other_primary() const { return other_primary_; }
  // INT64_MAX: nothing is due by itself.
  int64_t next_ns() const { return successor_ ? 0 : takeover_ ? takeover_->next_ns : INT64_MAX; }
  // Tells whether a primary that leaves has done so, or will not. `uncommitted`: turns that the log
  // does not have yet.
  bool has_left(size_t uncommitted, int64_t boot_ns) const;

 private:
  Result<void, std::string> ask_for_switchover(const MemberView& seen);
  void claim(storage::replication::Member* member, const storage::replication::Instants& now);

  // A CLAIM over an epoch that is not the current one any more is void, so an operator's is
  // repeated.
  struct Takeover {
    int64_t until_ns = 0;
    int64_t next_ns = 0;
  };
  struct Leaving {
    int64_t until_ns = 0;
    std::string to;
  };
  SwitchoverRequest request_;
  std::optional<std::string> successor_;  // who is to be promoted after this primary, by its node
  std::optional<Takeover> takeover_;
  std::optional<Leaving> leaving_;
  std::string other_primary_;
};

}  // namespace weir::server
