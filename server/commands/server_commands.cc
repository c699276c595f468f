// What a server on its own says about itself: TIME, ROLE, WAIT, MEMORY, LOLWUT, and what it is not:
// part of a cluster.
#include <string>

#include "resp/numbers.h"
#include "server/arguments.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/server.h"

namespace weir::server {
namespace {

void time(Call& call) {
  const int64_t now_us = call.now_ns / 1000;
  call.reply.array(2);
  call.reply.bulk_integer(now_us / 1'000'000);
  call.reply.bulk_integer(now_us % 1'000'000);
}

void role(Call& call) {
  call.reply.array(3);
  call.reply.bulk("master");
  call.reply.integer(0);  // replication offset
  call.reply.array(0);    // replicas
}

// There are no replicas to wait for.
void wait(Call& call) {
  if (!integer_argument(call, call.args[1])) return;
  const auto timeout_ms = resp::parse_int64(call.args[2]);
  if (!timeout_ms) return call.reply.error("ERR timeout is not an integer or out of range");
  if (*timeout_ms < 0) return call.reply.error("ERR timeout is negative");
  call.reply.integer(0);
}

void no_cluster(Call& call) { call.reply.error("ERR This instance has cluster support disabled"); }

void lolwut(Call& call) {
  call.reply.verbatim(
      "  ~ ~~~  ~~ ~\n"
      "~~~~ ~~~~ ~~ ~ ___\n"
      "==============/    the river goes on, a little slower\n"
      "  weir " +
      std::string(kWeirVersion) + "\n");
}

// What the record takes in the working set, without its share of the table.
void memory_usage(Call& call) {
  if (call.args.size() != 3) {
    const bool samples =
        call.args.size() == 5 && resp::equals_ignoring_case(call.args[3], "SAMPLES");
    if (!samples) return call.reply.error(kSyntaxError);
    const auto count = integer_argument(call, call.args[4]);
    if (!count) return;
    if (*count < 0) return call.reply.error(kSyntaxError);
  }
  const storage::Ref ref = call.look_up(call.args[2]);
  if (!ref.exists()) return call.reply.null();
  call.reply.integer(
      static_cast<int64_t>(storage::kEntryHeadBytes + ref.key().size() + ref.value().size()));
}

constexpr Command kCommands[] = {
    {.name = "time",
     .arity = 1,
     .flags = kFast | kLoading,
     .group = "server",
     .summary = "Answers the instant that commands see: Unix seconds, and microseconds.",
     .since = "2.6.0",
     .run = time},
    {.name = "role",
     .arity = 1,
     .flags = kAdmin | kFast | kLoading | kNoScript,
     .group = "server",
     .summary = "Answers the server's part in replication: a master without replicas.",
     .since = "2.8.12",
     .run = role},
    {.name = "wait",
     .arity = 3,
     .flags = kNoScript,
     .group = "generic",
     .usage = "numreplicas timeout",
     .summary = "Answers how many replicas have the connection's changes: 0.",
     .since = "3.0.0",
     .run = wait},
    {.name = "readonly",
     .arity = 1,
     .flags = kFast | kLoading,
     .group = "cluster",
     .summary = "An error, since there is no cluster.",
     .since = "3.0.0",
     .run = no_cluster},
    {.name = "readwrite",
     .arity = 1,
     .flags = kFast | kLoading,
     .group = "cluster",
     .summary = "An error, since there is no cluster.",
     .since = "3.0.0",
     .run = no_cluster},
    {.name = "asking",
     .arity = 1,
     .flags = kFast,
     .group = "cluster",
     .summary = "An error, since there is no cluster.",
     .since = "3.0.0",
     .run = no_cluster},
    {.name = "cluster",
     .arity = -2,
     .flags = kLoading,
     .group = "cluster",
     .usage = "subcommand [argument [argument ...]]",
     .summary = "An error, since there is no cluster.",
     .since = "3.0.0",
     .run = no_cluster},
    {.name = "lolwut",
     .arity = -1,
     .flags = kFast,
     .group = "server",
     .usage = "[VERSION version]",
     .summary = "Shows a weir, and its version.",
     .since = "5.0.0",
     .run = lolwut},
    {.name = "memory",
     .arity = -2,
     .flags = kContainer,
     .group = "server",
     .summary = "Tells what keys cost.",
     .since = "4.0.0"},
    {.name = "memory|help",
     .arity = 2,
     .flags = kLoading,
     .group = "server",
     .summary = "Lists the subcommands.",
     .since = "4.0.0",
     .run = container_help},
    {.name = "memory|usage",
     .arity = -3,
     .flags = kReads,
     .keys = {2, 2, 1},
     .group = "server",
     .usage = "key [SAMPLES count]",
     .summary = "Answers how many bytes of memory a key and its value take.",
     .since = "4.0.0",
     .run = memory_usage},
};

}  // namespace

Commands server_commands() { return kCommands; }

}  // namespace weir::server
