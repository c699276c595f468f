#include "server/limiter/later/reserve.h"

#include <algorithm>

#include "server/limiter/later/bookings.h"
#include "server/limiter/take/bans.h"
#include "server/limiter/take/limiters.h"
#include "server/limiter/take/policy_effect.h"
#include "server/limiter/take/queue.h"
#include "server/limiter/take/record.h"
#include "server/limiter/take/remembered.h"
#include "server/limiter/take/resolve.h"

namespace weir::server {
namespace {

Result<Booked, ErrorReplied> book_or_queue(Call& call, std::string_view key,
                                           const LimiterRequest& request) {
  auto limiter = resolve(call, key, request);
  if (!limiter) return limiter.error();
  if (has_fixed_answer(*limiter)) {
    const Answer answer = fixed_answer(*limiter, request, true);
    const bool granted = answer.allowed;
    if (granted) {
      if (!answer.verdict.allowed) count_denial(call, *limiter, answer, true);
      if (answer.verdict.allowed) count_for_policy(call, limiter->names().counts(), {});
      return Booked{.granted = true, .id = limiter->draw_id()};
    }
    count_denial(call, *limiter, answer);
    return Booked{.wait_ns = algorithms::kNever};
  }
  const auto ban = ban_against(*limiter, request, call.now_ns);
  if (ban && !enforces_nothing(*limiter, request)) {
    const algorithms::Algorithm* banned_by = limiter->all()[ban->limit].limit.algorithm;
    count_denial(call, *limiter, {.verdict = {}, .algorithm = banned_by, .ban = *ban});
    return Booked{.wait_ns = ban->rest_ns};
  }
  if (!never_waits(*limiter, request) && must_queue(call, key, request)) {
    const Answer answer = denial_after_queue(call, *limiter, request);
    count_denial(call, *limiter, answer);
    return Booked{.wait_ns = answer.verdict.retry_after_ns};
  }
  const auto booked = book(call, *limiter, request);
  if (!booked) return reply_error(call, booked.error());
  const algorithms::Algorithm* shadow_denier = booked->shadow_refused_by;
  if (!booked->granted)
    count_denial(call, *limiter, {.verdict = {}, .algorithm = booked->refused_by});
  if (shadow_denier != nullptr)
    count_denial(call, *limiter, {.verdict = {}, .algorithm = shadow_denier}, true);
  if (booked->granted && shadow_denier == nullptr)
    count_for_policy(call, limiter->names().counts(), {});
  return *booked;
}

}  // namespace

void reserve(Call& call, std::string_view key, const LimiterRequest& request) {
  if (recalled(call, key, request.id)) return;
  const auto booked = book_or_queue(call, key, request);
  if (!booked) return;
  if (booked->granted)
    call.limiters.takings.count(*std::max_element(request.costs.begin(), request.costs.end()));
  const size_t begin = call.reply.buffer()->size();
  call.reply.array(3);
  call.reply.integer(booked->granted ? 1 : 0);
  call.reply.integer(milliseconds_up(booked->wait_ns));
  booked->granted ? call.reply.integer(booked->id) : call.reply.null();
  if (!booked->granted || request.id.empty()) return;
  const RequestName name{key, request.id};
  remember(call, name, begin);
  remember_id(call, key, booked->id, name, call.now_ms() + kRememberedMs);
}

}  // namespace weir::server
