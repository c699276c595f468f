#include "server/replication/office_wishes.h"

#include <utility>

#include "base/time_units.h"

namespace weir::server {
namespace {

constexpr int64_t kTakeoverNs = 5 * kNsPerS;
constexpr int64_t kTakeoverRetryNs = 300 * kNsPerMs;

}  // namespace

using storage::replication::Instants;
using storage::replication::Member;
using storage::replication::Role;

void OfficeWishes::take(int64_t boot_ns) {
  takeover_ = Takeover{.until_ns = boot_ns + kTakeoverNs, .next_ns = boot_ns};
}

void OfficeWishes::leave(int64_t until_boot_ns, std::string to) {
  leaving_ = Leaving{.until_ns = until_boot_ns, .to = std::move(to)};
}

// Should the member that gets the office be gone, the others count the log's silence as they do
// when this process is killed.
void OfficeWishes::act(Member* member, const std::string& self, const Instants& now) {
  claim(member, now);
  if (!member->owns()) {
    const std::string& owner = member->fold().owner().node;
    if (owner != self && owner != other_owner_) other_owner_ = owner;
    return;
  }
  if (leaving_ && !leaving_->to.empty() && member->may_seal()) member->hand_over(leaving_->to, now);
}

void OfficeWishes::claim(Member* member, const Instants& now) {
  if (!takeover_ || member->role() == Role::kClaiming) return;
  if (member->owns() || now.boot_ns > takeover_->until_ns) return takeover_.reset();
  if (now.boot_ns < takeover_->next_ns) return;
  takeover_->next_ns = now.boot_ns + kTakeoverRetryNs;
  member->claim_by_operator(now);
}

bool OfficeWishes::has_left(size_t uncommitted, int64_t boot_ns) const {
  if (!leaving_ || boot_ns >= leaving_->until_ns) return true;
  return leaving_->to.empty() && uncommitted == 0;
}

}  // namespace weir::server
