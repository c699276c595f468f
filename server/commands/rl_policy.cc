// RL.POLICY: limits kept under a name.
#include <string>
#include <vector>

#include "algorithms/words.h"
#include "base/ascii.h"
#include "resp/numbers.h"
#include "server/command/command_errors.h"
#include "server/command/error_replied.h"
#include "server/commands/command_lists.h"
#include "server/commands/help.h"
#include "server/core/run/server.h"
#include "server/limiter/policy/limit_use.h"
#include "server/limiter/policy/noted_policies.h"
#include "server/limiter/policy/policy_history.h"
#include "server/limiter/policy/policy_words.h"
#include "server/limiter/policy/request.h"

namespace weir::server {
namespace {

constexpr size_t kOverridesAtOnce = 100;

// Whether the name can be that of a policy; to look a longer one up would take its length.
bool can_be_name(const Call& call) { return call.args[2].size() <= kPolicyNameBytesMax; }

// Keeps what the policy was before the change that has this number.
void keep_history(Call& call, uint64_t number, std::string before) {
  keep_changes(call.keys, {{.number = number,
                            .change = {.wall_ms = call.wall_ns() / kNsPerMs,
                                       .policy = std::string(call.args[2]),
                                       .user = call.session.client().user().name(),
                                       .before = std::move(before)}}});
  call.work().charge_entries(kChangesMax);
}

void policy_history(Call& call) {
  const auto changes = changes_of(call.keys, call.args[2]);
  call.work().charge_entries(kChangesMax);
  call.reply.array(static_cast<int64_t>(changes.size()));
  for (const PolicyChange& change : changes) {
    call.reply.map(3);
    call.reply.bulk("time_ms");
    call.reply.integer(change.wall_ms);
    call.reply.bulk("user");
    call.reply.bulk(change.user);
    call.reply.bulk("before");
    change.before.empty() ? call.reply.null() : call.reply.bulk(change.before);
  }
}

void policy_set(Call& call) {
  if (call.args[2].empty() || call.args[2].size() > kPolicyNameBytesMax) {
    return call.reply.error(policy_name_error(call.args[2]));
  }
  auto policy = parse_policy(call.args.subspan(3), call.limiters.zones.given());
  if (!policy) return call.reply.error(policy.error());
  const Policy* before = call.limiters.policies.find(call.args[2]);
  if (before != nullptr) policy->overrides = before->overrides;
  const bool is_met = before != nullptr && policy_text(*before) == policy_text(*policy) &&
                      call.limiters.settings.has_met(SettingKind::kPolicy, call.args[2], false);
  if (is_met) return call.reply.status("OK");
  policy->seed = before != nullptr && before->seed != 0 ? before->seed : call.host.random() | 1;
  policy->version = static_cast<uint64_t>(call.limiters.versions.next());
  std::string text_before = before != nullptr ? policy_text(*before) : std::string();
  const int64_t policies_max = server_of(call).config().policies_max;
  const auto set = call.limiters.policies.set(call.args[2], *policy, policies_max);
  if (!set) return call.reply.error(set.error());
  const auto noted = note_policy(&call.limiters.settings, call.args[2], *policy);
  if (!noted) return call.reply.error(noted.error());
  call.host.audit().note(
      {.name = std::string(call.args[2]), .before = text_before, .after = policy_text(*policy)});
  keep_history(call, policy->version, std::move(text_before));
  call.reply.status("OK");
}

Result<const Policy*, ErrorReplied> existing_policy(Call& call) {
  const Policy* policy = can_be_name(call) ? call.limiters.policies.find(call.args[2]) : nullptr;
  if (policy != nullptr) return policy;
  return reply_error(call, "ERR no policy is named '" + algorithms::shown(call.args[2]) +
                               "'; RL.POLICY SET makes one");
}

Result<OverrideScope, ErrorReplied> override_scope(Call& call) {
  const bool is_prefix = equals_ignoring_case(call.args[3], "PREFIX");
  if (!is_prefix && !equals_ignoring_case(call.args[3], "KEY")) {
    return reply_error(call, "ERR syntax error at '" + algorithms::shown(call.args[3]) +
                                 "': expected KEY or PREFIX");
  }
  const std::string_view name = call.args[4];
  if (name.empty() || name.size() > kOverrideNameBytesMax) {
    return reply_error(call, "ERR " + std::string(is_prefix ? "PREFIX" : "KEY") +
                                 " must have 1 to " + std::to_string(kOverrideNameBytesMax) +
                                 " bytes, got " + std::to_string(name.size()));
  }
  return OverrideScope{.is_prefix = is_prefix, .name = name};
}

// A key that goes back to the policy changes over as with a new version of it.
void delete_override(Call& call, Policy policy, const OverrideScope& scope) {
  if (!erase_override(call.keys, &policy.overrides, scope)) return call.reply.integer(0);
  SettingsJournal& settings = call.limiters.settings;
  const auto version = static_cast<uint64_t>(call.limiters.versions.next());
  auto noted = note_no_override(&settings, call.args[2], scope, version);
  policy.version = static_cast<uint64_t>(call.limiters.versions.next());
  if (noted) noted = note_policy(&settings, call.args[2], policy);
  if (!noted) return call.reply.error(noted.error());
  call.limiters.policies.put(call.args[2], policy);
  call.host.audit().note();
  call.reply.integer(1);
}

void policy_override(Call& call) {
  const auto scope = override_scope(call);
  if (!scope) return;
  const auto found = existing_policy(call);
  if (!found) return;
  Policy policy = **found;
  const Args words = call.args.subspan(5);
  if (words.size() == 1 && equals_ignoring_case(words[0], "DEL")) {
    return delete_override(call, std::move(policy), *scope);
  }
  auto effect = parse_effect(words, call.limiters.zones.given());
  if (!effect) return call.reply.error(effect.error());
  const auto version = static_cast<uint64_t>(call.limiters.versions.next());
  if (policy.overrides.id == 0) policy.overrides.id = version;
  const Override override{
      .version = version,
      .kind = effect->kind,
      .parsed = {.limits = std::move(effect->limits), .names = std::move(effect->names)}};
  const auto put = put_override(call.keys, &policy.overrides, *scope, override);
  if (!put) return call.reply.error(put.error());
  const auto noted = note_override(&call.limiters.settings, call.args[2], *scope, override);
  if (!noted) return call.reply.error(noted.error());
  call.limiters.policies.put(call.args[2], policy);
  call.host.audit().note();
  call.reply.status("OK");
}

void policy_overrides(Call& call) {
  uint64_t cursor = 0;
  if (call.args.size() > 4) return call.reply.error(arity_error(call.command));
  if (call.args.size() == 4) {
    const auto number = resp::parse_int64(call.args[3]);
    if (!number || *number < 0) return call.reply.error("ERR invalid cursor");
    cursor = static_cast<uint64_t>(*number);
  }
  const auto policy = existing_policy(call);
  if (!policy) return;
  const OverrideSet set = (*policy)->overrides;
  struct Row {
    std::string scope;
    std::string name;
    std::string text;
  };
  std::vector<Row> rows;
  const auto next =
      visit_overrides(call.keys, set, call.limiters.zones.stored(), cursor, kOverridesAtOnce,
                      [&](const OverrideScope& scope, const Override& override) {
                        call.work().charge_entries(2);
                        const Policy shown{.kind = override.kind,
                                           .limits = override.parsed.limits,
                                           .names = override.parsed.names};
                        rows.push_back({scope.is_prefix ? "PREFIX" : "KEY", std::string(scope.name),
                                        effect_text(shown, algorithms::LimitStyle::kWhole)});
                      });
  call.reply.array(2);
  call.reply.bulk(std::to_string(next));
  call.reply.array(static_cast<int64_t>(rows.size()));
  for (const Row& row : rows) {
    call.reply.array(3);
    for (const std::string* word : {&row.scope, &row.name, &row.text}) call.reply.bulk(*word);
  }
}

void policy_get(Call& call) {
  const Policy* policy = can_be_name(call) ? call.limiters.policies.find(call.args[2]) : nullptr;
  if (policy == nullptr) return call.reply.null();
  call.reply.map(3);
  call.reply.bulk("limits");
  call.reply.bulk(effect_text(*policy, algorithms::LimitStyle::kWhole));
  call.reply.bulk("onchange");
  call.reply.bulk(mode_name(policy->mode));
  call.reply.bulk("version");
  call.reply.integer(static_cast<int64_t>(policy->version));
}

void policy_del(Call& call) {
  if (!can_be_name(call)) return call.reply.integer(0);
  const Policy* before = call.limiters.policies.find(call.args[2]);
  std::string text_before = before != nullptr ? policy_text(*before) : std::string();
  SettingsJournal& settings = call.limiters.settings;
  const bool erased = call.limiters.policies.erase(call.args[2]);
  const bool is_met = !erased && settings.has_met(SettingKind::kPolicy, call.args[2], true);
  if (erased) {
    const auto version = static_cast<uint64_t>(call.limiters.versions.next());
    const auto noted = note_no_policy(&settings, call.args[2], version);
    if (!noted) return call.reply.error(noted.error());
    call.host.audit().note({.name = std::string(call.args[2]), .before = text_before});
    keep_history(call, version, std::move(text_before));
  }
  call.reply.integer(erased || is_met ? 1 : 0);
}

void write_counts(Call& call, std::string_view name) {
  const PolicyCounts* found = call.limiters.policies.find_counted(name).counts;
  const PolicyCounts counts = found == nullptr ? PolicyCounts() : *found;
  call.reply.map(3);
  call.reply.bulk("granted");
  call.reply.integer(static_cast<int64_t>(counts.granted));
  call.reply.bulk("denied");
  call.reply.integer(static_cast<int64_t>(counts.denied));
  call.reply.bulk("shadow_denied");
  call.reply.integer(static_cast<int64_t>(counts.shadow_denied));
}

void policy_stats(Call& call) {
  if (call.args.size() > 3) return call.reply.error(arity_error(call.command));
  if (call.args.size() == 3) {
    if (!existing_policy(call)) return;
    return write_counts(call, call.args[2]);
  }
  const auto names = call.limiters.policies.names();
  call.reply.map(static_cast<int64_t>(names.size()));
  for (const std::string& name : names) {
    call.reply.bulk(name);
    write_counts(call, name);
  }
}

void names_policy_if_any(Args args, LimitUse* use) {
  if (args.size() > 2) add_policy_use(args, 2, use);
}

void policy_list(Call& call) {
  const auto names = call.limiters.policies.names();
  call.reply.array(static_cast<int64_t>(names.size()));
  for (const std::string& name : names) call.reply.bulk(name);
}

void names_policy(Args args, LimitUse* use) { add_policy_use(args, 2, use); }

constexpr Command kRlPolicyCommands[] = {
    {.name = "rl.policy",
     .arity = -2,
     .flags = kContainer,
     .group = "ratelimit",
     .usage = "subcommand [argument ...]",
     .summary = "Keeps limits under a name.",
     .since = "weir 0.1"},
    {.name = "rl.policy|set",
     .arity = -4,
     .flags = kWrites,
     .audit = Audit::kIfNoted,
     .group = "ratelimit",
     .categories = "ratelimitadmin",
     .usage = "name <count/period | algorithm | UNLIMITED | BLOCKED> [rate] [option value ...] "
              "[limit:string ...] [SHADOW | PERCENT percent:integer] "
              "[ONCHANGE <USED | RESET | ASIS | PROPORTIONAL | ADDITIVE>]",
     .summary = "Makes or changes a policy; keys follow when they are next used.",
     .since = "weir 0.1",
     .tips = "request_policy:all_shards response_policy:all_succeeded",
     .run = policy_set,
     .limit_use = names_policy},
    {.name = "rl.policy|get",
     .arity = 3,
     .flags = kReads | kFast,
     .audit = Audit::kNo,
     .group = "ratelimit",
     .categories = "ratelimitadmin",
     .usage = "name",
     .summary = "Answers a policy's limits, its mode and its version.",
     .since = "weir 0.1",
     .run = policy_get,
     .limit_use = names_policy},
    {.name = "rl.policy|del",
     .arity = 3,
     .flags = kWrites | kFast,
     .audit = Audit::kIfNoted,
     .group = "ratelimit",
     .categories = "ratelimitadmin",
     .usage = "name",
     .summary = "Deletes a policy; the keys that used it keep what they hold.",
     .since = "weir 0.1",
     .tips = "request_policy:all_shards response_policy:all_succeeded",
     .run = policy_del,
     .limit_use = names_policy},
    {.name = "rl.policy|list",
     .arity = 2,
     .flags = kReads,
     .audit = Audit::kNo,
     .group = "ratelimit",
     .categories = "ratelimitadmin",
     .summary = "Answers the names of all policies.",
     .since = "weir 0.1",
     .run = policy_list},
    {.name = "rl.policy|override",
     .arity = -6,
     .flags = kWrites | kDenyOom,
     .audit = Audit::kIfNoted,
     .group = "ratelimit",
     .categories = "ratelimitadmin",
     .usage = "name <KEY | PREFIX> text <limits | UNLIMITED | BLOCKED | DEL>",
     .summary =
         "Makes, changes or deletes what a policy is for one key, or for keys with a prefix.",
     .since = "weir 0.1",
     .tips = "request_policy:all_shards response_policy:all_succeeded",
     .run = policy_override,
     .limit_use = names_policy},
    {.name = "rl.policy|overrides",
     .arity = -3,
     .flags = kReads,
     .audit = Audit::kNo,
     .group = "ratelimit",
     .categories = "ratelimitadmin",
     .usage = "name [cursor]",
     .summary = "Walks the overrides of a policy: the next cursor, and for each its kind, name and "
                "effect.",
     .since = "weir 0.1",
     .run = policy_overrides,
     .limit_use = names_policy},
    {.name = "rl.policy|stats",
     .arity = -2,
     .flags = kReads,
     .audit = Audit::kNo,
     .group = "ratelimit",
     .categories = "ratelimitadmin",
     .usage = "[name]",
     .summary = "Answers how many verdicts there were under a policy, or under each.",
     .since = "weir 0.1",
     .tips = "request_policy:all_shards response_policy:special",
     .run = policy_stats,
     .limit_use = names_policy_if_any},
    {.name = "rl.policy|history",
     .arity = 3,
     .flags = kReads,
     .audit = Audit::kNo,
     .group = "ratelimit",
     .categories = "ratelimitadmin",
     .usage = "name",
     .summary = "Answers the last changes of a policy: when, by whom, and what it was before.",
     .since = "weir 0.1",
     .run = policy_history,
     .limit_use = names_policy},
    {.name = "rl.policy|help",
     .arity = 2,
     .flags = kLoading,
     .audit = Audit::kNo,
     .group = "ratelimit",
     .categories = "ratelimitadmin",
     .summary = "Answers what the subcommands do.",
     .since = "weir 0.1",
     .run = container_help},
};

}  // namespace

Commands rl_policy_commands() { return kRlPolicyCommands; }

}  // namespace weir::server
