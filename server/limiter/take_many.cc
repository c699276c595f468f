#include "server/limiter/take_many.h"

#include <string>

#include "server/limiter/record.h"
#include "server/limiter/remembered.h"
#include "server/limiter/resolve.h"
#include "server/limiter/take.h"

namespace weir::server {
namespace {

using algorithms::Limit;

using Keys = std::span<const std::string_view>;

// One key with its part of the request.
struct Part {
  Limiter limiter;
  LimiterRequest request;
  Answer answer;
};

LimiterRequest request_of_key(const LimiterRequest& whole, const Limit& limit, size_t key) {
  LimiterRequest part;
  part.limits = {limit};
  part.costs = {whole.cost(key)};
  part.shadow = whole.shadow;
  return part;
}

Result<std::vector<Part>, ErrorReplied> resolve_parts(Call& call, Keys keys,
                                                      const LimiterRequest& request) {
  const auto named = limits_of(call, request);
  if (!named) return reply_error(call, named.error());
  if (named->limits->size() != keys.size()) {
    return reply_error(call,
                       "ERR RL.MTAKE takes one limit for each key: " + std::to_string(keys.size()) +
                           " keys, " + std::to_string(named->limits->size()) + " limits");
  }
  std::vector<Part> parts;
  for (size_t i = 0; i < keys.size(); ++i) {
    auto limiter = Limiter::read(call, keys[i]);
    if (!limiter) return limiter.error();
    LimiterRequest part = request_of_key(request, (*named->limits)[i], i);
    const auto one = limiter->name(
        {.limits = &part.limits, .policy_version = named->policy_version, .mode = named->mode});
    if (!one) return reply_error(call, one.error());
    parts.push_back({std::move(*limiter), std::move(part), {}});
  }
  return parts;
}

// Answers the index of the key that denies, by the longest wait, ties to the first; -1 if all
// allow.
int64_t denier(const std::vector<Part>& parts) {
  int64_t index = -1;
  int64_t longest_ns = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto& verdict = parts[i].answer.verdict;
    if (verdict.allowed || (index >= 0 && verdict.retry_after_ns <= longest_ns)) continue;
    index = static_cast<int64_t>(i);
    longest_ns = verdict.retry_after_ns;
  }
  return index;
}

// The figures of a key that would have granted its part are those before.
void show_untaken(Call& call, Part& part) {
  part.request.costs = {0};
  part.answer = peek_or_queue(call, part.limiter, part.request);
}

// Decides and records; answers as denier() does.
int64_t take_parts(Call& call, std::vector<Part>& parts) {
  for (Part& part : parts) part.answer = peek_or_queue(call, part.limiter, part.request);
  const int64_t denied_by = denier(parts);
  if (denied_by >= 0) {
    for (Part& part : parts) {
      if (part.answer.verdict.allowed) show_untaken(call, part);
      record_denied(call, part.limiter);
    }
    count_denial(call, parts[static_cast<size_t>(denied_by)].limiter, parts[0].request.shadow);
    return denied_by;
  }
  for (Part& part : parts) {
    const Decision decision = decide(call, part.limiter, part.request);
    record(call, part.limiter, decision);
    part.answer = decision.answer;
  }
  return denied_by;
}

}  // namespace

void take_many(Call& call, Keys keys, const LimiterRequest& request) {
  if (recalled(call, keys[0], request.id)) return;
  auto parts = resolve_parts(call, keys, request);
  if (!parts) return;
  const int64_t denied_by = take_parts(call, *parts);
  const size_t begin = call.reply.buffer()->size();
  call.reply.array(2 + static_cast<int64_t>(keys.size()));
  call.reply.integer(denied_by < 0 || request.shadow ? 1 : 0);
  call.reply.integer(denied_by);
  for (const Part& part : *parts) reply_answer(call, part.answer, false);
  if (denied_by < 0 && !request.id.empty()) remember(call, keys[0], request.id, begin);
}

}  // namespace weir::server
