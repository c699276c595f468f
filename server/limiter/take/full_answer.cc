#include "server/limiter/take/full_answer.h"

#include <algorithm>
#include <string>
#include <utility>

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

// Tells whether a row's limit has banned the key; where that limit is not among the rows, the one
// that decides stands for it.
bool bans(const Answer& answer, size_t row) {
  if (!answer.ban) return false;
  const bool is_told = answer.ban->limit < answer.rows.size();
  return row == (is_told ? answer.ban->limit : static_cast<size_t>(answer.index));
}

// Nothing of what a limit has left is to be had while the limit has banned the key.
void tell_limits(const AnsweredKey& answered, bool with_key, std::vector<ToldLimit>* told) {
  const auto& [key, request, answer] = answered;
  for (size_t i = 0; i < answer.rows.size(); ++i) {
    const LimitRow& row = answer.rows[i];
    const bool is_free = !bans(answer, i);
    told->push_back({.limit = &row.limit,
                     .name = row.is_named ? std::string_view(row.name) : "",
                     .policy = row.is_of_policy ? std::string_view(request.policy) : "",
                     .key = with_key ? key : "",
                     .remaining = is_free ? row.verdict.remaining : 0,
                     .more_after_ns = is_free ? row.more_after_ns : answer.ban->rest_ns});
  }
}

using Fields = std::vector<std::pair<std::string_view, std::string>>;

void add_legacy(const Answer& answer, Fields* fields) {
  if (answer.rows.empty()) return;  // no limit decides
  const algorithms::Verdict& verdict = answer.verdict;
  const int64_t remaining = answer.ban ? 0 : std::max<int64_t>(verdict.remaining, 0);
  const int64_t reset_s = seconds_up(answer.ban ? answer.ban->rest_ns : verdict.reset_after_ns);
  fields->emplace_back("X-RateLimit-Limit", std::to_string(verdict.limit));
  fields->emplace_back("X-RateLimit-Remaining", std::to_string(remaining));
  if (reset_s >= 0) fields->emplace_back("X-RateLimit-Reset", std::to_string(reset_s));
}

void write_fields(resp::ReplyWriter& reply, const Fields& fields) {
  reply.bulk("headers");
  reply.map(static_cast<int64_t>(fields.size()));
  for (const auto& [name, value] : fields) write_text(reply, name, value);
}

// Answers what the items are called whose limits deny; where no limit does, that which decides, or
// the policy that blocks.
std::vector<std::string> violated(const ToldRequest& told, std::span<const std::string> names) {
  std::vector<std::string> found;
  std::string deciding;
  size_t at = 0;
  for (size_t i = 0; i < told.keys.size(); ++i) {
    const Answer& answer = told.keys[i].answer;
    for (size_t j = 0; j < answer.rows.size(); ++j, ++at) {
      const LimitRow& row = answer.rows[j];
      const bool decides = static_cast<int64_t>(j) == answer.index;
      if (decides && i == told.deciding) deciding = names[at];
      const bool denies = !row.verdict.allowed || bans(answer, j);
      if (!answer.allowed && denies) found.push_back(names[at]);
    }
  }
  if (found.empty())
    found.push_back(deciding.empty() ? item_name_of(told.keys[told.deciding].request.policy)
                                     : deciding);
  return found;
}

Denial denial_of(const Answer& answer) {
  if (answer.ban) return Denial::kBan;
  const auto index = static_cast<size_t>(answer.index);
  if (index >= answer.rows.size()) return Denial::kQuota;
  const algorithms::Limit& limit = answer.rows[index].limit;
  const bool is_least = limit.adaptive.is_set() && limit.count <= limit.adaptive.min;
  return is_least ? Denial::kReducedCapacity : Denial::kQuota;
}

void write_problem(resp::ReplyWriter& reply, const ToldRequest& told,
                   std::span<const std::string> names) {
  const ProblemType& type = problem_type(denial_of(told.keys[told.deciding].answer));
  reply.bulk("problem");
  reply.map(4);
  write_text(reply, "type", type.type);
  write_text(reply, "title", type.title);
  write_integer(reply, "status", type.status);
  reply.bulk("violated-policies");
  const std::vector<std::string> policies = violated(told, names);
  reply.array(static_cast<int64_t>(policies.size()));
  for (const std::string& policy : policies) reply.bulk(policy);
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

int64_t told_members(const LimiterRequest& request, bool allowed) {
  return (request.headers ? 1 : 0) + (request.problem && !allowed ? 1 : 0);
}

void write_told(resp::ReplyWriter& reply, const ToldRequest& told) {
  if (!told.request.headers) return;
  std::vector<ToldLimit> limits;
  for (const AnsweredKey& key : told.keys) tell_limits(key, told.request.partition, &limits);
  const std::vector<std::string> names = item_names(limits);
  const Answer& deciding = told.keys[told.deciding].answer;
  Fields fields;
  if (!limits.empty()) {
    fields.emplace_back("RateLimit", rate_limit_field(limits, names));
    fields.emplace_back("RateLimit-Policy", rate_limit_policy_field(limits, names));
  }
  if (told.request.legacy) add_legacy(deciding, &fields);
  const int64_t retry_s = told.allowed ? 0 : seconds_up(deciding.verdict.retry_after_ns);
  if (retry_s > 0) fields.emplace_back("Retry-After", std::to_string(retry_s));
  write_fields(reply, fields);
  if (told.request.problem && !told.allowed) write_problem(reply, told, names);
}

void write_full_answer(Call& call, resp::ReplyWriter& reply, const AnsweredKey& answered) {
  const auto& [key, request, answer] = answered;
  const algorithms::Verdict& verdict = answer.verdict;
  reply.map(8 + (request.hold_ns ? 1 : 0) + (request.policy.empty() ? 0 : 1) +
            told_members(request, answer.allowed));
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
  write_integer(reply, "banned", answer.ban ? 1 : 0);
  write_policy(call, reply, request.policy);
  reply.bulk("limits");
  reply.array(static_cast<int64_t>(answer.rows.size()));
  for (const LimitRow& row : answer.rows) write_row(reply, row);
  write_told(reply, {request, {&answered, 1}, 0, answer.allowed});
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
