// What a server on its own says about itself: TIME, ROLE, WAIT, MEMORY, LOLWUT, and what it is not:
// part of a cluster.
#include <optional>
#include <string>

#include "resp/numbers.h"
#include "server/arguments.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/server.h"
#include "server/types/collection.h"

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

// Answers nothing after replying the error; 0 means all.
std::optional<size_t> samples_option(Call& call) {
  constexpr size_t kSamplesUsual = 5;
  size_t samples = kSamplesUsual;
  for (size_t at = 3; at < call.args.size(); at += 2) {
    if (at + 1 == call.args.size() || !resp::equals_ignoring_case(call.args[at], "SAMPLES")) {
      call.reply.error(kSyntaxError);
      return std::nullopt;
    }
    const auto count = integer_argument(call, call.args[at + 1]);
    if (!count) return std::nullopt;
    if (*count < 0) {
      call.reply.error(kSyntaxError);
      return std::nullopt;
    }
    samples = static_cast<size_t>(*count);
  }
  return samples;
}

// What the record takes in the working set, without its share of the table; of a collection's
// elements some are looked at.
void memory_usage(Call& call) {
  const auto samples = samples_option(call);
  if (!samples) return;
  const storage::Ref ref = call.look_up(call.args[2]);
  if (!ref.exists()) return call.reply.null();
  size_t bytes = storage::kEntryHeadBytes + ref.key().size() + ref.value().size();
  if (storage::owns_elements(ref.type())) bytes += element_bytes(call, ref, *samples);
  call.reply.integer(static_cast<int64_t>(bytes));
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
