#include "tests/replication/over_admission.h"

#include <algorithm>
#include <set>

#include "base/crc64.h"
#include "tests/replication/violation.h"

namespace weir::storage::replication {

void OverAdmission::granted(uint64_t office, uint64_t turn, const std::string& bytes, bool early) {
  const Take take = take_of(bytes);
  if (take.permits == 0) return;
  grants_.push_back({.office = office,
                     .turn = turn,
                     .content = crc64_xz(bytes),
                     .take = take,
                     .instant_ns = turn_instant_ns(bytes),
                     .early = early});
}

OverAdmission::Result OverAdmission::check(const Chain& chain, int64_t age_ns_max,
                                           uint64_t permits_max) const {
  Result result;
  std::vector<Grant> by_key[Limits::kKeys];
  std::map<uint64_t, uint64_t> lost_of_office;
  for (Grant grant : grants_) {
    grant.lost = !chain.has(grant.turn) || crc64_xz(chain.turn(grant.turn)) != grant.content;
    ++result.takes;
    result.early += grant.early ? 1 : 0;
    result.lost += grant.lost ? 1 : 0;
    if (grant.lost) lost_of_office[grant.office] += grant.take.permits;
    by_key[grant.take.key].push_back(grant);
  }
  for (const auto& [office, permits] : lost_of_office) {
    if (permits_max == 0 || permits <= permits_max) continue;
    throw Violation("I4: office " + std::to_string(office) + " has lost " +
                    std::to_string(permits) + " permits, more than U");
  }
  for (std::vector<Grant>& grants : by_key) {
    std::stable_sort(grants.begin(), grants.end(), [](const Grant& left, const Grant& right) {
      return left.instant_ns < right.instant_ns;
    });
    check_key(grants, age_ns_max, &result);
  }
  return result;
}

// All windows from one grant to another. In units of the time that gives one permit.
void OverAdmission::check_key(const std::vector<Grant>& grants, int64_t age_ns_max,
                              Result* result) {
  // Instants pass as fast as the owner's clock, which in a world runs up to a tenth too fast, and
  // are slewed.
  const int64_t lost_max_ns = Limits::kBurst * Limits::kEveryNs + age_ns_max + age_ns_max / 8;
  bool is_over = false;
  for (size_t first = 0; first < grants.size(); ++first) {
    std::set<uint64_t> offices;
    int64_t granted_ns = 0;
    for (size_t last = first; last < grants.size(); ++last) {
      const Grant& grant = grants[last];
      granted_ns += static_cast<int64_t>(grant.take.permits) * Limits::kEveryNs;
      if (grant.lost) offices.insert(grant.office);
      const int64_t window_ns = grant.instant_ns - grants[first].instant_ns;
      const int64_t plain_ns = Limits::kBurst * Limits::kEveryNs + window_ns;
      ++result->windows;
      is_over = is_over || granted_ns > plain_ns;
      if (granted_ns <= plain_ns + static_cast<int64_t>(offices.size()) * lost_max_ns) continue;
      throw Violation("I4: a key got " + std::to_string(granted_ns / Limits::kEveryNs) +
                      " permits in " + std::to_string(window_ns / 1'000'000) +
                      " ms, with F = " + std::to_string(offices.size()));
    }
  }
  result->keys_over += is_over ? 1 : 0;
}

}  // namespace weir::storage::replication
