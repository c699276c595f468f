// RL.ACQUIRE and RL.RESERVE: permits later.
#include "server/commands/families.h"
#include "server/core/server.h"
#include "server/limiter/acquire.h"
#include "server/limiter/bookings.h"
#include "server/limiter/remembered.h"

namespace weir::server {
namespace {

void rl_acquire(Call& call) {
  auto request = parse_request(call.args.subspan(2), kCostOption | kIdOption | kTimeoutOption);
  if (!request) return call.reply.error(request.error());
  acquire(call, call.args[1], std::move(request.value()));
}

void reply_booked(Call& call, const Booked& booked) {
  call.reply.array(3);
  call.reply.integer(booked.granted ? 1 : 0);
  call.reply.integer(milliseconds_up(booked.wait_ns));
  booked.granted ? call.reply.integer(booked.id) : call.reply.null();
}

void rl_reserve(Call& call) {
  const auto request =
      parse_request(call.args.subspan(2), kCostOption | kIdOption | kMaxWaitOption);
  if (!request) return call.reply.error(request.error());
  const std::string_view key = call.args[1];
  if (!request->id.empty() && recall(call, key, request->id) == Recall::kAnswered) return;
  auto limiter = Limiter::read(call, key);
  if (!limiter) return;
  const auto named = resolve_limits(call, *request);
  if (!named) return;
  if (!limiter->name(*named)) return;
  if (request->asks() && has_queue(call, key)) {
    const Answer answer = behind_queue(call, *limiter, *request);
    count_denial(call, *limiter);
    return reply_booked(call, {.wait_ns = answer.verdict.retry_after_ns});
  }
  const int64_t max_wait_ns =
      request->max_wait_ms ? *request->max_wait_ms * algorithms::kNsPerMs : algorithms::kNever;
  const auto booked = book(call, *limiter, *request, max_wait_ns);
  if (!booked) return;
  if (!booked->granted) count_denial(call, *limiter);
  const size_t begin = call.reply.buffer()->size();
  reply_booked(call, *booked);
  if (booked->granted && !request->id.empty()) remember(call, key, request->id, begin);
}

constexpr Command kCommands[] = {
    {.name = "rl.acquire",
     .arity = -5,
     .flags = kWrites | kBlocking | kDenyOom | kWakesNobody,
     .keys = {1, 1, 1},
     .group = "limiter",
     .usage = "key limits [COST n] TIMEOUT milliseconds [ID token]",
     .summary = "Takes permits as soon as they are there, first come, first served.",
     .since = "weir 0.1",
     .run = rl_acquire},
    {.name = "rl.reserve",
     .arity = -3,
     .flags = kWrites | kFast | kDenyOom | kWakesNobody,
     .keys = {1, 1, 1},
     .group = "limiter",
     .usage = "key limits [COST n] [MAXWAIT milliseconds] [ID token]",
     .summary = "Books permits now: granted 0 or 1, the wait in milliseconds, an id.",
     .since = "weir 0.1",
     .run = rl_reserve},
};

}  // namespace

Commands rl_wait_commands() { return kCommands; }

}  // namespace weir::server
