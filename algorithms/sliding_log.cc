// SLIDINGLOG: every grant is remembered until it is a period old.
//
// The idea. A log of (instant, permits). What was granted within the last period counts, nothing
// else does: at no instant t were more than count granted in (t - period, t].
//
// Source: the rolling window that is often kept in a sorted set (ClassDojo, Better Rate Limiting
// With Redis Sorted Sets, 2015).
//
//        t - period                       now
//     ---x---(--x-----x-----------------x--]----> time
//        3      1     2                 4        used = 1 + 2 + 4
//               |<------ period ------>|         the 1 comes back here, not a moment earlier
//
//     allowed      iff  used + cost <= count
//     remaining    =    count - used
//     retry_after  =    until so many of the oldest grants are a period old that the cost fits
//     reset_after  =    until the newest grant is a period old
//
// Worked: 5 per 10 s; 3 taken at second 0, 2 at second 4. A cost of 4 at second 6 needs 4 back:
// the 3 of second 0 do not do, the 2 of second 4 are needed too, so it is told 8 s. At second 10,
// exactly, a cost of 3 is let in.
//
// What the simple version gets wrong.
//  a. It answers the age of the *oldest* grant as the delay, although the request may need several
//     of them back; a client that waits that long is denied again. Here the wait is exact.
//  b. It rewrites the whole log, or walks it, at every request: a limit of a million makes each
//     request a million times as slow. Here an entry is a record of its own, and sums kept with
//     the entries (grant_log.h) turn every question into a binary search.
//  c. It logs denied requests, or prunes on them, and so writes for a client that was refused.
//     Here a denied request changes nothing; grants remove the old entries, a few each.
//
// The surprising consequence. Exactness takes memory: up to count entries, one for each nanosecond
// in which something was granted. So count is at most kLogCountMax.
//
// What a clock step does. Back: what was granted stays as young as it was at the newest grant until
// the clock has caught up. Forward: everything ages by as much.
#include "algorithms/grammar.h"
#include "algorithms/grant_log.h"

namespace weir::algorithms {

extern const Algorithm algorithm_sliding_log;

namespace {

constexpr int64_t kLogCountMax = 1'000'000;

GrantRules log_rules_of(const Limit& limit) {
  return {.count = limit.count, .hold_ns = limit.period_ns};
}

Result<void, RangeError> check_log(const Limit& limit) { return check_count(limit, kLogCountMax); }

void derive_log(Limit& limit) { limit.capacity = limit.count; }

bool same_log(const Limit& a, const Limit& b) {
  return a.count == b.count && a.period_ns == b.period_ns;
}

State fresh_log(const Limit&, int64_t) { return {}; }

Verdict decide_log(const Limit& limit, State& state, const Request& request) {
  return decide_by_log(log_rules_of(limit), state, request);
}

int64_t owed_log(const Limit& limit, const State& state, const Request& request) {
  return owed_to_log(log_rules_of(limit), state, request.entries, request.now_ns);
}

Verdict refund_log(const Limit& limit, State& state, const Refund& refund) {
  return refund_to_log(log_rules_of(limit), state, refund);
}

Verdict settle_log(const Limit& limit, State& state, const Settle& settle) {
  return settle_in_log(log_rules_of(limit), state, settle);
}

// A longer period does not bring back used permits that had expired; under a shorter period a grant
// keeps its age, and its permits may come back at once.
State carry_over_logs(const Limit& from, const Limit& to, const State& state,
                      const Entries& entries, int64_t now_ns) {
  return carry_over_log({.from = log_rules_of(from), .to = log_rules_of(to), .now_ns = now_ns},
                        state, entries);
}

int64_t expires_log(const Limit& limit, const State& state) {
  return log_expires_at_ns(log_rules_of(limit), state);
}

void write_log(const Limit&, const State& state, Writer& out) { write_grants(state, out); }

bool read_log(const Limit&, Reader& in, State& state) { return read_grants(in, state); }

// SLIDINGLOG count/period
constexpr Grammar kSlidingLogGrammar = {Grammar::Rate::kPerPeriod, {}, plain_spec, rate_of};

}  // namespace

constinit const Algorithm algorithm_sliding_log = {
    .name = "SLIDINGLOG",
    .id = 5,
    .grammar = &kSlidingLogGrammar,
    .options_used = 0,
    .uses_entries = true,
    .check = check_log,
    .derive = derive_log,
    .same = same_log,
    .fresh = fresh_log,
    .decide = decide_log,
    .owed = owed_log,
    .refund = refund_log,
    .settle = settle_log,
    .carry_over_entries = carry_over_logs,
    .expires_at_ns = expires_log,
    .write_state = write_log,
    .read_state = read_log,
};

}  // namespace weir::algorithms
