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

using algorithms::Limit;

// Tells whether the request is of the common case: one limit, one cost, and nothing but to take.
bool is_plain(const LimiterRequest& request) {
  return request.limits.size() == 1 && request.costs.size() == 1 && request.policy.empty() &&
         !request.upto && !request.force && !request.shadow && !request.hold_ns &&
         !request.limits[0].ban.is_set() && !request.limits[0].adaptive.is_set();
}

void answer_plain(Call& call, std::string_view key, const LimiterRequest& request,
                  const algorithms::Verdict& verdict, int64_t more_after_ns) {
  const int64_t cost = request.costs[0];
  Answer answer{
      .verdict = verdict, .allowed = verdict.allowed, .charged = verdict.allowed && cost > 0};
  if (request.full) {
    answer.granted.cost = verdict.allowed ? cost : 0;
    const Limit& limit = request.limits[0];
    answer.rows = call.limiters.buffers.rows.take();
    answer.rows.push_back({.name = algorithms::limit_name(request.names, limit, 0),
                           .algorithm = limit.algorithm,
                           .count = limit.count,
                           .period_ns = limit.period_ns,
                           .verdict = verdict,
                           .more_after_ns = more_after_ns});
  }
  answer_request(call, key, request, answer);
  call.limiters.buffers.rows.give_back(std::move(answer.rows));
}

// Reads a key for a request about the limits that it was last used with.
Result<Limiter, ErrorReplied> resolve_last_used(Call& call, std::string_view key,
                                                const LimiterRequest& request) {
  auto limiter = Limiter::read(call, key);
  if (!limiter || !limiter->exists()) return limiter;
  if (limiter->named().empty()) return reply_error(call, "ERR the key was used by no RL command");
  const auto fit = check_fit(request, limiter->named().size());
  if (!fit) return reply_error(call, fit.error());
  return limiter;
}

// Answers what RL.TAKE would, and changes nothing.
Answer peek_or_queue(Call& call, Limiter& limiter, const LimiterRequest& request) {
  if (auto denied = denied_by_queue(call, limiter, request)) return std::move(denied->answer);
  return peek(call, limiter, request);
}

}  // namespace

Result<Answer, ErrorReplied> take_any(Call& call, std::string_view key,
                                      const LimiterRequest& request) {
  auto limiter = resolve(call, key, request);
  if (!limiter) return limiter.error();
  if (auto denied = denied_by_queue(call, *limiter, request)) {
    count_denial(call, *limiter, denied->answer, denied->answer.shadow);
    return std::move(denied->answer);
  }
  Decision decision = decide(call, *limiter, request);
  record(call, *limiter, decision, Limiter::Place::kAsFound);
  return std::move(decision.answer);
}

void take(Call& call, std::string_view key, const LimiterRequest& request) {
  if (recalled(call, key, request.id)) return;
  if (is_plain(request) && call.limiters.limiting == Limiting::kOn) {
    int64_t more_after_ns = 0;
    if (const auto verdict = take_single(call, key, request.limits[0], request.costs[0],
                                         request.full ? &more_after_ns : nullptr)) {
      if (!request.full && request.id.empty()) return reply_verdict(call, *verdict);
      return answer_plain(call, key, request, *verdict, more_after_ns);
    }
  }
  auto answer = take_any(call, key, request);
  if (!answer) return;
  answer_request(call, key, request, *answer);
  call.limiters.buffers.rows.give_back(std::move(answer->rows));
}

void peek_at(Call& call, std::string_view key, const LimiterRequest& request) {
  const bool names_limits = !request.empty();
  auto limiter = names_limits ? resolve(call, key, request) : resolve_last_used(call, key, request);
  if (!limiter) return;
  if (!names_limits && !limiter->exists()) return call.reply.null_array();
  reply_answer(call, request, peek_or_queue(call, *limiter, request));
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
