#include "server/limiter/take/resolve.h"

#include <algorithm>

#include "server/limiter/take/holds.h"
#include "server/limiter/take/limiters.h"
#include "server/limiter/take/policy_effect.h"
#include "server/session/session.h"
#include "storage/format/key_order.h"

namespace weir::server {
namespace {

using algorithms::Mode;
using algorithms::ParsedLimits;

// Names where one of both has names: empty for limits without.
void put_names(std::span<const std::string> names, size_t limits, ParsedLimits* out) {
  const size_t before = out->names.size();
  out->names.insert(out->names.end(), names.begin(), names.end());
  out->names.resize(before + limits);
}

// The inline limits with the policy's among them.
ParsedLimits joined(const AskedLimits& asked, const NamedLimits& policy) {
  ParsedLimits all;
  const auto place = static_cast<std::ptrdiff_t>(asked.policy_at);
  all.limits = asked.limits;
  all.limits.insert(all.limits.begin() + place, policy.limits.begin(), policy.limits.end());
  if (asked.names.empty() && policy.names.empty()) return all;
  put_names(asked.names, asked.limits.size(), &all);
  ParsedLimits inner;
  put_names(policy.names, policy.limits.size(), &inner);
  all.names.insert(all.names.begin() + place, inner.names.begin(), inner.names.end());
  return all;
}

// The policy's limits among those that the request names itself.
Result<NamedLimits, std::string> beside_others(NamedLimits named, const AskedLimits& asked) {
  const size_t count = named.limits.size() + asked.limits.size();
  if (count > algorithms::kLimitsMax) {
    return "ERR at most " + std::to_string(algorithms::kLimitsMax) + " limits, and with the " +
           std::to_string(named.limits.size()) + " of policy '" + asked.policy + "' there are " +
           std::to_string(count);
  }
  named.owned = std::make_shared<const ParsedLimits>(joined(asked, named));
  named.limits = named.owned->limits;
  named.names = named.owned->names;
  return named;
}

// DO NOT CHANGE: on disk.
uint32_t tag_of(const std::string& policy) {
  const uint64_t hash = storage::siphash24(policy, {0x7765697200000002, 0x706f6c6963790000});
  return static_cast<uint32_t>(hash % (algorithms::kPolicyTags - 1)) + 1;
}

// A key that an override takes out of the policy changes over as with a change of the policy.
Result<NamedLimits, std::string> overridden(const AskedLimits& asked, const Policy& policy,
                                            std::string_view key, Override override) {
  const auto owned = std::make_shared<const ParsedLimits>(std::move(override.parsed));
  const bool in_shadow = override.kind == PolicyKind::kLimits && policy_in_shadow(policy, key);
  NamedLimits named{.limits = owned->limits,
                    .names = owned->names,
                    .policy = PolicyPart{.tag = tag_of(asked.policy),
                                         .version = std::max(policy.version, override.version),
                                         .carry_over = policy.mode,
                                         .at = asked.policy_at,
                                         .size = owned->limits.size(),
                                         .kind = override.kind,
                                         .mode = in_shadow ? Mode::kShadow : Mode::kEnforced},
                    .owned = owned};
  if (asked.limits.empty()) return named;
  return beside_others(std::move(named), asked);
}

Result<NamedLimits, std::string> with_policy(Call& call, std::string_view key,
                                             const AskedLimits& asked) {
  const auto [policy, counts] = call.limiters.policies.find_counted(asked.policy);
  if (policy == nullptr) {
    return "ERR no policy is named '" + asked.policy + "'; RL.POLICY SET makes one";
  }
  if (policy->overrides.count > 0) {
    if (auto override =
            find_override(call.keys, policy->overrides, call.limiters.zones.stored(), key)) {
      auto named = overridden(asked, *policy, key, std::move(*override));
      if (named) named->policy->counts = counts;
      return named;
    }
  }
  NamedLimits named{
      .limits = policy->limits,
      .names = policy->names,
      .policy = PolicyPart{.tag = tag_of(asked.policy),
                           .version = policy->version,
                           .carry_over = policy->mode,
                           .at = asked.policy_at,
                           .size = policy->limits.size(),
                           .kind = policy->kind,
                           .mode = policy_in_shadow(*policy, key) ? Mode::kShadow : Mode::kEnforced,
                           .shares_counts = !policy->reports.empty(),
                           .counts = counts}};
  if (asked.limits.empty()) return named;
  return beside_others(std::move(named), asked);
}

// A policy may have been set where a zone was known that this machine's tzdata does not have.
Result<void, std::string> check_zones(std::span<const algorithms::Limit> limits,
                                      const algorithms::Zones& zones) {
  for (size_t i = 0; i < limits.size(); ++i) {
    const algorithms::Zone* zone = limits[i].zone;
    if (zone == nullptr || zone->is_known()) continue;
    return "ERR limit " + std::to_string(i) + " (" + std::string(limits[i].algorithm->name) +
           "): ZONE must be " + zones.accepted() + ", got '" + zone->name() + "'";
  }
  return {};
}

// A lease that nobody can give back holds its permit for its whole LEASE, whatever it is for.
Result<void, std::string> check_leases(const Call& call,
                                       std::span<const algorithms::Limit> limits) {
  if (!call.session.client().switches().takes_no_leases) [[likely]]
    return {};
  for (size_t i = 0; i < limits.size(); ++i) {
    if (!limits[i].algorithm->makes_leases) continue;
    return "ERR limit " + std::to_string(i) + " (" + std::string(limits[i].algorithm->name) +
           ") makes leases, which nobody can give back here";
  }
  return {};
}

}  // namespace

Result<NamedLimits, std::string> expand(Call& call, std::string_view key,
                                        const AskedLimits& asked) {
  if (call.limiters.limiting == Limiting::kOff)
    return NamedLimits{.limits = {}, .policy = PolicyPart{.kind = PolicyKind::kUnlimited}};
  NamedLimits named{.limits = asked.limits, .names = asked.names};
  if (!asked.policy.empty()) {
    auto found = with_policy(call, key, asked);
    if (!found) return found.error();
    named = *found;
  }
  if (const auto known = check_zones(named.limits, call.limiters.zones.given()); !known) {
    return known.error();
  }
  if (const auto done = check_leases(call, named.limits); !done) return done.error();
  if (call.limiters.limiting == Limiting::kShadow) named.mode = Mode::kShadow;
  if (const auto apart = algorithms::check_names(named.names, named.limits); !apart) {
    return "ERR " + apart.error();
  }
  return named;
}

Result<NamedLimits, std::string> limits_of(Call& call, std::string_view key,
                                           const LimiterRequest& request) {
  auto named = expand(call, key, request);
  if (!named) return named.error();
  if (request.on_change) named->own_carry_over = *request.on_change;
  if (has_fixed_answer(*named)) return *named;
  if (auto fit = check_fit(request, named->limits.size()); !fit) return fit.error();
  return *named;
}

Result<Limiter, ErrorReplied> resolve(Call& call, std::string_view key,
                                      const LimiterRequest& request) {
  return resolve(call, key, request, limits_of(call, key, request));
}

Result<Limiter, ErrorReplied> resolve(Call& call, std::string_view key,
                                      const LimiterRequest& request,
                                      const Result<NamedLimits, std::string>& limits) {
  auto limiter = Limiter::read(call, key);
  if (!limiter) return limiter;
  if (!limits) return reply_error(call, limits.error());
  if (const auto named = limiter->name(*limits); !named) return reply_error(call, named.error());
  if (const auto room = check_room_for_hold(call, *limiter, request); !room) {
    return reply_error(call, room.error());
  }
  return limiter;
}

}  // namespace weir::server
