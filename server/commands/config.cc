// CONFIG: the options of server/config/config.h while running, and the statistics' reset.
#include <algorithm>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "server/acl/acl.h"
#include "server/command/redaction.h"
#include "server/commands/command_lists.h"
#include "server/commands/help.h"
#include "server/config/config_access.h"
#include "server/config/config_options.h"
#include "server/core/clients/descriptors.h"
#include "server/core/run/server.h"
#include "server/os/log.h"

namespace weir::server {
namespace {

// As in Redis, a name is answered as it was asked for, unless it was asked for by a pattern.
std::string_view name_as_asked(Args patterns, std::string_view name) {
  const auto asked = std::find_if(patterns.begin(), patterns.end(), [&](std::string_view pattern) {
    return equals_ignoring_case(pattern, name);
  });
  return asked == patterns.end() ? name : *asked;
}

void config_get_command(Call& call) {
  const Args patterns = call.args.subspan(2);
  const auto found = config_get(server_of(call).config(), patterns);
  call.reply.map(static_cast<int64_t>(found.size()));
  for (const auto& [name, value] : found) {
    call.reply.bulk(name_as_asked(patterns, name));
    call.reply.bulk(value);
  }
}

// Fails with the error that Redis answers.
Result<void, std::string> check_clients(Call& call, int64_t maxclients) {
  if (server_of(call).sessions().descriptors() == nullptr ||
      maxclients <= server_of(call).config().maxclients) {
    return {};
  }
  const auto made = server_of(call).sessions().descriptors()->make_room_for(maxclients);
  if (made) return {};
  return "ERR CONFIG SET failed (possibly related to argument 'maxclients') - The operating system "
         "is not able to handle the specified number of clients, try with " +
         std::to_string(made.error());
}

// Options of TLS are tried out as a whole. As with Redis, one that is set to the value that it has
// reads its file again. Fails with the error that is answered.
Result<void, std::string> use_tls(Call& call, const Config& next) {
  const Args pairs = call.args.subspan(2);
  for (size_t i = 0; i < pairs.size(); i += 2) {
    if (!uses_tls(next) || !to_lower(pairs[i]).starts_with("tls-")) continue;
    const auto loaded = server_of(call).sessions().tls().load(next);
    if (loaded) return {};
    return "ERR CONFIG SET failed (possibly related to argument '" + to_lower(pairs[i]) +
           "') - Unable to update TLS configuration: " + loaded.error();
  }
  return {};
}

// What the audit may tell of a value.
std::string told_value(const Option& option, const Config& config) {
  const std::string value = value_text(option, config);
  return option.secret && !value.empty() ? std::string(kRedacted) : value;
}

void config_set_command(Call& call) {
  std::vector<std::string> changed;
  Config next = server_of(call).config();
  auto set = config_set(&next, call.args.subspan(2), &changed);
  if (set) set = check_clients(call, next.maxclients);
  if (set) set = use_tls(call, next);
  if (!set) return call.reply.error(set.error());
  const Config before = std::exchange(server_of(call).config(), std::move(next));
  server_of(call).apply_config(changed);
  for (const std::string& name : changed) {
    const Option& option = *find_option(name);
    call.host.audit().note({.name = name,
                            .before = told_value(option, before),
                            .after = told_value(option, server_of(call).config())});
  }
  call.reply.status("OK");
}

void config_rewrite_command(Call& call) {
  Config wanted = server_of(call).config();
  wanted.users = server_of(call).acl().lines_to_rewrite();
  if (const auto written = config_rewrite(wanted); !written) {
    log_warning("CONFIG REWRITE by client {} ({}) failed: {}", call.session.id,
                call.session.client().peer().address, written.error());
    return call.reply.error(written.error());
  }
  call.reply.status("OK");
}

void config_resetstat(Call& call) {
  Server& server = server_of(call);
  server.report().reset();
  const storage::KeyspaceMetrics metrics = call.keys.metrics();
  server.report().stats.expired_before = metrics.expired;
  server.report().stats.evicted_before = metrics.evicted;
  server.executor().reset_metrics();
  server.sessions().bounds().reset_metrics();
  server.sessions().tls().metrics.reset();
  call.limiters.verdicts = {};
  server.waiting().reset_metrics();
  call.limiters.policies.reset_counts();
  call.limiters.top.reset(call.limiters.top.denied.capacity());
  call.reply.status("OK");
}

constexpr uint32_t kConfigFlags = kAdmin | kNoScript | kLoading;

constexpr Command kConfigCommands[] = {
    {.name = "config",
     .arity = -2,
     .flags = kContainer,
     .group = "server",
     .summary = "Reads and changes the configuration of the running server.",
     .since = "2.0.0"},
    {.name = "config|get",
     .arity = -3,
     .flags = kConfigFlags,
     .audit = Audit::kNo,
     .group = "server",
     .usage = "parameter [parameter ...]",
     .summary = "Answers the options whose names fit, and their values.",
     .since = "2.0.0",
     .run = config_get_command},
    {.name = "config|help",
     .arity = 2,
     .flags = kLoading,
     .group = "server",
     .summary = "Lists the subcommands.",
     .since = "5.0.0",
     .run = container_help},
    {.name = "config|resetstat",
     .arity = 2,
     .flags = kConfigFlags,
     .audit = Audit::kYes,
     .group = "server",
     .summary = "Sets INFO's counters to zero.",
     .since = "2.0.0",
     .run = config_resetstat},
    {.name = "config|rewrite",
     .arity = 2,
     .flags = kConfigFlags,
     .audit = Audit::kYes,
     .group = "server",
     .summary = "Writes what CONFIG SET changed into the configuration file.",
     .since = "2.8.0",
     .run = config_rewrite_command},
    {.name = "config|set",
     .arity = -4,
     .flags = kConfigFlags,
     .secrets = Secrets::kPasswords,
     .audit = Audit::kIfNoted,
     .group = "server",
     .usage = "parameter value [parameter value ...]",
     .summary = "Changes options, all of them or, on an error, none.",
     .since = "2.0.0",
     .tips = "request_policy:all_nodes response_policy:all_succeeded",
     .run = config_set_command},
};

}  // namespace

Commands config_commands() { return kConfigCommands; }

}  // namespace weir::server
