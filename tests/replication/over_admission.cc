#include "tests/replication/over_admission.h"

#include <algorithm>

#include "base/crc64.h"
#include "tests/replication/violation.h"

namespace weir::storage::replication {

void OverAdmission::granted(const Origin& origin, const std::string& bytes) {
  const Take take = take_of(bytes);
  if (take.permits == 0) return;
  grants_.push_back({.origin = origin,
                     .content = crc64_xz(bytes),
                     .take = take,
                     .instant_ns = turn_instant_ns(bytes)});
}

OverAdmission::Result OverAdmission::check(const Chain& chain, int64_t age_ns_max,
                                           uint64_t permits_max) const {
  Result result;
  std::vector<Grant> by_key[Limits::kKeys];
  std::map<uint64_t, uint64_t> lost_of_promotion;
  for (Grant grant : grants_) {
    const uint64_t turn = grant.origin.turn;
    grant.lost = !chain.has(turn) || crc64_xz(chain.turn(turn)) != grant.content;
    ++result.takes;
    result.early += grant.origin.early ? 1 : 0;
    result.lost += grant.lost ? 1 : 0;
    if (grant.lost) lost_of_promotion[grant.origin.promotion] += grant.take.permits;
    by_key[grant.take.key].push_back(grant);
  }
  for (const auto& [promotion, permits] : lost_of_promotion) {
    if (permits_max == 0 || permits <= permits_max) continue;
    throw Violation("I4: promotion " + std::to_string(promotion) + " has lost " +
                    std::to_string(permits) + " permits, more than U");
  }
  // Instants pass as fast as the primary's clock, which in a world runs up to a tenth too fast, and
  // are slewed.
  const int64_t lost_max_ns = Limits::kBurst * Limits::kEveryNs + age_ns_max + age_ns_max / 8;
  for (std::vector<Grant>& grants : by_key) {
    for (Grant& grant : grants) grant.at_ns = grant.instant_ns;
    check_key(grants, lost_max_ns, 0, &result);
    for (Grant& grant : grants) {
      grant.at_ns = grant.origin.decided_ns + grant.origin.decided_ns / 8;
    }
    check_key(grants, lost_max_ns, cold_claims_ * Limits::kBurst * Limits::kEveryNs, &result);
  }
  return result;
}

// All windows from one grant to another. In units of the time that gives one permit.
void OverAdmission::check_key(std::vector<Grant> grants, int64_t lost_max_ns, int64_t more_ns,
                              Result* result) {
  std::stable_sort(grants.begin(), grants.end(),
                   [](const Grant& left, const Grant& right) { return left.at_ns < right.at_ns; });
  bool is_over = false;
  std::vector<uint64_t> promotions;
  for (size_t first = 0; first < grants.size(); ++first) {
    promotions.clear();
    int64_t granted_ns = 0;
    for (size_t last = first; last < grants.size(); ++last) {
      const Grant& grant = grants[last];
      granted_ns += static_cast<int64_t>(grant.take.permits) * Limits::kEveryNs;
      const bool is_new = grant.lost && std::find(promotions.begin(), promotions.end(),
                                                  grant.origin.promotion) == promotions.end();
      if (is_new) promotions.push_back(grant.origin.promotion);
      const int64_t window_ns = grant.at_ns - grants[first].at_ns;
      const int64_t plain_ns = Limits::kBurst * Limits::kEveryNs + window_ns + more_ns;
      is_over = is_over || granted_ns > plain_ns;
      if (granted_ns <= plain_ns + static_cast<int64_t>(promotions.size()) * lost_max_ns) continue;
      throw Violation("I4: a key got " + std::to_string(granted_ns / Limits::kEveryNs) +
                      " permits in " + std::to_string(window_ns / 1'000'000) +
                      " ms, with F = " + std::to_string(promotions.size()));
    }
  }
  result->windows += grants.size() * (grants.size() + 1) / 2;
  result->keys_over += is_over && more_ns == 0 ? 1 : 0;
}

}  // namespace weir::storage::replication
