#include "server/limiter/take/full_answer.h"

#include <algorithm>
#include <string>

#include "resp/numbers.h"
#include "server/limiter/take/limiters.h"
#include "server/session/session.h"

namespace weir::server {
namespace {

using Rows = std::vector<LimitRow>;

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
  write_text(reply, "algorithm", row.algorithm->name);
  write_integer(reply, "capacity", row.verdict.limit);
  write_integer(reply, "remaining", row.verdict.remaining);
  write_integer(reply, "reset_ms", milliseconds_up(row.verdict.reset_after_ns));
  write_integer(reply, "window_ms", milliseconds_up(row.period_ns));
}

void append_parameter(std::string_view name, int64_t value, std::string* field) {
  *field += name;
  resp::append_int64(value, field);
}

// `t` is the time in which no more than `r` is to be had (draft-ietf-httpapi-ratelimit-headers-11,
// section 4.1.2). It is left out where nobody knows it.
void append_left(const LimitRow& row, std::string* field) {
  const int64_t more_s = seconds_up(row.more_after_ns);
  append_parameter(";r=", std::max<int64_t>(row.verdict.remaining, 0), field);
  if (more_s >= 0) append_parameter(";t=", more_s, field);
}

// The window is left out where it is no whole number of seconds, which the field cannot say.
void append_policy(const LimitRow& row, std::string* field) {
  append_parameter(";q=", row.count, field);
  if (row.algorithm->makes_leases) {
    *field += ";qu=\"concurrent-requests\"";
  } else if (row.period_ns % kNsPerS == 0) {
    append_parameter(";w=", row.period_ns / kNsPerS, field);
  }
}

// Writes a list of structured fields (RFC 9651), one item for each limit. Names hold nothing that a
// string of such a list would have to escape.
template <typename AppendParameters>
void write_field(resp::ReplyWriter& reply, std::string_view name, const Rows& rows,
                 AppendParameters append_parameters, std::string* field) {
  field->clear();
  for (const LimitRow& row : rows) {
    if (!field->empty()) *field += ", ";
    *field += '"';
    *field += row.name;
    *field += '"';
    append_parameters(row, field);
  }
  write_text(reply, name, *field);
}

void write_headers(Call& call, resp::ReplyWriter& reply, const Answer& answer) {
  const int64_t retry_s = answer.allowed ? 0 : seconds_up(answer.verdict.retry_after_ns);
  reply.bulk("headers");
  const bool has_limits = !answer.rows.empty();  // a list without items is no field
  reply.map((has_limits ? 2 : 0) + (retry_s > 0 ? 1 : 0));
  if (has_limits) {
    std::string* field = &call.limiters.buffers.field;
    write_field(reply, "RateLimit", answer.rows, append_left, field);
    write_field(reply, "RateLimit-Policy", answer.rows, append_policy, field);
  }
  if (retry_s > 0) {
    reply.bulk("Retry-After");
    reply.bulk_integer(retry_s);
  }
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

void write_full_answer(Call& call, resp::ReplyWriter& reply, const LimiterRequest& request,
                       const Answer& answer) {
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
  if (request.headers) write_headers(call, reply, answer);
}

void write_answer(Call& call, resp::ReplyWriter& reply, const LimiterRequest& request,
                  const Answer& answer) {
  if (request.full) return write_full_answer(call, reply, request, answer);
  write_verdict(reply, answer, request.upto);
}

void reply_answer(Call& call, const LimiterRequest& request, const Answer& answer) {
  write_answer(call, call.reply, request, answer);
}

void answer_request(Call& call, std::string_view key, const LimiterRequest& request,
                    const Answer& answer) {
  if (!answer.charged || request.id.empty()) return reply_answer(call, request, answer);
  const RequestName name{key, request.id};
  const int64_t for_ms = remembered_ms(answer.granted);
  remember_made(call, key, answer.granted, name);
  if (request.full) {
    return reply_and_remember(call, name, for_ms, [&](resp::ReplyWriter& reply) {
      write_full_answer(call, reply, request, answer);
    });
  }
  const size_t begin = call.reply.buffer()->size();
  reply_answer(call, request, answer);
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
