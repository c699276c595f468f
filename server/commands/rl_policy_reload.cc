// RL.POLICY RELOAD: policies from their file.
#include <string>
#include <vector>

#include "algorithms/words.h"
#include "base/ascii.h"
#include "server/command/command_errors.h"
#include "server/commands/command_lists.h"
#include "server/config/config_words.h"
#include "server/core/run/policies_reload.h"
#include "server/core/run/server.h"
#include "server/limiter/policy/limit_use.h"

namespace weir::server {
namespace {

// What the file of policies changes, as lines of - and +: what was, and what is.
void policy_reload(Call& call) {
  const bool differs_only = call.args.size() == 3;
  if (call.args.size() > 3) return call.reply.error(arity_error(call.command));
  if (differs_only && !equals_ignoring_case(call.args[2], "DIFF")) {
    return call.reply.error("ERR syntax error at '" + algorithms::shown(call.args[2]) +
                            "': expected DIFF or nothing");
  }
  const auto may_reach = [&call](std::string_view policy) {
    const std::string_view words[] = {call.args[0], call.args[1], {}, policy};
    return server_of(call).acl().allow(call.session, call.command, words);
  };
  const PoliciesNeeds needs{.config = &server_of(call).config(),
                            .limiters = &call.limiters,
                            .keys = &call.keys,
                            .timeline = &server_of(call).timeline(),
                            .host = &call.host};
  const auto diff = reload_policies(needs, {.user = call.session.client().user().name(),
                                            .apply = !differs_only,
                                            .may_reach = may_reach});
  if (!diff) return call.reply.error(diff.error());
  std::vector<std::string> lines;
  for (const auto& [name, before, after] : diff->policies) {
    call.work().charge_entries(1);
    if (!before.empty()) lines.push_back("- " + quote_word(name) + " " + before);
    if (!after.empty()) lines.push_back("+ " + quote_word(name) + " " + after);
  }
  call.work().charge_entries(diff->rules.size());
  if (!differs_only) {
    for (AuditChange& change : changes_of(*diff)) call.host.audit().note(std::move(change));
  }
  lines.insert(lines.end(), diff->rules.begin(), diff->rules.end());
  call.reply.array(static_cast<int64_t>(lines.size()));
  for (const std::string& line : lines) call.reply.bulk(line);
}

// The file names the policies. policy_reload() asks for each that would change, as a fourth word.
void names_one_of_file(Args args, LimitUse* use) {
  if (args.size() == 4) add_policy_use(args, 3, use);
}

constexpr Command kRlPolicyReloadCommands[] = {
    {.name = "rl.policy|reload",
     .arity = -2,
     .flags = kWrites | kDenyOom | kNoScript,
     .audit = Audit::kIfNoted,
     .group = "ratelimit",
     .categories = "ratelimitadmin",
     .usage = "[DIFF]",
     .summary = "Reads the file of policies again, all or, on an error, none; with DIFF it only "
                "answers what that would change.",
     .since = "weir 0.1",
     .tips = "request_policy:all_shards response_policy:special",
     .run = policy_reload,
     .limit_use = names_one_of_file},
};

}  // namespace

Commands rl_policy_reload_commands() { return kRlPolicyReloadCommands; }

}  // namespace weir::server
