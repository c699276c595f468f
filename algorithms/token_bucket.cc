// TOKENBUCKET: permits gather in a bucket of `capacity`; a request takes its cost out, or nothing.
//
// GREEDY refill brings permits one by one, each as soon as it is due; INTERVAL brings `count`
// at once at the end of each period. INITIAL says how many are in a new bucket.
//
// Source: the token bucket of integrated services (RFC 2215); the two refills are Bucket4j's,
// greedy and intervally.
//
//     there                      GREEDY          there                    INTERVAL
//     cap |\      .-----                         cap |--.        .------
//         | \   .'                                   |  |        |
//         |  \.'                                     |  '--.  .--'
//       0 +---------------> time                   0 +-----+--+--+------> time
//            take  full                                    |<-P->|<-P->
//                                                  grid: first take from full, then each period
//
// Worked, capacity 5, 2 per 10 s, all five taken at second 3.
//     GREEDY    one is there at 8, the next at 13, 18, 23; full at 28.
//     INTERVAL  two are there at 13, two more at 23, full at 33: three refills, the last cut off.
//               Whatever was taken in between, its refills stay at 13, 23, 33. Taken again at 40
//               from full, its grid is 50, 60 ...
//
// What the simple version gets wrong.
//  a. It keeps whole permits and the time it was last asked, and drops the fraction in between: a
//     bucket asked often never refills. GREEDY counts in 1/period permits (level.h); INTERVAL
//     moves its instant by whole periods only (interval_refill.h).
//  b. A bucket that starts below capacity is forgotten if no request is granted, and starts again
//     each time it is asked. So its first look counts as a change, a denied one too, and it is
//     kept for a day when it is full, since a full bucket is not what a new one would be.
//  c. INTERVAL on a grid from creation gives two helpings within moments. From the first take on,
//     it never admits more than capacity + min(capacity, count) * floor(elapsed / period).
//
// A step of the clock: GREEDY as in level.h. Set back, INTERVAL keeps what is there and refills at
// the same instants as before.
#include <algorithm>
#include <string>

#include "algorithms/adaptive.h"
#include "algorithms/grammar.h"
#include "algorithms/instant.h"
#include "algorithms/interval_refill.h"
#include "algorithms/level.h"

