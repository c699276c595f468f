// What is about weir itself and has no like in Redis: WEIR CLOCK.
#include <string>

#include "base/ascii.h"
#include "base/time_units.h"
#include "server/command/command_errors.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/core/server.h"

namespace weir::server {
namespace {

constexpr std::string_view kRegranted =
    "calendar windows (FIXED ... ALIGN, but ALIGN FIRST) that lie ahead of the wall clock are "
    "over: "
    "each such key may take its count once more, in the window that runs now; nothing else is "
    "granted, since debts, expiries, leases and bookings end when they would have ended";
constexpr std::string_view kNothing = "nothing: there was no difference";

void reply_clock(Call& call) {
  const Timeline& timeline = server_of(call).timeline();
  call.reply.map(4);
  call.reply.bulk("wall_ms");
  call.reply.integer(call.wall_ns() / kNsPerMs);
  call.reply.bulk("instant_ms");
  call.reply.integer(call.now_ms());
  call.reply.bulk("lead_ms");
  call.reply.integer(timeline.lead_ns() / kNsPerMs);
  call.reply.bulk("accepted_ms");
  call.reply.integer(timeline.accepted_ns() / kNsPerMs);
}

void clock(Call& call) {
  if (call.args.size() == 2) return reply_clock(call);
  if (call.args.size() != 3 || !equals_ignoring_case(call.args[2], "RESET"))
    return call.reply.error("ERR syntax error: WEIR CLOCK takes RESET or nothing");
  const int64_t dropped_ns = server_of(call).persistence().clock_keeper.reset();
  call.reply.map(2);
  call.reply.bulk("dropped_ms");
  call.reply.integer(dropped_ns / kNsPerMs);
  call.reply.bulk("granted_again");
  call.reply.bulk(dropped_ns == 0 ? kNothing : kRegranted);
}

constexpr Command kCommands[] = {
    {.name = "weir",
     .arity = -2,
     .flags = kContainer,
     .group = "server",
     .summary = "What is about weir itself.",
     .since = "weir 0.1"},
    {.name = "weir|clock",
     .arity = -2,
     .flags = kAdmin | kWrites | kNoScript | kNoMulti,
     .group = "server",
     .usage = "[RESET]",
     .summary =
         "Tells how instants stand to the wall clock, or takes their difference for granted.",
     .since = "weir 0.1",
     .run = clock},
    {.name = "weir|help",
     .arity = 2,
     .flags = kLoading,
     .group = "server",
     .summary = "Explains the subcommands.",
     .since = "weir 0.1",
     .run = container_help},
};

}  // namespace

Commands weir_commands() { return kCommands; }

}  // namespace weir::server
