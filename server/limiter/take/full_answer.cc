#include "server/limiter/take/full_answer.h"

#include <algorithm>
#include <string>

#include "server/limiter/policy/http_fields.h"
#include "server/limiter/take/limiters.h"
#include "server/session/session.h"

namespace weir::server {
namespace {

void write_integer(resp::ReplyWriter& reply, std::string_view name, int64_t value) {
  reply.bulk(name);
  reply.integer(value);
}

void write_text(resp::ReplyWriter& reply, std::string_view name, std::string_view value) {
  reply.bulk(name);
  reply.bulk(value);
}

void write_row(resp::ReplyWriter& reply, const LimitRow& row) {
  reply.map(6);
  write_text(reply, "name", row.name);
  write_text(reply, "algorithm", row.limit.algorithm->name);
  write_integer(reply, "capacity", row.verdict.limit);
  write_integer(reply, "remaining", row.verdict.remaining);
  write_integer(reply, "reset_ms", milliseconds_up(row.verdict.reset_after_ns));
  write_integer(reply, "window_ms", milliseconds_up(row.limit.period_ns));
}

// Nothing of what a limit has left is to be had while the limit has banned the key.
std::vector<ToldLimit> told_limits(const AnsweredKey& answered) {
  const auto& [key, request, answer] = answered;
  std::vector<ToldLimit> told;
  for (const LimitRow& row : answer.rows) {
    told.push_back({.limit = &row.limit,
                    .name = row.is_named ? std::string_view(row.name) : std::string_view(),
                    .policy = row.is_of_policy ? std::string_view(request.policy) : "",
                    .remaining = row.verdict.remaining,
                    .more_after_ns = row.more_after_ns});
  }
  if (const auto index = static_cast<size_t>(answer.index); answer.banned && index < told.size()) {
    ToldLimit& banning = told[index];
    banning.remaining = 0;
    banning.more_after_ns = answer.verdict.retry_after_ns;
  }
  return told;
}

void write_headers(resp::ReplyWriter& reply, const AnsweredKey& answered) {
  const Answer& answer = answered.answer;
  const int64_t retry_s = answer.allowed ? 0 : seconds_up(answer.verdict.retry_after_ns);
  const std::vector<ToldLimit> told = told_limits(answered);
  reply.bulk("headers");
  reply.map((told.empty() ? 0 : 2) + (retry_s > 0 ? 1 : 0));
  if (!told.empty()) {
    const std::vector<std::string> names = item_names(told);
    write_text(reply, "RateLimit", rate_limit_field(told, names));
    write_text(reply, "RateLimit-Policy", rate_limit_policy_field(told, names));
  }
  if (retry_s > 0) write_text(reply, "Retry-After", std::to_string(retry_s));
}

void write_policy(Call& call, resp::ReplyWriter& reply, const std::string& policy) {
  reply.bulk("policy");
  if (policy.empty()) return reply.null();
  reply.bulk(policy);
  const size_t callers =
      call.limiters.callers.count(policy, call.session.client().name(), call.now_ns);
  write_integer(reply, "callers", static_cast<int64_t>(callers));
}

}  // namespace

void write_full_answer(Call& call, resp::ReplyWriter& reply, const AnsweredKey& answered) {
  const auto& [key, request, answer] = answered;
  const algorithms::Verdict& verdict = answer.verdict;
  reply.map(8 + (request.headers ? 1 : 0) + (request.hold_ns ? 1 : 0) +
            (request.policy.empty() ? 0 : 1));
  write_integer(reply, "allowed", answer.allowed ? 1 : 0);
  write_integer(reply, "retry_ms", verdict.allowed ? 0 : milliseconds_up(verdict.retry_after_ns));
  write_integer(reply, "granted", answer.granted.cost);
  reply.bulk("lease");
  answer.granted.lease ? reply.integer(*answer.granted.lease) : reply.null();
  if (request.hold_ns) {
    reply.bulk("hold");
    answer.granted.hold ? reply.integer(*answer.granted.hold) : reply.null();
  }
  write_integer(reply, "shadow", answer.shadow_denies() ? 1 : 0);
  write_integer(reply, "banned", answer.banned ? 1 : 0);
  write_policy(call, reply, request.policy);
  reply.bulk("limits");
  reply.array(static_cast<int64_t>(answer.rows.size()));
  for (const LimitRow& row : answer.rows) write_row(reply, row);
  if (request.headers) write_headers(reply, answered);
}

void write_answer(Call& call, resp::ReplyWriter& reply, const AnsweredKey& answered) {
  if (answered.request.full) return write_full_answer(call, reply, answered);
  write_verdict(reply, answered.answer, answered.request.upto);
}

void reply_answer(Call& call, const AnsweredKey& answered) {
  write_answer(call, call.reply, answered);
}

void answer_request(Call& call, const AnsweredKey& answered) {
  const auto& [key, request, answer] = answered;
  if (!answer.charged || request.id.empty()) return reply_answer(call, answered);
  const RequestName name{key, request.id};
  const int64_t for_ms = remembered_ms(answer.granted);
  remember_made(call, key, answer.granted, name);
  if (request.full) {
    return reply_and_remember(call, name, for_ms, [&](resp::ReplyWriter& reply) {
      write_full_answer(call, reply, answered);
    });
  }
  const size_t begin = call.reply.buffer()->size();
  reply_answer(call, answered);
  remember(call, name, begin, for_ms);
}

int64_t remembered_ms(const Granted& granted) {
  if (!granted.lease) return kRememberedMs;
  return std::min(kRememberedMs,
                  milliseconds_up(granted.lease_ns) - 1);  // what is kept ends after it
}

void remember_made(Call& call, std::string_view key, const Granted& granted,
                   const RequestName& name) {
  const auto id = granted.hold ? granted.hold : granted.lease;
  if (id) remember_id(call, key, *id, name, call.now_ms() + kRememberedMs);
}

}  // namespace weir::server