namespace weir::algorithms {
namespace {

// The options. DO NOT CHANGE: they are on disk.
int64_t initial_of(const Limit& limit) { return limit.options[0]; }
bool is_interval(const Limit& limit) { return limit.options[1] == 1; }

Result<void, RangeError> check_token_bucket(const Limit& limit) {
  if (initial_of(limit) < 0 || initial_of(limit) > limit.capacity) {
    return RangeError{"INITIAL", std::to_string(initial_of(limit)),
                      "between 0 and " + std::to_string(limit.capacity)};
  }
  const int64_t refill = limit.options[1];
  if (refill != 0 && refill != 1) {
    return RangeError{"REFILL", std::to_string(refill), "GREEDY or INTERVAL"};
  }
  if (is_interval(limit)) return interval_check(limit);
  return {};
}

Result<LimitSpec, RangeError> resized_token_bucket(const Limit& limit, const Size& size) {
  if (is_interval(limit)) return RangeError{"REFILL", "INTERVAL", "GREEDY beside ADAPTIVE"};
  if (initial_of(limit) != limit.capacity) {
    return RangeError{"INITIAL", std::to_string(initial_of(limit)),
                      "left out beside ADAPTIVE, or CAPACITY"};
  }
  auto spec = plainly_resized(limit, size);
  if (spec) spec->options[0] = size.capacity;
  return spec;
}

// Two permits per 2 s are one per second, but only if they come one by one.
bool same_token_bucket(const Limit& a, const Limit& b) {
  if (a.capacity != b.capacity || a.options != b.options) return false;
  if (is_interval(a)) return a.count == b.count && a.period_ns == b.period_ns;
  return a.rate_count == b.rate_count && a.rate_period_ns == b.rate_period_ns;
}

State fresh_token_bucket(const Limit& limit, int64_t now_ns) {
  now_ns = clamp_instant(now_ns);
  const int64_t missing = limit.capacity - initial_of(limit);
  if (is_interval(limit)) return interval_state({initial_of(limit), now_ns}, missing > 0);
  return level_state({int128{missing} * limit.rate_period_ns, now_ns}, missing > 0);
}

Verdict decide_token_bucket(const Limit& limit, State& state, const Request& request) {
  if (is_interval(limit)) return interval_decide(limit, state, request);
  return level_decide(limit, state, request);
}

int64_t owed_token_bucket(const Limit& limit, const State& state, const Request& request) {
  return is_interval(limit) ? interval_owed(limit, state, request.now_ns)
                            : level_owed(limit, state, request);
}

Verdict refund_token_bucket(const Limit& limit, State& state, const Refund& refund) {
  if (is_interval(limit)) return interval_refund(limit, state, refund);
  return level_refund(limit, state, refund);
}

int64_t used_token_bucket(const Limit& limit, const State& state, int64_t now_ns) {
  if (!is_interval(limit)) return level_used(limit, state, now_ns);
  return limit.capacity - interval_at(limit, state, now_ns).level;
}

bool reserves_token_bucket(const Limit& limit) { return !is_interval(limit); }

// Answers what is missing from full, in units of 1/rate_period_ns permits.
int128 used_of(const Limit& limit, const State& state, int64_t now_ns) {
  if (!is_interval(limit)) return used_at(limit, level_of(state), now_ns);
  return (int128{limit.capacity} - interval_at(limit, state, now_ns).level) * limit.rate_period_ns;
}

// INTERVAL has no fractions of a permit: the available permits are rounded down. From one grid to
// another the share of the period that has passed stays.
IntervalLevel carried_interval(const Limit& from, const Limit& to, const State& state, int128 used,
                               int64_t now_ns) {
  const int128 room = full_units(to) - used;
  const int128 down = room < 0 ? to.rate_period_ns - 1 : 0;
  const auto level = static_cast<int64_t>((room - down) / to.rate_period_ns);
  IntervalLevel carried{.level = std::max(level, interval_level_min(to)), .grid_ns = now_ns};
  if (!is_interval(from)) return carried;
  const IntervalLevel before = interval_at(from, state, now_ns);
  const int64_t passed_ns = std::max<int64_t>(0, now_ns - before.grid_ns);
  if (before.level >= from.capacity) return carried;
  const int128 share_ns = int128{passed_ns} * to.period_ns / from.period_ns;
  carried.grid_ns = static_cast<int64_t>(std::max<int128>(0, now_ns - share_ns));
  return carried;
}

State carry_over_token_bucket(const Limit& from, const Limit& to, const State& state,
                              const Change& change) {
  const int64_t now_ns = clamp_instant(change.now_ns);
  // What a bucket that starts low lacks is not what was used: there what is left stays.
  const bool starts_low = initial_of(from) < from.capacity || initial_of(to) < to.capacity;
  const CarryOver mode =
      starts_low && change.mode == CarryOver::kUsed ? CarryOver::kAsIs : change.mode;
  const int128 used = carried_used(from, to, used_of(from, state, now_ns), mode);
  if (!is_interval(to)) return level_state({.used = used, .at_ns = now_ns}, false);
  return interval_state(carried_interval(from, to, state, used, now_ns), false);
}

int64_t expires_token_bucket(const Limit& limit, const State& state) {
  const int64_t full_at_ns =
      is_interval(limit) ? interval_expires_at_ns(limit, state) : level_expires_at_ns(limit, state);
  return initial_of(limit) < limit.capacity ? kept_when_full(full_at_ns, 0) : full_at_ns;
}

// DO NOT CHANGE: on disk.
void write_token_bucket(const Limit& limit, const State& state, Writer& out) {
  if (is_interval(limit)) return interval_write(state, out);
  const Level level = level_of(state);
  write_instant(level.at_ns, out);
  write_units(limit, full_units(limit) - level.used, out);
}

bool read_token_bucket(const Limit& limit, Reader& in, State& state) {
  if (is_interval(limit)) return interval_read(limit, in, state);
  Level level;
  int128 there = 0;
  if (!read_instant(in, level.at_ns) || !read_units(limit, in, there)) return false;
  level.used = full_units(limit) - there;
  state = level_state(level, false);
  return holds_level(limit, level);
}

// TOKENBUCKET count/period [CAPACITY c] [INITIAL i] [REFILL GREEDY|INTERVAL]
constexpr std::string_view kRefills[] = {"GREEDY", "INTERVAL"};
constexpr Option kTokenBucketOptions[] = {
    {.name = "CAPACITY", .left_out = "count"},
    {.name = "INITIAL", .left_out = "CAPACITY"},
    {.name = "REFILL", .kind = Option::Kind::kWord, .words = kRefills, .left_out = "GREEDY"}};
Result<void, RangeError> token_bucket_spec(const Written& written, LimitSpec& spec) {
  set_rate(written, spec);
  spec.capacity = written.values[0].value_or(written.count);
  spec.options = {written.values[1].value_or(spec.capacity), written.values[2].value_or(0)};
  return {};
}
Written token_bucket_written(const Limit& limit) {
  Written written = rate_of(limit);
  written.set(0, limit.capacity, limit.count);
  written.set(1, limit.options[0], limit.capacity);
  written.set(2, limit.options[1], 0);
  return written;
}
constexpr Grammar kTokenBucketGrammar = {Grammar::Rate::kPerPeriod, kTokenBucketOptions,
                                         token_bucket_spec, token_bucket_written};

}  // namespace

extern const Algorithm algorithm_token_bucket;
constinit const Algorithm algorithm_token_bucket = {
    .name = "TOKENBUCKET",
    .id = 2,
    .grammar = &kTokenBucketGrammar,
    .options_used = 2,
    .check = check_token_bucket,
    .resized = resized_token_bucket,
    .same = same_token_bucket,
    .fresh = fresh_token_bucket,
    .decide = decide_token_bucket,
    .owed = owed_token_bucket,
    .refund = refund_token_bucket,
    .used = used_token_bucket,
    .reserve = level_reserve,
    .reserves = reserves_token_bucket,
    .carry_over = carry_over_token_bucket,
    .expires_at_ns = expires_token_bucket,
    .write_state = write_token_bucket,
    .read_state = read_token_bucket,
};

}  // namespace weir::algorithms
