// What a standalone server says about itself: TIME, ROLE, WAIT, LOLWUT.
#include <string>

#include "base/time_units.h"
#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/commands/families.h"
#include "server/core/server.h"

namespace weir::server {
namespace {

void time(Call& call) {
  const int64_t now_us = call.wall_ns() / kNsPerUs;
  call.reply.array(2);
  call.reply.bulk_integer(now_us / kUsPerS);
  call.reply.bulk_integer(now_us % kUsPerS);
}

// A standby answers as a replica whose master is the owner, if that is known.
void role_of_standby(Call& call, const MemberView& member) {
  const size_t colon = member.owner_address.rfind(':');
  const std::string_view address = member.owner_address;
  const bool is_known = colon != std::string::npos;
  call.reply.array(5);
  call.reply.bulk("slave");
  call.reply.bulk(is_known ? address.substr(0, colon) : "");
  call.reply.integer(is_known ? resp::parse_int64(address.substr(colon + 1)).value_or(0) : 0);
  call.reply.bulk(member.state == "following" ? "connected" : "connecting");
  call.reply.integer(static_cast<int64_t>(member.turn));
}

void role(Call& call) {
  const Membership* shard = server_of(call).persistence().office.membership();
  if (shard != nullptr && !shard->serves()) return role_of_standby(call, shard->view());
  call.reply.array(3);
  call.reply.bulk("master");
  call.reply.integer(0);  // replication offset
  call.reply.array(0);    // replicas
}

// WAIT answers at once, because there are no replicas.
void wait(Call& call) {
  if (!integer_argument(call, call.args[1])) return;
  const auto timeout_ms = resp::parse_int64(call.args[2]);
  if (!timeout_ms) return call.reply.error("ERR timeout is not an integer or out of range");
  if (*timeout_ms < 0) return call.reply.error("ERR timeout is negative");
  call.reply.integer(0);
}

void lolwut(Call& call) {
  call.reply.verbatim(
      "  ~ ~~~  ~~ ~\n"
      "~~~~ ~~~~ ~~ ~ ___\n"
      "==============/    the river goes on, a little slower\n"
      "  weir " +
      std::string(kWeirVersion) + "\n");
}

constexpr Command kCommands[] = {
    {.name = "time",
     .arity = 1,
     .flags = kFast | kLoading,
     .group = "server",
     .summary = "Answers what the wall clock says: Unix seconds, and microseconds.",
     .since = "2.6.0",
     .tips = "nondeterministic_output",
     .run = time},
    {.name = "role",
     .arity = 1,
     .flags = kDangerous | kFast | kLoading | kNoScript,
     .group = "server",
     .categories = "admin",
     .summary =
         "Answers the server's part in replication: a master without replicas, or a standby.",
     .since = "2.8.12",
     .run = role},
    {.name = "wait",
     .arity = 3,
     .flags = kNoScript,
     .group = "generic",
     .categories = "connection",
     .usage = "numreplicas timeout",
     .summary = "Answers how many replicas have the connection's changes: 0.",
     .since = "3.0.0",
     .tips = "request_policy:all_shards response_policy:agg_min",
     .run = wait},
    {.name = "lolwut",
     .arity = -1,
     .flags = kReads | kFast,
     .group = "server",
     .categories = "-",
     .usage = "[VERSION version]",
     .summary = "Shows a weir, and its version.",
     .since = "5.0.0",
     .run = lolwut},
};

}  // namespace

Commands server_commands() { return kCommands; }

}  // namespace weir::server
