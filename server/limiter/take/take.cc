#include "server/limiter/take/take.h"

#include <algorithm>

#include "server/limiter/take/decide.h"
#include "server/limiter/take/full_answer.h"
#include "server/limiter/take/limiters.h"
#include "server/limiter/take/policy_effect.h"
#include "server/limiter/take/queue.h"
#include "server/limiter/take/record.h"
#include "server/limiter/take/remembered.h"
#include "server/limiter/take/resolve.h"
#include "server/limiter/take/single.h"

namespace weir::server {
namespace {

// Tells whether the request only takes from one limit that it has written itself, and wants to see
// no more than the verdict.
bool is_plain(const LimiterRequest& request) {
  return request.only_takes() && request.limits.size() == 1 && request.costs.size() == 1 &&
         request.policy.empty() && !request.full && request.id.empty() &&
         !request.limits[0].algorithm->uses_entries && !request.limits[0].ban.is_set() &&
         !request.limits[0].adaptive.is_set();
}

// Reads a key for a request about the limits that it was last used with.
Result<Limiter, ErrorReplied> resolve_last_used(Call& call, std::string_view key,
                                                const LimiterRequest& request) {
  auto limiter = Limiter::read(call, key);
  if (!limiter || !limiter->exists()) return limiter;
  if (limiter->named().empty()) return reply_error(call, "ERR the key was used by no RL command");
  if (const auto fit = check_fit(request, limiter->named().size()); !fit)
    return reply_error(call, fit.error());
  return limiter;
}

// Answers what RL.TAKE would, and changes nothing.
Answer peek_or_queue(Call& call, Limiter& limiter, const LimiterRequest& request) {
  if (auto denied = denied_by_queue(call, limiter, request)) return std::move(denied->answer);
  return peek(call, limiter, request);
}

Result<Answer, ErrorReplied> take_resolved(Call& call, Result<Limiter, ErrorReplied> limiter,
                                           const LimiterRequest& request) {
  if (!limiter) return limiter.error();
  if (const auto denied = denied_by_queue(call, *limiter, request)) {
    count_denial(call, *limiter, denied->answer, denied->answer.shadow);
    return denied->answer;
  }
  const Decision decision = decide(call, *limiter, request);
  record(call, *limiter, decision);
  return decision.answer;
}

// The limits are looked up once, whichever way is gone.
void take_few_or_any(Call& call, std::string_view key, const LimiterRequest& request) {
  const auto limits = limits_of(call, key, request);
  if (limits) {
    if (const auto answer = take_few(call, key, *limits, request))
      return answer_request(call, {key, request, *answer});
  }
  const auto answer = take_resolved(call, resolve(call, key, request, limits), request);
  if (answer) answer_request(call, {key, request, *answer});
}

}  // namespace

Result<Answer, ErrorReplied> take_any(Call& call, std::string_view key,
                                      const LimiterRequest& request) {
  return take_resolved(call, resolve(call, key, request), request);
}

void take(Call& call, std::string_view key, const LimiterRequest& request) {
  if (recalled(call, key, request.id)) return;
  if (is_plain(request) && call.limiters.limiting == Limiting::kOn) {
    if (const auto verdict = take_single(call, key, request.limits[0], request.costs[0]))
      return reply_verdict(call, *verdict);
  } else if (request.only_takes()) {
    return take_few_or_any(call, key, request);
  }
  const auto answer = take_any(call, key, request);
  if (answer) answer_request(call, {key, request, *answer});
}

void peek_at(Call& call, std::string_view key, const LimiterRequest& request) {
  const bool names_limits = !request.empty();
  auto limiter = names_limits ? resolve(call, key, request) : resolve_last_used(call, key, request);
  if (!limiter) return;
  if (!names_limits && !limiter->exists()) return call.reply.null_array();
  reply_answer(call, {key, request, peek_or_queue(call, *limiter, request)});
}

std::optional<Decision> denied_by_queue(Call& call, Limiter& limiter,
                                        const LimiterRequest& request) {
  if (has_fixed_answer(limiter) || !must_queue(call, limiter.key(), request)) return std::nullopt;
  Answer answer = denial_after_queue(call, limiter, request);
  answer.allowed = answer.shadow = enforces_nothing(limiter, request);
  if (request.full) add_rows(call, limiter, &answer);
  return Decision{.answer = std::move(answer),
                  .cost = *std::max_element(request.costs.begin(), request.costs.end())};
}

}  // namespace weir::server
