// Named limits, kept in the store: one system record each, so FLUSHALL leaves them.
//
//     record "policy/<name>" := version(varint) mode(u8) limits                   DO NOT CHANGE
//                             | version(varint) mode+128(u8) kind(u8) percent(u8) seed(u64 le)
//                               overrides limits
//     overrides              := 0(varint)
//                             | set(varint) count(varint) of-keys(varint) n(varint)
//                               n x { length(varint) count(varint) }
//     record "policy-drop/<set>" := count(varint)
//     record "policy-count/<name>" := size(varint) limits, n x { count(varint) adaptive }
//               of the n limits with ADAPTIVE (algorithms/limiter_record.h); it counts as long as
//               the policy has these limits
//
// The limits are text; the first form, without a seed, was written by earlier versions. The
// overrides themselves are elsewhere (overrides.h). Those of a policy that was deleted are erased
// in slices; until the last is gone, the set has a record "policy-drop".
//
// Every SET gives the policy a new version, unique in the server; a limiter key remembers the
// newest version it has followed, so that a mode other than USED is applied once (take/limiter.h).
//
// The record is the truth, even of a command that is taken back; the decoded policies are a cache.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/adaptive.h"
#include "base/result.h"
#include "server/command/work_meter.h"
#include "server/limiter/policy/overrides.h"
#include "server/limiter/policy/policy_kind.h"
#include "server/os/time_zones.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

struct Policy {
  uint64_t version = 0;
  algorithms::CarryOver mode = algorithms::CarryOver::kUsed;
  PolicyKind kind = PolicyKind::kLimits;
  uint8_t percent = 100;  // of the keys are limited, the others decided in shadow
  uint64_t seed = 0;      // chooses those keys; 0: an earlier version wrote the policy
  OverrideSet overrides = {};
  std::vector<algorithms::Limit> limits;  // with the counts that were told to the policy
  std::vector<std::string> names = {};    // as many as limits, or none
  // What was told to the policy: one for each limit, or none if nothing was.
  std::vector<algorithms::AdaptiveState> reports = {};
};

// Verdicts under a policy since it was first used after the start, or since they were reset.
struct PolicyCounts {
  uint64_t granted = 0;
  uint64_t denied = 0;
  uint64_t banned = 0;         // of the denied, those that were answered with a ban
  uint64_t shadow_denied = 0;  // granted, because the policy is in shadow
  bool is_used = false;  // a take has left a key's adaptive limit used to the half, since reports
                         // last asked
};

// A policy to be set, or to be erased where there is none.
struct NamedPolicy {
  std::string name;
  std::optional<Policy> policy;
};

// They are always in memory, so what they take together is bounded.
inline constexpr size_t kPoliciesBytesMax = 16 << 20;

class Policies {
 public:
  // A walk over all policies charges `work` a unit for each.
  Policies(storage::Keyspace* keys, WorkMeter* work, TimeZones* zones)
      : keys_(*keys), work_(*work), zones_(*zones) {}

  // Finds a policy; null if there is none. Valid until the next call.
  const Policy* find(std::string_view name) { return find_counted(name).policy; }
  // The same, with its counts, which are valid as long as the policy is not deleted.
  struct Found {
    const Policy* policy = nullptr;
    PolicyCounts* counts = nullptr;
  };
  Found find_counted(std::string_view name);
  void reset_counts();
  // Visits the policies that were asked for since the start, in the order of their names.
  void visit_counts(const std::function<void(std::string_view, const PolicyCounts&)>& use) const {
    for (const auto& [name, cached] : cache_) use(name, cached.counts);
  }
  // Sets a policy. Fails with an error line, and changes nothing, where there would be more than
  // `policies_max`, or where all of them would take more than kPoliciesBytesMax. Takes time in
  // proportion to their number.
  Result<void, std::string> set(std::string_view name, const Policy& policy, int64_t policies_max) {
    return set_all({{std::string(name), policy}}, policies_max);
  }
  // The same for several, of which no two have one name: all or none.
  Result<void, std::string> set_all(const std::vector<NamedPolicy>& changes, int64_t policies_max);
  // Puts what has changed of a policy that there is, but for its limits.
  void put(std::string_view name, const Policy& policy);
  // Takes a report about the policy: its adaptive limits change their counts. Fails with an error
  // line where the policy has none. REQUIRES: there is the policy.
  Result<void, std::string> report(std::string_view name, algorithms::Report report);
  // Erases a policy; false if there was none. Its overrides go with drop_some().
  bool erase(std::string_view name);
  // The overrides of a set that no policy has any more go with drop_some().
  void drop_overrides(const OverrideSet& set);
  // Erases some of the overrides of deleted policies, if there are any. It is a command of its own,
  // between turns; one that fails is rolled back by the caller.
  void drop_some();
  std::vector<std::string> names() const;  // in order

 private:
  struct Cached {
    std::string record;
    Policy policy;
    PolicyCounts counts = {};
    bool adapts = false;       // it has limits with ADAPTIVE
    std::string reports = {};  // the record of what was told to it
  };

  // Brings the counts of a policy's adaptive limits to what was told.
  void follow_reports(std::string_view name, Cached* cached) const;
  void erase_reports(std::string_view name);
  // Puts a policy; what was reported about other limits than these is forgotten.
  void replace(std::string_view name, const Policy& policy);

  // Visits all policies' records.
  void visit(const std::function<void(std::string_view record, std::string_view value)>& use) const;

  storage::Keyspace& keys_;
  WorkMeter& work_;
  TimeZones& zones_;      // of limits
  bool may_drop_ = true;  // there may be sets of overrides to be erased
  std::map<std::string, Cached, std::less<>> cache_;
};

// Tells whether the policy's limits are decided in shadow for the key. While `percent` rises, no
// key that is limited becomes one that is not.
bool policy_in_shadow(const Policy& policy, std::string_view key);

}  // namespace weir::server
