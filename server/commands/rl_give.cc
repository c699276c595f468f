// RL.REFUND, RL.SETTLE, RL.RELEASE, RL.RENEW, RL.RESET, RL.CANCEL: permits given back.
#include <algorithm>
#include <string>

#include "algorithms/concurrency.h"
#include "algorithms/words.h"
#include "base/ascii.h"
#include "resp/numbers.h"
#include "server/command/arguments.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"
#include "server/limiter/later/bookings.h"
#include "server/limiter/later/departure.h"
#include "server/limiter/take/holds.h"
#include "server/limiter/take/look.h"
#include "server/limiter/take/remembered.h"
#include "server/types/collection.h"

namespace weir::server {
namespace {

Result<int64_t, std::string> id_argument(std::string_view text) {
  const auto id = resp::parse_int64(text);
  if (id && *id > 0) return *id;
  return "ERR id must be an integer above 0, as it was answered, got '" + algorithms::shown(text) +
         "'";
}

struct RefundArguments {
  std::vector<int64_t> permits;  // one number for all limits, or one for each that was named
  std::string_view token;
};

Result<RefundArguments, std::string> refund_arguments(Args args) {
  auto permits = parse_costs("n", args[2]);
  if (!permits) return permits.error();
  if (args.size() == 3) return RefundArguments{.permits = std::move(*permits), .token = {}};
  if (args.size() != 5 || !equals_ignoring_case(args[3], "ID")) {
    return std::string("ERR syntax error: RL.REFUND takes key, n and ID with a token");
  }
  const std::string_view token = args[4];
  if (token.empty() || token.size() > kIdBytesMax) {
    return id_error(token);
  }
  return RefundArguments{.permits = std::move(*permits), .token = token};
}

// One number goes to every limit of the key, also to those that were named before.
void refund_limits(Call& call, Limiter& limiter, const std::vector<int64_t>& permits) {
  bool changed = false;
  const std::span<HeldLimit> limits = permits.size() == 1 ? limiter.all() : limiter.named();
  for (size_t i = 0; i < limits.size(); ++i) {
    HeldLimit& held = limits[i];
    if (held.limit.algorithm->makes_leases) continue;
    const algorithms::Refund refund = {.now_ns = call.now_ns,
                                       .permits = permits.size() == 1 ? permits[0] : permits[i],
                                       .entries = limiter.entries_of(held),
                                       .wall = &call.wall()};
    changed |= algorithms::refund(held.limit, held.state, refund).changed;
  }
  if (changed) limiter.save();
}

void rl_refund(Call& call) {
  const auto arguments = refund_arguments(call.args);
  if (!arguments) return call.reply.error(arguments.error());
  const std::string_view key = call.args[1];
  const std::string_view token = arguments->token;
  if (recalled(call, key, token)) return;
  auto limiter = Limiter::read(call, key);
  if (!limiter) return;
  if (!limiter->exists() || limiter->all().empty()) return call.reply.null_array();
  const std::vector<int64_t>& permits = arguments->permits;
  if (permits.size() > 1 && permits.size() != limiter->named().size()) {
    return call.reply.error("ERR n must be one number, or one for each of the " +
                            std::to_string(limiter->named().size()) +
                            " limits that the key was last used with, got " +
                            std::to_string(permits.size()));
  }
  refund_limits(call, *limiter, permits);
  call.host.audit().note();
  const size_t begin = call.reply.buffer()->size();
  write_verdict(call.reply, look(call, *limiter, limiter->all()), false);
  if (!token.empty()) remember(call, {key, token}, begin);
}

// Applies `use` of a lease to every limit that makes leases, and answers the most that any
// answered.
template <typename Use>
int64_t use_lease(Call& call, Limiter& limiter, int64_t id, Use use) {
  int64_t permits = 0;
  for (HeldLimit& held : limiter.all()) {
    if (!held.limit.algorithm->makes_leases) continue;
    permits = std::max(permits, use(held, *limiter.entries_of(held),
                                    algorithms::LeaseUse{.id = id, .now_ns = call.now_ns}));
  }
  return permits;
}

void rl_release(Call& call) {
  const auto id = id_argument(call.args[2]);
  if (!id) return call.reply.error(id.error());
  auto limiter = Limiter::read(call, call.args[1]);
  if (!limiter) return;
  const auto release = [](HeldLimit& held, algorithms::Entries& entries,
                          algorithms::LeaseUse lease) {
    return algorithms::release_lease(held.state, entries, lease);
  };
  const int64_t permits = use_lease(call, *limiter, *id, release);
  call.reply.integer(permits);
  if (permits == 0) return;
  limiter->save();
  forget_request_of(call, call.args[1], *id);
}

void rl_renew(Call& call) {
  const auto id = id_argument(call.args[2]);
  if (!id) return call.reply.error(id.error());
  auto limiter = Limiter::read(call, call.args[1]);
  if (!limiter) return;
  const auto renew = [](HeldLimit& held, algorithms::Entries& entries, algorithms::LeaseUse lease) {
    return algorithms::renew_lease(held.limit, held.state, entries, lease);
  };
  const int64_t permits =
      std::max(use_lease(call, *limiter, *id, renew), renew_hold(call, *limiter, *id));
  if (permits > 0) limiter->save();
  call.reply.integer(permits);
}

void rl_reset(Call& call) {
  auto limiter = Limiter::read(call, call.args[1]);
  if (!limiter) return;
  if (limiter->exists() && limiter->all().empty()) return call.reply.error(kWrongType);
  call.reply.integer(limiter->exists() ? 1 : 0);
  if (limiter->exists()) call.host.audit().note();
  replace_with_nothing(call, call.args[1]);
}

void rl_cancel(Call& call) {
  const auto id = id_argument(call.args[2]);
  if (!id) return call.reply.error(id.error());
  auto limiter = Limiter::read(call, call.args[1]);
  if (!limiter) return;
  const auto given_back = cancel_all(call, *limiter, *id);
  if (given_back) {
    forget_request_of(call, call.args[1], *id);
    deny_departure(call, call.args[1], *id);
    return call.reply.integer(*given_back);
  }
  const auto settled = settle_hold(call, *limiter, *id, {0});
  if (settled && settled->found && !settled->late) forget_request_of(call, call.args[1], *id);
  call.reply.integer(settled ? settled->given_back : 0);
}

bool is_nothing(const std::vector<int64_t>& used) {
  return std::ranges::all_of(used, [](int64_t permits) { return permits == 0; });
}

void settle(Call& call, std::string_view key, int64_t id, const std::vector<int64_t>& used) {
  const std::string token = token_about("settle ", id);
  if (recalled(call, key, token, "ERR the hold was settled with another cost")) return;
  auto limiter = Limiter::read(call, key);
  if (!limiter) return;
  if (is_booked(*limiter, id, call.now_ns)) return call.reply.null_array();  // RL.CANCEL ends it
  const auto settled = settle_hold(call, *limiter, id, used);
  if (!settled) return call.reply.error(settled.error());
  if (!settled->found) return call.reply.null_array();
  const size_t begin = call.reply.buffer()->size();
  write_verdict(call.reply, settled->answer, false);
  if (!settled->answer.allowed) return;
  if (is_nothing(used) || settled->lease_ended) forget_request_of(call, key, id);
  remember(call, {key, token}, begin);
}

void rl_settle(Call& call) {
  const auto id = id_argument(call.args[2]);
  if (!id) return call.reply.error(id.error());
  const auto used = parse_costs("cost", call.args[3]);
  if (!used) return call.reply.error(used.error());
  settle(call, call.args[1], *id, *used);
}

constexpr Command kRlGiveCommands[] = {
    {.name = "rl.refund",
     .arity = -3,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1},
     .audit = Audit::kIfNoted,
     .group = "ratelimit",
     .categories = "ratelimitadmin",
     .usage = "key n [ID token]",
     .summary =
         "Gives permits back to every limit of a key, or as many to each as COST took of it.",
     .since = "weir 0.1",
     .run = rl_refund},
    {.name = "rl.settle",
     .arity = 4,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1},
     .group = "ratelimit",
     .usage = "key id cost",
     .summary = "Makes a hold what was really used: gives the rest back, or takes more.",
     .since = "weir 0.1",
     .run = rl_settle},
    {.name = "rl.release",
     .arity = 3,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1},
     .group = "ratelimit",
     .usage = "key id",
     .summary = "Gives a lease of a CONCURRENCY limit back; answers the permits freed.",
     .since = "weir 0.1",
     .run = rl_release},
    {.name = "rl.renew",
     .arity = 3,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1},
     .group = "ratelimit",
     .usage = "key id",
     .summary =
         "Makes a lease or a hold last its whole time from now; answers the permits it holds.",
     .since = "weir 0.1",
     .run = rl_renew},
    {.name = "rl.reset",
     .arity = 2,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1},
     .audit = Audit::kIfNoted,
     .group = "ratelimit",
     .categories = "ratelimitadmin",
     .usage = "key",
     .summary = "Makes a limiter as if it had never been used; answers whether there was one.",
     .since = "weir 0.1",
     .run = rl_reset},
    {.name = "rl.cancel",
     .arity = 3,
     .flags = kWrites | kFast,
     .keys = {1, 1, 1},
     .group = "ratelimit",
     .usage = "key id",
     .summary = "Returns a booking that is not due yet, less what was booked after it, or a hold.",
     .since = "weir 0.1",
     .run = rl_cancel},
};

}  // namespace

Commands rl_give_commands() { return kRlGiveCommands; }

}  // namespace weir::server
