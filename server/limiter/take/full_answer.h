// What a request is answered: the verdict, or with FULL a map in RESP3, flat pairs in RESP2.
//
//     allowed   1 or 0
//     retry_ms  0 when allowed, -1 when it can never be allowed
//     granted   permits taken; of several costs the largest
//     lease     the id of the lease that a CONCURRENCY limit made, or null
//     hold      with HOLD only: the id of the hold that was made, or null
//     shadow    1 if a limit denies, and SHADOW lets the request through
//     banned    1 if a ban is why it is denied
//     policy    the policy's name, or null
//     callers   with a policy only: how many clients of different names have asked for it with FULL
//               in the last minute, this one too
//     limits    for each limit a map: name, algorithm, capacity, remaining, reset_ms, window_ms
//
// HEADERS adds `headers`, a map of HTTP fields that are ready to be sent: RateLimit and
// RateLimit-Policy (policy/http_fields.h), and Retry-After with a denial that waiting helps. With
//
//     LEGACY     also X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset, of the limit
//                that decides; Reset in seconds from now, left out where that never comes
//     PARTITION  items have the key (pk)
//     PROBLEM    a denial has `problem`, a map, after `headers`: the body as problem+json
//
// It must not decide anything: it shows what the answer holds, and counts callers.
#pragma once

#include <span>

#include "resp/reply.h"
#include "server/limiter/take/answer.h"
#include "server/limiter/take/remembered.h"

namespace weir::server {

// A key of a request, with what it is answered.
struct AnsweredKey {
  std::string_view key;
  const LimiterRequest& request;
  const Answer& answer;
};

// What is told in HTTP of all keys of a request.
struct ToldRequest {
  const LimiterRequest& request;
  std::span<const AnsweredKey> keys;
  size_t deciding;  // of the keys
  bool allowed;
};
// Answers how many members write_told() adds to a map.
int64_t told_members(const LimiterRequest& request, bool allowed);
void write_told(resp::ReplyWriter& reply, const ToldRequest& told);

// Writes what the request wants to see: the verdict, or with FULL all.
void write_answer(Call& call, resp::ReplyWriter& reply, const AnsweredKey& answered);
void write_full_answer(Call& call, resp::ReplyWriter& reply, const AnsweredKey& answered);

void reply_answer(Call& call, const AnsweredKey& answered);
// The same for a request that may have an ID: what was charged is remembered under it.
void answer_request(Call& call, const AnsweredKey& answered);
// Answers how long a reply that tells of this is remembered: no longer than the lease lasts.
int64_t remembered_ms(const Granted& granted);
// Keeps that the request has made the hold or the lease that the key was granted.
void remember_made(Call& call, std::string_view key, const Granted& granted,
                   const RequestName& name);

}  // namespace weir::server
