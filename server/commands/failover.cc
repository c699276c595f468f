// FAILOVER: the primary of a shard makes a standby the primary, as a master of Redis gives its
// part to a replica. A server of no shard has no replicas.
#include <algorithm>
#include <optional>
#include <string>

#include "base/ascii.h"
#include "server/command/arguments.h"
#include "server/command/command_errors.h"
#include "server/command/reply_done.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"
#include "server/core/shard/successor.h"

namespace weir::server {
namespace {

struct WantedFailover {
  std::string_view host;
  std::optional<int64_t> port;  // nothing: whoever has most
  bool is_forced = false;
  bool has_timeout = false;
};

// As Redis reads it.
Result<WantedFailover, ErrorReplied> read_wanted(Call& call) {
  WantedFailover wanted;
  for (size_t at = 1; at < call.args.size(); ++at) {
    const size_t left = call.args.size() - at - 1;
    const std::string_view word = call.args[at];
    if (equals_ignoring_case(word, "TIMEOUT") && left >= 1 && !wanted.has_timeout) {
      const auto timeout_ms = integer_argument(call, call.args[++at]);
      if (!timeout_ms) return timeout_ms.error();
      if (*timeout_ms <= 0) return reply_error(call, "ERR FAILOVER timeout must be greater than 0");
      wanted.has_timeout = true;
    } else if (equals_ignoring_case(word, "TO") && left >= 2 && !wanted.port) {
      wanted.host = call.args[++at];
      const auto port = integer_argument(call, call.args[++at]);
      if (!port) return port.error();
      wanted.port = *port;
    } else if (equals_ignoring_case(word, "FORCE") && !wanted.is_forced) {
      wanted.is_forced = true;
    } else {
      return reply_error(call, "ERR syntax error");
    }
  }
  return wanted;
}

const MemberSeen* find_successor(const std::vector<MemberSeen>& members,
                                 const WantedFailover& wanted) {
  if (!wanted.port) return successor_of(members);
  const auto named = std::find_if(members.begin(), members.end(), [&](const MemberSeen& one) {
    return !one.is_self && one.host == wanted.host && one.port == *wanted.port;
  });
  return named == members.end() ? nullptr : &*named;
}

void failover(Call& call) {
  if (call.args.size() == 2 && equals_ignoring_case(call.args[1], "ABORT"))
    return call.reply.error("ERR No failover in progress.");
  const auto wanted = read_wanted(call);
  if (!wanted) return;
  Membership* const member = server_of(call).shard_role().membership();
  if (member == nullptr) return call.reply.error("ERR FAILOVER requires connected replicas.");
  if (!member->serves())
    return call.reply.error("ERR FAILOVER is not valid when server is a replica.");
  if (wanted->is_forced && !(wanted->has_timeout && wanted->port))
    return call.reply.error(
        "ERR FAILOVER with force option requires both a timeout and target HOST and IP.");
  const std::vector<MemberSeen> members = member->members();
  const MemberSeen* const successor = find_successor(members, *wanted);
  if (successor == nullptr)
    return call.reply.error(wanted->port ? "ERR FAILOVER target HOST and PORT is not a replica."
                                         : "ERR FAILOVER requires connected replicas.");
  if (!successor->is_standby) return call.reply.error("ERR FAILOVER target replica is not online.");
  reply_done(call,
             member->order({.kind = MemberOrder::Kind::kSwitchover, .node = successor->node}));
}

constexpr Command kFailoverCommands[] = {
    {.name = "failover",
     .arity = -1,
     .flags = kAdmin | kNoScript | kStale,
     .audit = Audit::kYes,
     .group = "server",
     .usage = "[TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds]",
     .summary = "Makes a standby the shard's primary, in place of this server; of no shard it is "
                "an error.",
     .since = "6.2.0",
     .run = failover},
};

}  // namespace

Commands failover_commands() { return kFailoverCommands; }

}  // namespace weir::server
