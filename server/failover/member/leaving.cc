#include "server/failover/member/leaving.h"

#include <algorithm>
#include <utility>

#include "server/core/shard/successor.h"
#include "server/os/log.h"

namespace weir::server {

void Leaving::begin(bool is_primary, int64_t end_ns, int64_t boot_ns) {
  if (has_begun()) {
    if (is_searching_ || successor_.empty()) end_search(boot_ns);
    return;
  }
  began_ns_ = look_at_ns_ = boot_ns;
  end_ns_ = end_ns;
  is_searching_ = is_primary;
  until_ns_ = boot_ns + end_ns;
}

void Leaving::look(const std::vector<MemberSeen>& members, int64_t boot_ns) {
  const bool is_first = look_at_ns_ == began_ns_;
  look_at_ns_ = boot_ns + kLookNs;
  // Ages are cut to milliseconds.
  const int64_t told_ms = (boot_ns - began_ns_) / kNsPerMs - 1;
  const auto is_awaited = [&](const MemberSeen& member) {
    return !member.is_self && member.is_present && member.state != "stopped";
  };
  if (is_first && std::none_of(members.begin(), members.end(), is_awaited))
    return end_search(boot_ns);
  const bool have_all_told =
      std::all_of(members.begin(), members.end(), [&](const MemberSeen& member) {
        return member.is_self || !member.is_standby || member.age_ms <= told_ms;
      });
  const MemberSeen* const best = successor_of(members, told_ms);
  if (best != nullptr && (have_all_told || boot_ns >= began_ns_ + kToldNs))
    return end_search(boot_ns, best->node);
  if (boot_ns < began_ns_ + kSearchNs) return;
  log_warning(
      "no standby has told within {} s that it follows: nobody is given the role of primary",
      kSearchNs / kNsPerS);
  end_search(boot_ns);
}

void Leaving::end_search(int64_t boot_ns, std::string successor) {
  successor_ = std::move(successor);
  is_searching_ = false;
  until_ns_ = boot_ns + end_ns_;
}

}  // namespace weir::server
