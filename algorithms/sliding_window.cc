// SLIDINGWINDOW: a sliding window that moves a sub-window at a time.
//
// The idea. Cut the period into n sub-windows on the epoch grid and count per sub-window. A counter
// goes as a whole once nothing of it can be younger than a period.
//
//        t - period                          now
//     |------(------|------|------|------|----]-|----> time      n = 4: 5 counters count
//      k - 4 ^       k - 3  k - 2  k - 1  k  ^
//            |<----------- period ---------->|
//
//     used         =    the sum of the counters of the sub-windows k - n to k
//     allowed      iff  used + cost <= count, and counter k + cost <= PERBUCKET
//     remaining    =    the lesser of count - used and PERBUCKET - counter k
//     retry_after  =    until so many of the oldest counters have gone that the cost fits; if
//                       PERBUCKET is in the way, not before the next sub-window
//     reset_after  =    until the last counter with something in it has gone
//
// Worked: 10 per 10 s in 5 sub-windows of 2 s. 10 taken at second 3 stand in the sub-window 2 to 4.
// They have to count until second 4 + 10, since they might have been taken just before 4; so at
// second 13 a request is told 1 s, at second 14 all 10 are back.
//
// What the simple version gets wrong.
//  a. It keeps n counters. Then counter k - n goes while the younger part of it is still within the
//     period, and up to twice the count passes. n + 1 counters never let more than count through.
//  b. It shifts an array and writes all of it at every request. Here each counter is a record of
//     its own and only the running one changes; sums make it a binary search (grant_log.h).
//  c. Without a cap all of the count may pass at the start of the period. PERBUCKET smooths that:
//     no sub-window admits more than that, and no single request may ask for more.
//
// The surprising consequence. A permit counts for up to a sub-window longer than the period,
// because n + 1 numbers stand in place of a log. With more sub-windows it is less.
//
// What a clock step does. Back: the running sub-window stays the running one until the clock has
// caught up. Forward: the counters age by as much.
#include <algorithm>
#include <string>

#include "algorithms/grammar.h"
#include "algorithms/grant_log.h"

namespace weir::algorithms {

extern const Algorithm algorithm_sliding_window;

namespace {

constexpr int64_t kBucketsMax = 1'000;

int64_t buckets_of(const Limit& limit) { return limit.options[0]; }
int64_t per_bucket_of(const Limit& limit) { return limit.options[1]; }  // 0: no such limit

GrantRules window_rules_of(const Limit& limit) {
  const int64_t width_ns = limit.period_ns / buckets_of(limit);
  return {.count = limit.count,
          .hold_ns = limit.period_ns + width_ns,
          .width_ns = width_ns,
          .per_bucket = per_bucket_of(limit)};
}

Result<void, RangeError> check_window(const Limit& limit) {
  if (auto fits = check_count(limit, kCapacityMax); !fits) return fits;
  const int64_t buckets = buckets_of(limit), per_bucket = per_bucket_of(limit);
  if (buckets < 1 || buckets > kBucketsMax) {
    return RangeError{"BUCKETS", std::to_string(buckets), between(1, kBucketsMax)};
  }
  if (limit.period_ns % buckets != 0) {
    return RangeError{"BUCKETS", std::to_string(buckets),
                      "a divisor of the period of " + std::to_string(limit.period_ns) + "ns"};
  }
  if (per_bucket == 0) return {};
  const int64_t least = limit.count / buckets + (limit.count % buckets != 0);
  if (per_bucket >= least && per_bucket <= kCapacityMax) return {};
  return RangeError{"PERBUCKET", std::to_string(per_bucket),
                    "between count / BUCKETS, which is " + std::to_string(least) + ", and " +
                        std::to_string(kCapacityMax)};
}

void derive_window(Limit& limit) {
  limit.capacity = limit.count;
  if (per_bucket_of(limit) > 0) limit.capacity = std::min(limit.count, per_bucket_of(limit));
}

bool same_window(const Limit& a, const Limit& b) {
  return a.count == b.count && a.period_ns == b.period_ns && a.options == b.options;
}

State fresh_window(const Limit&, int64_t) { return {}; }

Verdict decide_window(const Limit& limit, State& state, const Request& request) {
  return decide_by_log(window_rules_of(limit), state, request);
}

int64_t owed_window(const Limit& limit, const State& state, const Request& request) {
  return owed_to_log(window_rules_of(limit), state, request.entries, request.now_ns);
}

Verdict refund_window(const Limit& limit, State& state, const Refund& refund) {
  return refund_to_log(window_rules_of(limit), state, refund);
}

Verdict settle_window(const Limit& limit, State& state, const Settle& settle) {
  return settle_in_log(window_rules_of(limit), state, settle);
}

// On a grid of another width the counters cannot go on: the used permits become one sum in the
// running sub-window, outside PERBUCKET.
State carry_over_window(const Limit& from, const Limit& to, const State& state,
                        const Entries& entries, int64_t now_ns) {
  return carry_over_log(
      {.from = window_rules_of(from), .to = window_rules_of(to), .now_ns = now_ns}, state, entries);
}

int64_t expires_window(const Limit& limit, const State& state) {
  return log_expires_at_ns(window_rules_of(limit), state);
}

void write_window(const Limit&, const State& state, Writer& out) { write_grants(state, out); }

bool read_window(const Limit&, Reader& in, State& state) { return read_grants(in, state); }

// SLIDINGWINDOW count/period [BUCKETS n] [PERBUCKET m]
constexpr int64_t kBucketsDefault = 10;
constexpr Option kSlidingWindowOptions[] = {{.name = "BUCKETS", .left_out = "10"},
                                            {.name = "PERBUCKET", .left_out = "no cap"}};
Result<void, RangeError> sliding_window_spec(const Written& written, LimitSpec& spec) {
  set_rate(written, spec);
  if (written.values[1] && *written.values[1] < 1) {
    return RangeError{"PERBUCKET", std::to_string(*written.values[1]), "at least 1"};
  }
  spec.options = {written.values[0].value_or(kBucketsDefault), written.values[1].value_or(0)};
  return {};
}
Written sliding_window_written(const Limit& limit) {
  Written written = rate_of(limit);
  written.set(0, limit.options[0], kBucketsDefault);
  if (limit.options[1] > 0) written.set(1, limit.options[1]);
  return written;
}
constexpr Grammar kSlidingWindowGrammar = {Grammar::Rate::kPerPeriod, kSlidingWindowOptions,
                                           sliding_window_spec, sliding_window_written};

}  // namespace

constinit const Algorithm algorithm_sliding_window = {
    .name = "SLIDINGWINDOW",
    .id = 6,
    .grammar = &kSlidingWindowGrammar,
    .options_used = 2,
    .uses_entries = true,
    .check = check_window,
    .derive = derive_window,
    .same = same_window,
    .fresh = fresh_window,
    .decide = decide_window,
    .owed = owed_window,
    .refund = refund_window,
    .settle = settle_window,
    .carry_over_entries = carry_over_window,
    .expires_at_ns = expires_window,
    .write_state = write_window,
    .read_state = read_window,
};

}  // namespace weir::algorithms
