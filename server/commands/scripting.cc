// Scripts: EVAL, EVALSHA and their read-only forms, SCRIPT (its KILL is in functions.cc).
#include <utility>

#include "base/ascii.h"
#include "server/command/error_replied.h"
#include "server/commands/command_lists.h"
#include "server/commands/help.h"
#include "server/core/run/server.h"
#include "server/script/run/scripts.h"

namespace weir::server {
namespace {

// After SCRIPT DEBUG YES, Redis debugs the script on a copy of the data, and redis-cli --ldb
// ignores that weir refuses: the script must not run for real then.
Result<void, ErrorReplied> check_not_debugged(Call& call) {
  if (!std::exchange(call.session.client().switches().debugger_refused, false)) return {};
  return reply_error(call, "ERR there is no script debugger, so the script was not run");
}

void eval(Call& call) {
  if (check_not_debugged(call)) server_of(call).scripting().scripts.eval(call, false);
}

void eval_ro(Call& call) {
  if (check_not_debugged(call)) server_of(call).scripting().scripts.eval(call, true);
}

void evalsha(Call& call) {
  if (check_not_debugged(call)) server_of(call).scripting().scripts.eval_by_name(call, false);
}

void evalsha_ro(Call& call) {
  if (check_not_debugged(call)) server_of(call).scripting().scripts.eval_by_name(call, true);
}

script::Scripts& scripts_of(CallHost& host) { return host.server().scripting().scripts; }

bool eval_may_write(CallHost& host, Args args) {
  return scripts_of(host).declared_to_write(args[1]).value_or(true);
}
bool eval_ro_may_write(CallHost& host, Args args) {
  return scripts_of(host).declared_to_write(args[1]).value_or(false);
}
bool evalsha_may_write(CallHost& host, Args args) {
  return scripts_of(host).declared_to_write_by_name(args[1]).value_or(true);
}
bool evalsha_ro_may_write(CallHost& host, Args args) {
  return scripts_of(host).declared_to_write_by_name(args[1]).value_or(false);
}
// Redis keeps scripts outside the data.
bool changes_no_data(CallHost&, Args) { return false; }

void script_load(Call& call) { server_of(call).scripting().scripts.load(call); }

void script_exists(Call& call) {
  call.reply.array(static_cast<int64_t>(call.args.size() - 2));
  for (const std::string_view name : call.args.subspan(2))
    call.reply.integer(server_of(call).scripting().scripts.exists(name) ? 1 : 0);
}

void script_flush(Call& call) {
  const bool known = call.args.size() == 2 ||
                     (call.args.size() == 3 && (equals_ignoring_case(call.args[2], "sync") ||
                                                equals_ignoring_case(call.args[2], "async")));
  if (!known) return call.reply.error("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
  server_of(call).scripting().scripts.flush(call);
  call.reply.status("OK");
}

void script_debug(Call& call) {
  const auto is = [&](std::string_view word) { return equals_ignoring_case(call.args[2], word); };
  call.session.client().switches().debugger_refused = is("yes") || is("sync");
  if (is("no")) return call.reply.status("OK");
  if (!call.session.client().switches().debugger_refused)
    return call.reply.error("ERR Use SCRIPT DEBUG YES/SYNC/NO");
  call.reply.error("ERR SCRIPT DEBUG is refused: there is no script debugger");
}

constexpr Command scripting_row(Command command) {
  if (!command.has(kContainer | kLoading)) command.flags |= kNoScript;
  command.group = "scripting";
  return command;
}

// As in Redis, what a script wrote before an error stays.
constexpr uint32_t kRuns = kMovableKeys | kKeepsOnError | kSkipMonitor | kNoMandatoryKeys | kStale;

constexpr KeyPositions kKeys = {.numkeys = 2};

constexpr Command kScriptingCommands[] = {
    scripting_row({.name = "eval",
                   .arity = -3,
                   .flags = kRuns | kMayReplicate,
                   .keys = kKeys,
                   .audit = Audit::kNo,
                   .usage = "script numkeys [key [key ...]] [arg [arg ...]]",
                   .summary = "Runs a Lua script.",
                   .since = "2.6.0",
                   .run = eval,
                   .may_write = eval_may_write}),
    scripting_row({.name = "evalsha",
                   .arity = -3,
                   .flags = kRuns | kMayReplicate,
                   .keys = kKeys,
                   .audit = Audit::kNo,
                   .usage = "sha1 numkeys [key [key ...]] [arg [arg ...]]",
                   .summary = "Runs a Lua script that is known by its SHA-1.",
                   .since = "2.6.0",
                   .run = evalsha,
                   .may_write = evalsha_may_write}),
    scripting_row({.name = "eval_ro",
                   .arity = -3,
                   .flags = kRuns | kReads,
                   .keys = kKeys,
                   .audit = Audit::kNo,
                   .usage = "script numkeys [key [key ...]] [arg [arg ...]]",
                   .summary = "Runs a Lua script that may not write.",
                   .since = "7.0.0",
                   .run = eval_ro,
                   .may_write = eval_ro_may_write}),
    scripting_row({.name = "evalsha_ro",
                   .arity = -3,
                   .flags = kRuns | kReads,
                   .keys = kKeys,
                   .audit = Audit::kNo,
                   .usage = "sha1 numkeys [key [key ...]] [arg [arg ...]]",
                   .summary = "Runs a Lua script that is known by its SHA-1 and may not write.",
                   .since = "7.0.0",
                   .run = evalsha_ro,
                   .may_write = evalsha_ro_may_write}),
    scripting_row({.name = "script",
                   .arity = -2,
                   .flags = kContainer,
                   .summary = "Keeps scripts.",
                   .since = "2.6.0"}),
    scripting_row({.name = "script|debug",
                   .arity = 3,
                   .audit = Audit::kNo,
                   .usage = "<YES | SYNC | NO>",
                   .summary = "Is refused but for NO: there is no script debugger.",
                   .since = "3.2.0",
                   .run = script_debug}),
    scripting_row({.name = "script|exists",
                   .arity = -3,
                   .audit = Audit::kNo,
                   .usage = "sha1 [sha1 ...]",
                   .summary = "Answers which scripts are known.",
                   .since = "2.6.0",
                   .tips = "request_policy:all_shards response_policy:agg_logical_and",
                   .run = script_exists}),
    scripting_row({.name = "script|flush",
                   .arity = -2,
                   .flags = kMayReplicate,
                   .audit = Audit::kYes,
                   .usage = "[ASYNC | SYNC]",
                   .summary = "Forgets all scripts.",
                   .since = "2.6.0",
                   .tips = "request_policy:all_nodes response_policy:all_succeeded",
                   .run = script_flush,
                   .may_write = changes_no_data}),
    scripting_row({.name = "script|help",
                   .arity = 2,
                   .flags = kLoading,
                   .audit = Audit::kNo,
                   .summary = "Lists the subcommands.",
                   .since = "5.0.0",
                   .run = container_help}),
    scripting_row({.name = "script|load",
                   .arity = 3,
                   .flags = kMayReplicate | kStale,
                   .audit = Audit::kNo,
                   .usage = "script",
                   .summary = "Keeps a script until SCRIPT FLUSH, and answers its SHA-1.",
                   .since = "2.6.0",
                   .tips = "request_policy:all_nodes response_policy:all_succeeded",
                   .run = script_load,
                   .may_write = changes_no_data}),
};

}  // namespace

Commands scripting_commands() { return kScriptingCommands; }

}  // namespace weir::server
