#include "server/failover/member/operator_requests.h"

#include <algorithm>
#include <utility>

#include "base/time_units.h"
#include "server/failover/peers/member_words.h"

namespace weir::server {
namespace {

constexpr int64_t kTakeoverNs = 5 * kNsPerS;
constexpr int64_t kTakeoverRetryNs = 300 * kNsPerMs;

Result<void, std::string> check_successor(const std::string& node, const MemberView& seen,
                                          const std::vector<MemberSeen>& members) {
  if (!seen.serves) return std::string("ERR this member is not the primary of its shard");
  if (node == seen.node) return std::string("ERR this member is the primary already");
  const bool is_there = std::any_of(members.begin(), members.end(), [&](const MemberSeen& one) {
    return one.node == node && one.is_standby;
  });
  if (!is_there)
    return std::string(
        "ERR no standby of that name is there: WEIR STATUS lists the members, and the role goes "
        "to one that is following");
  return {};
}

}  // namespace

using storage::replication::Instants;
using storage::replication::Member;
using storage::replication::Role;

Result<void, std::string> OperatorRequests::order(const MemberOrder& order, const MemberView& seen,
                                                  const std::vector<MemberSeen>& members,
                                                  int64_t boot_ns) {
  if (order.kind == MemberOrder::Kind::kSwitchover) {
    auto checked = check_successor(order.node, seen, members);
    if (checked) successor_ = order.node;
    return checked;
  }
  if (!seen.stopped_because.empty()) return "ERR this member has stopped: " + seen.stopped_because;
  if (order.kind == MemberOrder::Kind::kAskForSwitchover) return ask_for_switchover(seen);
  takeover_ = Takeover{.until_ns = boot_ns + kTakeoverNs, .next_ns = boot_ns};
  return {};
}

Result<void, std::string> OperatorRequests::ask_for_switchover(const MemberView& seen) {
  if (seen.primary_address.empty())
    return std::string("ERR nobody is known to be the primary; WEIR TAKEOVER makes this member it");
  if (seen.state != words_of(Role::kFollowing))
    return "ERR this member is " + seen.state +
           " and could not be promoted: ask again once it "
           "is following";
  return request_.ask(seen.primary_address, seen.node);
}

// Should the member that is to be promoted be gone, the others count the time without a new record
// in the log, as they do when this process is killed.
void OperatorRequests::act(Member* member, const Instants& now) {
  claim(member, now);
  if (const auto successor = std::exchange(successor_, std::nullopt))
    member->switch_over(*successor, now);
  if (!leaving_.successor().empty() && member->may_seal())
    member->switch_over(leaving_.successor(), now);
}

void OperatorRequests::claim(Member* member, const Instants& now) {
  if (!takeover_ || member->role() == Role::kClaiming) return;
  if (member->is_primary() || now.boot_ns > takeover_->until_ns) return takeover_.reset();
  if (now.boot_ns < takeover_->next_ns) return;
  takeover_->next_ns = now.boot_ns + kTakeoverRetryNs;
  member->claim_by_operator(now);
}

}  // namespace weir::server
