// DEBUG: what tests need, for clients that enable-debug-command permits.
#include <cstdlib>
#include <string>

#include "base/ascii.h"
#include "base/check.h"
#include "base/time_units.h"
#include "server/command/arguments.h"
#include "server/commands/command_lists.h"
#include "server/commands/help.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

constexpr double kSleepSecondsMax = 3600;

bool may_debug(const Call& call) {
  switch (server_of(call).config().enable_debug_command) {
    case DebugAccess::kYes:
      return true;
    case DebugAccess::kLocal:
      return call.session.client().peer().loopback;
    case DebugAccess::kNo:
      break;
  }
  return false;
}

// A text that is no number is 0, as in Redis.
void sleep(Call& call) {
  const double seconds = std::strtod(std::string(call.args[2]).c_str(), nullptr);
  if (seconds > 0) {
    server_of(call).clock().sleep_ns(
        static_cast<int64_t>(std::min(seconds, kSleepSecondsMax) * kNsPerS));
  }
  call.reply.status("OK");
}

// The text as it is, so that a client's tests see any error that they like. A line ends at CR or
// LF, which are spaces therefore.
void error(Call& call) {
  std::string text(call.args[2]);
  for (char& c : text) c = c == '\r' || c == '\n' ? ' ' : c;
  call.reply.error(text);
}

void set_active_expire(Call& call) {
  call.keys.work().set_active_expiry(std::atoi(std::string(call.args[2]).c_str()) != 0);
  call.reply.status("OK");
}

void write_nowhere() {
  volatile int* nowhere = nullptr;
  *nowhere = 1;
}

// Takes stack with each call, whatever the compiler makes of it.
[[gnu::noinline]] size_t use_up_stack(size_t depth) {
  volatile char room[4096];
  room[depth % sizeof room] = 1;
  if (depth == SIZE_MAX) return 0;
  return use_up_stack(depth + 1) + static_cast<size_t>(room[0]);
}

void help(Call& call) {
  constexpr HelpEntry kEntries[] = {
      {"BROKEN-CHECK", "Meets a bug, as a command might: it is answered as an internal error."},
      {"ERROR text", "Answers the text as an error, to clients under test."},
      {"HELP", "Lists the subcommands."},
      {"PANIC", "Ends the server as a bug does that would put broken state on the disk."},
      {"SEGFAULT", "Crashes the server by a write to no address."},
      {"SET-ACTIVE-EXPIRE <0|1>", "Whether expired keys that nobody asks for are dropped."},
      {"SLEEP seconds", "Stops the whole server for so long."},
      {"STACK-OVERFLOW", "Crashes the server by calls without an end."},
  };
  reply_help(call, "debug", kEntries);
}

void debug(Call& call) {
  if (!may_debug(call)) {
    return call.reply.error(
        "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", "
        "you can run it from a local connection, otherwise you need to set this option in the "
        "configuration file, and then restart the server.");
  }
  const auto is = [&](std::string_view name, size_t args) {
    return call.args.size() == args && equals_ignoring_case(call.args[1], name);
  };
  if (is("SLEEP", 3)) return sleep(call);
  if (is("SET-ACTIVE-EXPIRE", 3)) return set_active_expire(call);
  if (is("BROKEN-CHECK", 2)) WEIR_REQUIRE(call.args.empty());
  if (is("SEGFAULT", 2)) write_nowhere();
  if (is("STACK-OVERFLOW", 2)) return call.reply.integer(use_up_stack(0) != 0 ? 1 : 0);
  if (is("PANIC", 2)) WEIR_CHECK(call.args.empty());
  if (is("ERROR", 3)) return error(call);
  if (is("HELP", 2)) return help(call);
  call.reply.error("ERR unknown subcommand or wrong number of arguments for '" +
                   std::string(shown_part(call.args[1])) + "'. Try DEBUG HELP.");
}

// One row, as on Redis: its subcommands are not commands.
constexpr Command kDebugCommands[] = {
    {.name = "debug",
     .arity = -2,
     .flags = kAdmin | kNoScript | kLoading,
     .audit = Audit::kYes,
     .group = "server",
     .usage = "subcommand [argument [argument ...]]",
     .summary = "Helps tests; needs enable-debug-command.",
     .since = "1.0.0",
     .run = debug},
};

}  // namespace

Commands debug_commands() { return kDebugCommands; }

}  // namespace weir::server
