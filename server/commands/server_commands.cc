// What a standalone server says about itself: TIME, ROLE, WAIT, LOLWUT.
#include <memory>
#include <string>
#include <vector>

#include "base/heap_bytes.h"
#include "base/time_units.h"
#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/commands/command_lists.h"
#include "server/commands/standbys.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

void time(Call& call) {
  const int64_t now_us = call.wall_ns() / kNsPerUs;
  call.reply.array(2);
  call.reply.bulk_integer(now_us / kUsPerS);
  call.reply.bulk_integer(now_us % kUsPerS);
}

// A standby answers as a replica whose master is the primary, if that is known.
void role_of_standby(Call& call, const MemberView& member) {
  const HostAndPort primary = host_and_port(member.primary_address);
  call.reply.array(5);
  call.reply.bulk("slave");
  call.reply.bulk(primary.host);
  call.reply.integer(resp::parse_int64(primary.port).value_or(0));
  call.reply.bulk(member.state == "following" ? "connected" : "connecting");
  call.reply.integer(static_cast<int64_t>(member.turn));
}

void role(Call& call) {
  const Membership* shard = server_of(call).shard_role().membership();
  if (shard != nullptr && !shard->serves()) return role_of_standby(call, shard->view());
  const std::vector<MemberSeen> standbys = standbys_of(call);
  call.reply.array(3);
  call.reply.bulk("master");
  call.reply.integer(shard == nullptr ? 0 : static_cast<int64_t>(shard->view().turn));
  call.reply.array(standbys.size());
  for (const MemberSeen& standby : standbys) {
    call.reply.array(3);
    call.reply.bulk(standby.host);
    call.reply.bulk(std::to_string(standby.port));
    call.reply.bulk(std::to_string(standby.turn));
  }
}

// Looks from time to time whether a turn is committed.
class CommitWaiter : public Waiter {
 public:
  explicit CommitWaiter(uint64_t turn) : turn_(turn) {}

  bool try_again(Call& call) override {
    if (!is_committed(call, turn_)) {
      due_ns = call.now_ns + kLookNs;
      return false;
    }
    call.reply.integer(standbys_with(call, turn_));
    return true;
  }
  void time_out(Call& call) override { call.reply.integer(standbys_with(call, turn_)); }
  size_t own_bytes() const override { return block_bytes(sizeof(*this)); }

  static constexpr int64_t kLookNs = 5 * kNsPerMs;

 private:
  uint64_t turn_;
};

// A server of no shard answers at once, because it has no replicas; a shard's primary with the
// number of its standbys, once what was done is committed.
void wait(Call& call) {
  const auto wanted = integer_argument(call, call.args[1]);
  if (!wanted) return;
  const auto timeout_ms = resp::parse_int64(call.args[2]);
  if (!timeout_ms || *timeout_ms > (kNotDue - call.now_ns) / kNsPerMs)
    return call.reply.error("ERR timeout is not an integer or out of range");
  if (*timeout_ms < 0) return call.reply.error("ERR timeout is negative");
  const Membership* shard = server_of(call).shard_role().membership();
  if (shard != nullptr && !shard->serves())
    return call.reply.error("ERR WAIT cannot be used with replica instances.");
  const uint64_t turn = turn_of_now(call);
  const bool waits = !is_committed(call, turn) && *wanted > 0;
  if (!waits || !call.session.wait_state().permitted())
    return call.reply.integer(standbys_with(call, turn));
  auto waiter = std::make_unique<CommitWaiter>(turn);
  waiter->due_ns = call.now_ns + CommitWaiter::kLookNs;
  if (*timeout_ms > 0) waiter->deadline_ns = call.now_ns + *timeout_ms * kNsPerMs;
  call.host.wait(call, std::move(waiter));
}

void lolwut(Call& call) {
  call.reply.verbatim(
      "  ~ ~~~  ~~ ~\n"
      "~~~~ ~~~~ ~~ ~ ___\n"
      "==============/    the river goes on, a little slower\n"
      "  weir " +
      std::string(weir_version()) + "\n");
}

constexpr Command kServerCommandsCommands[] = {
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
     .audit = Audit::kNo,
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
     .summary = "Answers how many standbys survive with the connection's changes: those of the "
                "shard, once they are committed; 0 without a shard.",
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

Commands server_commands() { return kServerCommandsCommands; }

}  // namespace weir::server
