// LATENCY: nothing is sampled, and the answers say so in the forms that clients expect. What turns,
// commits and commands take is in INFO, in figures of the whole time.
#include <string>

#include "server/arguments.h"
#include "server/commands/families.h"
#include "server/commands/help.h"

namespace weir::server {
namespace {

void latency_list(Call& call) { call.reply.array(0); }

void latency_reset(Call& call) { call.reply.integer(0); }

void latency_histogram(Call& call) { call.reply.map(0); }

void latency_doctor(Call& call) {
  call.reply.verbatim(
      "No latency is sampled. INFO tells how long turns and their commits take, and INFO "
      "commandstats how long commands do.\n");
}

void latency_graph(Call& call) {
  call.reply.error("ERR No samples available for event '" + std::string(shown_part(call.args[2])) +
                   "'");
}

constexpr Command row(Command command, uint32_t flags = kAdmin | kNoScript | kLoading) {
  command.flags = flags;
  command.group = "server";
  return command;
}

constexpr Command kCommands[] = {
    row({.name = "latency",
         .arity = -2,
         .summary = "Tells about slow events; none are sampled.",
         .since = "2.8.13"},
        kContainer),
    row({.name = "latency|doctor",
         .arity = 2,
         .summary = "Says where figures of latency are to be found.",
         .since = "2.8.13",
         .run = latency_doctor}),
    row({.name = "latency|graph",
         .arity = 3,
         .usage = "event",
         .summary = "An error, since no events are sampled.",
         .since = "2.8.13",
         .run = latency_graph}),
    row({.name = "latency|help",
         .arity = 2,
         .summary = "Lists the subcommands.",
         .since = "2.8.13",
         .run = container_help},
        kLoading),
    row({.name = "latency|histogram",
         .arity = -2,
         .usage = "[command [command ...]]",
         .summary = "Answers an empty map, since no histograms are kept.",
         .since = "7.0.0",
         .run = latency_histogram}),
    row({.name = "latency|history",
         .arity = 3,
         .usage = "event",
         .summary = "Answers an empty list, since no events are sampled.",
         .since = "2.8.13",
         .run = latency_list}),
    row({.name = "latency|latest",
         .arity = 2,
         .summary = "Answers an empty list, since no events are sampled.",
         .since = "2.8.13",
         .run = latency_list}),
    row({.name = "latency|reset",
         .arity = -2,
         .usage = "[event [event ...]]",
         .summary = "Answers how many events were forgotten: 0.",
         .since = "2.8.13",
         .run = latency_reset}),
};

}  // namespace

Commands latency_commands() { return kCommands; }

}  // namespace weir::server
