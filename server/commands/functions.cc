// Functions: FCALL and its read-only form, FUNCTION; and SCRIPT KILL, which does what FUNCTION KILL
// does for scripts.
#include "server/script/run/functions.h"

#include <bit>

#include "base/ascii.h"
#include "base/time_units.h"
#include "resp/glob.h"
#include "server/command/arguments.h"
#include "server/command/option_table.h"
#include "server/commands/command_lists.h"
#include "server/commands/help.h"
#include "server/core/run/server.h"
#include "server/script/lua/shebang.h"

namespace weir::server {
namespace {

using script::Library;
using script::Registration;
using script::RestorePolicy;

void fcall(Call& call) { server_of(call).scripting().functions.call(call, false); }
void fcall_ro(Call& call) { server_of(call).scripting().functions.call(call, true); }

// An error may show what a client wrote, up to a NUL.
void refuse(Call& call, std::string_view error) { call.reply.error(up_to_nul(error)); }

void reply_result(Call& call, const Result<void, std::string>& done) {
  done ? call.reply.status("OK") : refuse(call, done.error());
}

struct LoadOptions {
  bool replace = false;
};

constexpr OptionRow<LoadOptions> kLoadOptions[] = {
    {.word = "REPLACE", .flag = &LoadOptions::replace}};

void function_load(Call& call) {
  LoadOptions options;
  const Args words = call.args.subspan(2, call.args.size() - 3);
  const auto rest = read_leading_options(call, words, kLoadOptions, &options);
  if (!rest) return;
  if (!rest->empty())
    return refuse(call, "ERR Unknown option given: " + std::string(shown_part(rest->front())));
  std::string name;
  const auto loaded =
      server_of(call).scripting().functions.load(call, call.args.back(), options.replace, &name);
  loaded ? call.reply.bulk(name) : refuse(call, loaded.error());
}

void function_delete(Call& call) {
  reply_result(call, server_of(call).scripting().functions.remove(call, call.args[2]));
}

void refuse_count(Call& call, std::string_view subcommand) {
  call.reply.error("ERR unknown subcommand or wrong number of arguments for '" +
                   std::string(subcommand) + "'. Try FUNCTION HELP.");
}

void function_flush(Call& call) {
  if (call.args.size() > 3) return refuse_count(call, call.args[1]);
  if (call.args.size() == 3 && !equals_ignoring_case(call.args[2], "sync") &&
      !equals_ignoring_case(call.args[2], "async")) {
    return call.reply.error("ERR FUNCTION FLUSH only supports SYNC|ASYNC option");
  }
  reply_result(call, server_of(call).scripting().functions.flush(call));
}

void function_dump(Call& call) { call.reply.bulk(server_of(call).scripting().functions.dump()); }

void function_restore(Call& call) {
  if (call.args.size() > 4) return refuse_count(call, call.args[1]);
  RestorePolicy policy = RestorePolicy::kAppend;
  if (call.args.size() == 4) {
    const std::string_view word = call.args[3];
    if (equals_ignoring_case(word, "replace")) {
      policy = RestorePolicy::kReplace;
    } else if (equals_ignoring_case(word, "flush")) {
      policy = RestorePolicy::kFlush;
    } else if (!equals_ignoring_case(word, "append")) {
      return call.reply.error(
          "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.");
    }
  }
  reply_result(call, server_of(call).scripting().functions.restore(call, call.args[2], policy));
}

void reply_function(resp::ReplyWriter& reply, const Registration& function) {
  reply.map(3);
  reply.bulk("name");
  reply.bulk(function.name);
  reply.bulk("description");
  function.description ? reply.bulk(*function.description) : reply.null();
  reply.bulk("flags");
  reply.set(std::popcount(function.flags));
  for (const std::string_view name : script::script_flag_names()) {
    if ((function.flags & script::script_flag(name)) != 0) reply.status(name);
  }
}

void reply_library(resp::ReplyWriter& reply, const Library& library, bool with_code) {
  reply.map(with_code ? 4 : 3);
  reply.bulk("library_name");
  reply.bulk(library.name);
  reply.bulk("engine");
  reply.bulk("LUA");
  reply.bulk("functions");
  reply.array(static_cast<int64_t>(library.functions.size()));
  for (const Registration& function : library.functions) reply_function(reply, function);
  if (!with_code) return;
  reply.bulk("library_code");
  reply.bulk(library.code);
}

struct ListOptions {
  bool with_code = false;
  std::optional<std::string_view> pattern;
};

Result<void, ErrorReplied> take_pattern(Call& call, Args values, ListOptions* options) {
  options->pattern = values[0];
  return check_pattern(call, values[0]);
}

constexpr OptionRow<ListOptions> kListOptions[] = {
    {.word = "WITHCODE", .flag = &ListOptions::with_code, .fits = without<&ListOptions::with_code>},
    {.word = "LIBRARYNAME",
     .values = 1,
     .take = take_pattern,
     .fits = without<&ListOptions::pattern>}};

void refuse_list_option(Call& call, const ListOptions& options, std::string_view word) {
  if (!options.pattern && equals_ignoring_case(word, "LIBRARYNAME"))
    return call.reply.error("ERR library name argument was not given");
  std::string shown(word);  // with all its line ends: here they are not cut off
  for (char& c : shown) c = c == '\r' || c == '\n' ? ' ' : c;
  refuse(call, "ERR Unknown argument " + shown);
}

void function_list(Call& call) {
  ListOptions options;
  const auto rest = read_leading_options(call, call.args.subspan(2), kListOptions, &options);
  if (!rest) return;
  if (!rest->empty()) return refuse_list_option(call, options, rest->front());
  std::vector<const Library*> shown;
  for (const auto& [name, library] : server_of(call).scripting().functions.libraries()) {
    if (!options.pattern || resp::glob_match(*options.pattern, name, true))
      shown.push_back(library.get());
  }
  call.reply.array(static_cast<int64_t>(shown.size()));
  for (const Library* library : shown) reply_library(call.reply, *library, options.with_code);
}

void reply_running(Call& call, const RunningScript& script) {
  call.reply.map(3);
  call.reply.bulk("name");
  call.reply.bulk(script.name);
  call.reply.bulk("command");
  call.reply.array(static_cast<int64_t>(script.command.size()));
  for (const std::string_view arg : script.command) call.reply.bulk(arg);
  call.reply.bulk("duration_ms");
  call.reply.integer((server_of(call).clock().steady_ns() - script.begin_steady_ns) / kNsPerMs);
}

void function_stats(Call& call) {
  const RunningScript* running = server_of(call).scripting().busy.current();
  if (running != nullptr && !running->is_function) return call.reply.error(busy_error(*running));
  script::Functions& functions = server_of(call).scripting().functions;
  call.reply.map(2);
  call.reply.bulk("running_script");
  running != nullptr ? reply_running(call, *running) : call.reply.null();
  call.reply.bulk("engines");
  call.reply.map(1);
  call.reply.bulk("LUA");
  call.reply.map(2);
  call.reply.bulk("libraries_count");
  call.reply.integer(static_cast<int64_t>(functions.libraries().size()));
  call.reply.bulk("functions_count");
  call.reply.integer(static_cast<int64_t>(functions.function_count()));
}

// Only a script that runs long can be ended: a short one has ended before any client is served.
void end_long(Call& call, bool function) {
  const RunningScript* running = server_of(call).scripting().busy.current();
  if (running == nullptr) return call.reply.error("NOTBUSY No scripts in execution right now.");
  if (running->is_function != function) return call.reply.error(busy_error(*running));
  server_of(call).scripting().busy.kill();
  call.reply.status("OK");
}

void function_kill(Call& call) { end_long(call, true); }

void script_kill(Call& call) { end_long(call, false); }

std::optional<bool> declared_to_write(CallHost& host, Args args) {
  return host.server().scripting().functions.declared_to_write(args[1]);
}
bool fcall_may_write(CallHost& host, Args args) {
  return declared_to_write(host, args).value_or(true);
}
bool fcall_ro_may_write(CallHost& host, Args args) {
  return declared_to_write(host, args).value_or(false);
}
bool never_writes(CallHost&, Args) { return false; }

constexpr Command functions_row(Command command) {
  const bool tells_only = command.has(kContainer) || command.run == container_help;
  if (!tells_only) command.flags |= kNoScript;
  command.group = "scripting";
  command.since = "7.0.0";
  return command;
}

// As in Redis, what a function wrote before an error stays.
constexpr uint32_t kRunsFunction =
    kMovableKeys | kKeepsOnError | kStale | kSkipMonitor | kNoMandatoryKeys | kMayReplicate;
// No key is changed, so no session waits for it.
constexpr uint32_t kChangesFunctions = kWrites | kWakesNobody;

constexpr Command kFunctionsCommands[] = {
    functions_row({.name = "fcall",
                   .arity = -3,
                   .flags = kRunsFunction,
                   .keys = {.numkeys = 2},
                   .audit = Audit::kNo,
                   .usage = "function numkeys [key [key ...]] [arg [arg ...]]",
                   .summary = "Runs a function of a library.",
                   .run = fcall,
                   .may_write = fcall_may_write}),
    functions_row({.name = "fcall_ro",
                   .arity = -3,
                   .flags = kRunsFunction | kReads,
                   .keys = {.numkeys = 2, .use = KeyUse::kReads},
                   .audit = Audit::kNo,
                   .usage = "function numkeys [key [key ...]] [arg [arg ...]]",
                   .summary = "Runs a function that does not write.",
                   .run = fcall_ro,
                   .may_write = fcall_ro_may_write}),
    functions_row({.name = "function",
                   .arity = -2,
                   .flags = kContainer,
                   .summary = "Keeps libraries of functions."}),
    functions_row({.name = "function|delete",
                   .arity = 3,
                   .flags = kChangesFunctions,
                   .audit = Audit::kYes,
                   .usage = "library-name",
                   .summary = "Forgets a library and its functions.",
                   .tips = "request_policy:all_shards response_policy:all_succeeded",
                   .run = function_delete}),
    functions_row(
        {.name = "function|dump",
         .arity = 2,
         .flags = kMayReplicate,
         .audit = Audit::kNo,
         .summary = "Answers all libraries as bytes for FUNCTION RESTORE, here or on Redis 7.",
         .run = function_dump,
         .may_write = never_writes}),
    functions_row({.name = "function|flush",
                   .arity = -2,
                   .flags = kChangesFunctions,
                   .audit = Audit::kYes,
                   .usage = "[ASYNC | SYNC]",
                   .summary = "Forgets all libraries.",
                   .tips = "request_policy:all_shards response_policy:all_succeeded",
                   .run = function_flush}),
    functions_row({.name = "function|help",
                   .arity = 2,
                   .flags = kLoading,
                   .audit = Audit::kNo,
                   .summary = "Lists the subcommands.",
                   .run = container_help}),
    functions_row({.name = "function|kill",
                   .arity = 2,
                   .flags = kAllowBusy,
                   .audit = Audit::kYes,
                   .summary =
                       "Ends the function that runs longer than busy-reply-threshold, and undoes "
                       "what it wrote.",
                   .tips = "request_policy:all_shards response_policy:one_succeeded",
                   .run = function_kill}),
    functions_row({.name = "function|list",
                   .arity = -2,
                   .flags = kMayReplicate,
                   .audit = Audit::kNo,
                   .usage = "[LIBRARYNAME library-name-pattern] [WITHCODE]",
                   .summary = "Lists libraries and their functions.",
                   .tips = "nondeterministic_output_order",
                   .run = function_list,
                   .may_write = never_writes}),
    functions_row(
        {.name = "function|load",
         .arity = -3,
         .flags = kChangesFunctions | kDenyOom,
         .audit = Audit::kYes,
         .usage = "[REPLACE] function-code",
         .summary = "Keeps a library of functions, on disk too, until FUNCTION DELETE or FLUSH.",
         .tips = "request_policy:all_shards response_policy:all_succeeded",
         .run = function_load}),
    functions_row({.name = "function|restore",
                   .arity = -3,
                   .flags = kChangesFunctions | kDenyOom,
                   .audit = Audit::kYes,
                   .usage = "serialized-value [FLUSH | APPEND | REPLACE]",
                   .summary = "Keeps the libraries that FUNCTION DUMP has answered.",
                   .tips = "request_policy:all_shards response_policy:all_succeeded",
                   .run = function_restore}),
    functions_row(
        {.name = "function|stats",
         .arity = 2,
         .flags = kAllowBusy,
         .audit = Audit::kNo,
         .summary = "Answers which function is running, and how many there are.",
         .tips = "nondeterministic_output request_policy:all_shards response_policy:special",
         .run = function_stats}),
};

// This row is beside its counterpart; the rest of SCRIPT is in scripting.cc.
constexpr Command kScriptKill[] = {{
    .name = "script|kill",
    .arity = 2,
    .flags = kNoScript | kAllowBusy,
    .audit = Audit::kYes,
    .group = "scripting",
    .summary = "Ends the script that runs longer than busy-reply-threshold, and undoes what it "
               "wrote.",
    .since = "2.6.0",
    .tips = "request_policy:all_shards response_policy:one_succeeded",
    .run = script_kill,
}};

}  // namespace

Commands functions_commands() { return kFunctionsCommands; }

Commands script_kill_commands() { return kScriptKill; }

}  // namespace weir::server
