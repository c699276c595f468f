// The limits that a command names, as it hands them to a key's limiter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "algorithms/limit_text.h"
#include "algorithms/limiter_record.h"
#include "algorithms/take_all.h"
#include "server/limiter/policy/policy_kind.h"

namespace weir::server {

struct PolicyCounts;

// What a policy brings to the limits that a command names.
struct PolicyPart {
  uint32_t tag = 0;      // of its name: see LimitState
  uint64_t version = 0;  // 0: none that a key could follow
  algorithms::CarryOver carry_over = algorithms::CarryOver::kUsed;  // how keys change over to it
  size_t at = 0;                                                    // where its limits begin,
  size_t size = 0;                                                  // and how many they are
  PolicyKind kind = PolicyKind::kLimits;
  algorithms::Mode mode = algorithms::Mode::kEnforced;  // of its limits
  bool shares_counts = false;      // its adaptive limits have the counts told to it
  PolicyCounts* counts = nullptr;  // of its verdicts; null: they are not counted

  bool has(size_t limit) const { return limit - at < size; }
};

struct NamedLimits {
  std::span<const algorithms::Limit> limits;
  std::span<const std::string> names = {};  // by AS: as many as limits, or none
  std::optional<PolicyPart> policy = {};
  // How to change over to those that are no policy's.
  algorithms::CarryOver own_carry_over = algorithms::CarryOver::kUsed;
  // Of all limits, by the option `limiting`; kShadow goes before what the policy says.
  algorithms::Mode mode = algorithms::Mode::kEnforced;
  // What the spans point into, if it is nobody else's.
  std::shared_ptr<const algorithms::ParsedLimits> owned = nullptr;

  bool is_of_policy(size_t limit) const { return policy && policy->has(limit); }
  uint32_t policy_of(size_t limit) const { return is_of_policy(limit) ? policy->tag : 0; }
  PolicyKind kind() const { return policy ? policy->kind : PolicyKind::kLimits; }
  uint64_t policy_version() const { return policy ? policy->version : 0; }
  PolicyCounts* counts() const { return policy ? policy->counts : nullptr; }
  // `is_new`: the key has not followed this version of the policy yet. It is changed over once.
  algorithms::CarryOver carry_over_of(size_t limit, bool is_new) const {
    if (!is_of_policy(limit)) return own_carry_over;
    return is_new ? policy->carry_over : algorithms::CarryOver::kUsed;
  }
  // Whether the limit decides or only says what it would. The request may say otherwise for all of
  // them (take/policy_effect.h).
  algorithms::Mode mode_of(size_t limit) const {
    return is_of_policy(limit) ? std::max(mode, policy->mode) : mode;
  }
  // Tells whether a limit has the count that was told to the policy.
  bool has_shared_count(size_t limit) const {
    return is_of_policy(limit) && policy->shares_counts && limits[limit].adaptive.is_set();
  }
  // The limit at `index` alone.
  NamedLimits only(size_t index) const {
    NamedLimits one = *this;
    one.limits = limits.subspan(index, 1);
    one.names = names.empty() ? names : names.subspan(index, 1);
    if (!is_of_policy(index)) one.policy.reset();
    if (one.policy) {
      one.policy->at = 0;
      one.policy->size = 1;
    }
    return one;
  }
  // The policy alone, where its kind answers without limits.
  NamedLimits none() const {
    return {.limits = {}, .policy = PolicyPart{.kind = kind(), .counts = counts()}, .mode = mode};
  }
};

}  // namespace weir::server
