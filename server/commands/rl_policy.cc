// RL.POLICY: limits kept under a name.
#include <string>

#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/core/server.h"
#include "server/limiter/policy_words.h"
#include "server/limiter/request.h"

namespace weir::server {
namespace {

void policy_set(Call& call) {
  if (call.args[2].empty() || call.args[2].size() > kPolicyNameBytesMax) {
    return call.reply.error(policy_name_error(call.args[2]));
  }
  auto policy = parse_policy(call.args.subspan(3));
  if (!policy) return call.reply.error(policy.error());
  const Policy* before = call.limiters.policies.find(call.args[2]);
  policy->seed = before != nullptr && before->seed != 0 ? before->seed : call.host.random() | 1;
  policy->version = static_cast<uint64_t>(call.limiters.versions.next());
  const int64_t policies_max = server_of(call).config().policies_max;
  const auto set = call.limiters.policies.set(call.args[2], *policy, policies_max);
  if (!set) return call.reply.error(set.error());
  call.reply.status("OK");
}

void policy_get(Call& call) {
  const Policy* policy = call.limiters.policies.find(call.args[2]);
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
  call.reply.integer(call.limiters.policies.erase(call.args[2]) ? 1 : 0);
}

void policy_list(Call& call) {
  const auto names = call.limiters.policies.names();
  call.reply.array(static_cast<int64_t>(names.size()));
  for (const std::string& name : names) call.reply.bulk(name);
}

void names_policy(Args, LimitUse* use) { use->policies.push_back(2); }

constexpr Command kCommands[] = {
    {.name = "rl.policy",
     .arity = -2,
     .flags = kContainer,
     .group = "limiter",
     .usage = "subcommand [argument ...]",
     .summary = "Keeps limits under a name.",
     .since = "weir 0.1"},
    {.name = "rl.policy|set",
     .arity = -4,
     .flags = kWrites,
     .group = "limiter",
     .categories = "ratelimitadmin",
     .usage = "name <count/period | algorithm rate | UNLIMITED | BLOCKED> [option value ...] "
              "[limit:string ...] [SHADOW | PERCENT percent:integer] "
              "[ONCHANGE <USED | RESET | ASIS | PROPORTIONAL | ADDITIVE>]",
     .summary = "Makes or changes a policy; keys follow when they are next used.",
     .since = "weir 0.1",
     .run = policy_set,
     .limit_use = names_policy},
    {.name = "rl.policy|get",
     .arity = 3,
     .flags = kReads | kFast,
     .group = "limiter",
     .categories = "ratelimitadmin",
     .usage = "name",
     .summary = "Answers a policy's limits, its mode and its version.",
     .since = "weir 0.1",
     .run = policy_get,
     .limit_use = names_policy},
    {.name = "rl.policy|del",
     .arity = 3,
     .flags = kWrites | kFast,
     .group = "limiter",
     .categories = "ratelimitadmin",
     .usage = "name",
     .summary = "Deletes a policy; the keys that used it keep what they hold.",
     .since = "weir 0.1",
     .run = policy_del,
     .limit_use = names_policy},
    {.name = "rl.policy|list",
     .arity = 2,
     .flags = kReads,
     .group = "limiter",
     .categories = "ratelimitadmin",
     .summary = "Answers the names of all policies.",
     .since = "weir 0.1",
     .run = policy_list},
    {.name = "rl.policy|help",
     .arity = 2,
     .flags = kLoading,
     .group = "limiter",
     .categories = "ratelimitadmin",
     .summary = "Answers what the subcommands do.",
     .since = "weir 0.1",
     .run = container_help},
};

}  // namespace

Commands rl_policy_commands() { return kCommands; }

}  // namespace weir::server
