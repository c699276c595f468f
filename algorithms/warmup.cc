// WARMUP: like BURSTY, but idle time makes permits cold, and cold permits take longer. It is the
// smooth warming-up limiter of Guava.
//
// The idea. Permits are stored while no request comes, and the more are stored, the colder the
// service that is protected is thought to be (an empty cache, closed connections). So a stored
// permit takes more time than a fresh one: COLD intervals at the coldest, falling along a line to
// one interval at a threshold, and one interval each from there to nothing stored.
//
//     time of a permit
//     cold = COLD * I |              /
//                     |            / |
//                     |          /   |       I = period / count
//              I      |---------'    |       threshold = OVER / (2 * I)
//                     |         |    |       max = threshold + 2 * OVER / (I + cold)
//                     +---------+----+---> stored
//                     0   threshold  max
//
// Taking permits walks to the left and takes the area passed over as time. From max to the
// threshold that is OVER, the time to warm up; idle time walks back to the right, from nothing to
// max in OVER. A new limiter is cold.
//
// Worked: 1 per second, OVER 4 s, COLD 3. Threshold 2, max 4, the line rises by 1 s per permit.
// At second 0 one permit costs 2.5 s (between 3 and 2): next_free is 2.5. There the next costs
// 1.5: next_free is 4, warm. From there each costs 1. Four at once cost 2.5 + 1.5 + 1 + 1 = 6.
// Left alone from second 4 with two stored, it is cold again at 6: a permit per second.
//
// `limit` is max, rounded down; `remaining` is what is stored: the more it is, the colder the
// service and the slower the permits. Full is cold, which is what a new limiter is: so its state
// expires.
//
// A refund makes next_free come nearer by an interval per permit, but not before now. It stores
// nothing: stored permits are cold, so giving permits back would slow the next request down.
//
// After a step of the clock backwards, requests wait for next_free. A step forward cools down.
//
// How exact it is. What is stored is a double: each request adds at most 2^-50 of max to its
// error. A time is whole intervals, exactly, and the area above the line through I, in floating
// point: within 2^-48 of itself. The sum is rounded up to a nanosecond, which next_free is whole
// of; a warm limiter is exact to that. The instant of full is kept through denials (invariant 2).
//
// Invariants
//  1. 0 <= stored <= max.
//  2. What is promised for an instant is computed from the state as it was stored, never from one
//     brought up to an instant in between: so a promise of `reset_after` does not move while
//     nothing is taken.
#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "algorithms/debt.h"
#include "algorithms/grammar.h"
#include "algorithms/instant.h"

namespace weir::algorithms {
namespace {

constexpr int64_t kColdMin = 2;
constexpr int64_t kColdMax = 100;

// The options. DO NOT CHANGE: they are on disk.
int64_t over_ns(const Limit& limit) { return limit.options[0]; }
int64_t cold(const Limit& limit) { return limit.options[1]; }

// These are kept in Limit::shape.
double max_of(const Limit& limit) { return limit.shape[0]; }
double threshold_of(const Limit& limit) { return limit.shape[1]; }
double slope_of(const Limit& limit) { return limit.shape[2]; }      // ns per permit, per permit
double cool_down_ns(const Limit& limit) { return limit.shape[3]; }  // idle time per permit
double whole_permits_max(const Limit& limit) { return limit.shape[4]; }  // floor(max)

// Errors of the last few bits must neither add a nanosecond nor take a permit away.
constexpr double kSlack = 0x1p-48;

int64_t round_up(double ns) { return static_cast<int64_t>(std::ceil(ns - ns * kSlack)); }

// max as a fraction of whole numbers: (OVER / I) * (1/2 + 2 / (1 + COLD)).
struct Fraction {
  int128 numerator;
  int128 denominator;
};
Fraction max_fraction(const Limit& limit) {
  return {int128{over_ns(limit)} * limit.rate_count * (cold(limit) + 5),
          int128{limit.rate_period_ns} * 2 * (cold(limit) + 1)};
}

// Answers when the stored permits reach max if the limiter is idle from next_free on, saturated at
// the last instant.
int64_t full_at(const Limit& limit, double stored, int64_t next_free_ns) {
  const int64_t cooling_ns = round_up((max_of(limit) - stored) * cool_down_ns(limit));
  return next_free_ns + std::min(cooling_ns, kNever - 1 - next_free_ns);
}

struct Warm {
  double stored = 0;
  int64_t next_free_ns = 0;
  int64_t full_at_ns = 0;  // derived

  static Warm load(const Limit& limit, const State& state) {
    const auto stored = std::bit_cast<double>(state.words[0]);
    return {stored, state.words[2], full_at(limit, stored, state.words[2])};
  }
  State state() const { return {.words = {std::bit_cast<int64_t>(stored), 0, next_free_ns, 0}}; }

  static Warm at(const Limit& limit, const State& state, int64_t now_ns) {
    Warm at = load(limit, state);
    if (now_ns < at.next_free_ns) {
      const int64_t near_ns = now_ns + debt_wait(at.next_free_ns, now_ns);
      at.full_at_ns -= at.next_free_ns - near_ns;
      at.next_free_ns = near_ns;
      return at;
    }
    const double gained = static_cast<double>(now_ns - at.next_free_ns) / cool_down_ns(limit);
    const bool full = now_ns >= at.full_at_ns;
    at.stored = full ? max_of(limit) : std::min(max_of(limit), at.stored + gained);
    at.next_free_ns = now_ns;
    return at;
  }

  static int64_t dearest(const Limit& limit) { return cold(limit); }

  // Each permit takes an interval; those above the threshold take the area above the interval in
  // addition.
  Warm spend(const Limit& limit, int64_t cost) const {
    const auto wanted = static_cast<double>(cost);
    const double above = std::max(0.0, stored - threshold_of(limit));
    const double dear = std::min(above, wanted);
    const double extra_ns = dear * slope_of(limit) * (above - dear / 2);

    const int128 units = int128{cost} * limit.rate_period_ns;
    const int64_t whole_ns = floor_divide(units, limit.rate_count);
    const auto rem = static_cast<double>(units - int128{whole_ns} * limit.rate_count);
    const double rest_ns = extra_ns + rem / static_cast<double>(limit.rate_count);
    Warm next{.stored = stored - std::min(stored, wanted),
              .next_free_ns = next_free_ns + whole_ns + round_up(rest_ns)};
    next.full_at_ns = full_at(limit, next.stored, next.next_free_ns);
    return next;
  }

  int64_t used(const Limit& limit, int64_t now_ns) const {
    const int128 owed = int128{next_free_ns - now_ns} * limit.rate_count;
    return owed <= 0 ? 0 : floor_divide(owed, limit.rate_period_ns);
  }

  bool give_back(const Limit& limit, int64_t now_ns, int64_t permits) {
    if (next_free_ns <= now_ns) return false;
    const int128 owed = int128{next_free_ns - now_ns} * limit.rate_count;
    const int128 left = owed - std::min(owed, int128{permits} * limit.rate_period_ns);
    const int64_t near_ns = now_ns + ceil_divide(left, limit.rate_count);
    full_at_ns -= next_free_ns - near_ns;
    next_free_ns = near_ns;
    return true;
  }

  Verdict verdict(const Limit& limit, int64_t now_ns, DebtOutcome outcome) const {
    const double permits = std::floor(stored + stored * kSlack);
    const bool waits = next_free_ns > now_ns;
    return {
        .allowed = outcome.retry_after_ns == 0,
        .limit = limit.capacity,
        .remaining = waits ? 0 : static_cast<int64_t>(std::min(permits, whole_permits_max(limit))),
        .retry_after_ns = outcome.retry_after_ns,
        .reset_after_ns = std::max<int64_t>(0, full_at_ns - now_ns),
        .changed = outcome.changed};
  }
};

Result<void, RangeError> check_warmup(const Limit& limit) {
  if (over_ns(limit) < kPeriodNsMin || over_ns(limit) > kPeriodNsMax) {
    return RangeError{"OVER", format_duration(over_ns(limit)),
                      between_durations(kPeriodNsMin, kPeriodNsMax)};
  }
  if (cold(limit) < kColdMin || cold(limit) > kColdMax) {
    return RangeError{"COLD", std::to_string(cold(limit)), between(kColdMin, kColdMax)};
  }
  const Fraction max = max_fraction(limit);
  if (max.numerator / max.denominator <= kCapacityMax) return {};
  return RangeError{"OVER", format_duration(over_ns(limit)),
                    std::to_string(kCapacityMax) + " permits at most"};
}

void derive_warmup(Limit& limit) {
  const Fraction max = max_fraction(limit);
  const auto whole = static_cast<int64_t>(max.numerator / max.denominator);
  const auto rem = static_cast<double>(max.numerator % max.denominator);
  limit.capacity = std::max<int64_t>(1, whole);
  const auto over = static_cast<double>(over_ns(limit));
  const double stable_ns =
      static_cast<double>(limit.rate_period_ns) / static_cast<double>(limit.rate_count);
  const auto extra_ns = static_cast<double>(cold(limit) - 1) * stable_ns;
  const double most = static_cast<double>(whole) + rem / static_cast<double>(max.denominator);
  const double sloped = 2 * over / (2 * stable_ns + extra_ns);
  limit.shape = {most, 0.5 * over / stable_ns, extra_ns / sloped, over / most,
                 static_cast<double>(whole)};
}

bool same_warmup(const Limit& a, const Limit& b) {
  return a.rate_count == b.rate_count && a.rate_period_ns == b.rate_period_ns &&
         a.options == b.options;
}

State fresh_warmup(const Limit& limit, int64_t now_ns) {
  return Warm{.stored = max_of(limit), .next_free_ns = clamp_instant(now_ns)}.state();
}

// Stored permits are scaled by new max / old max; debt stays the same time.
State carry_over_warmup(const Limit& from, const Limit& to, const State& state,
                        const Change& change) {
  Warm at = Warm::at(from, state, clamp_instant(change.now_ns));
  at.stored = std::min(max_of(to), at.stored / max_of(from) * max_of(to));
  return at.state();
}

int64_t expires_warmup(const Limit& limit, const State& state) {
  return Warm::load(limit, state).full_at_ns;
}

// DO NOT CHANGE: on disk.
void write_warmup(const Limit&, const State& state, Writer& out) {
  write_next_free(state.words[2], out);
  out.fixed64(static_cast<uint64_t>(state.words[0]));
}

bool read_warmup(const Limit& limit, Reader& in, State& state) {
  int64_t next_free_ns = 0;
  if (!read_next_free(in, next_free_ns)) return false;
  const auto stored = std::bit_cast<double>(in.fixed64());
  if (!in.ok() || !(stored >= 0 && stored <= max_of(limit))) return false;
  state = Warm{.stored = stored, .next_free_ns = next_free_ns}.state();
  return true;
}

// WARMUP count/period OVER duration [COLD factor]
constexpr int64_t kColdDefault = 3;
constexpr Option kWarmupOptions[] = {
    {.name = "OVER", .kind = Option::Kind::kDuration, .required = true},
    {.name = "COLD", .left_out = "3"}};
Result<void, RangeError> warmup_spec(const Written& written, LimitSpec& spec) {
  set_rate(written, spec);
  spec.options = {*written.values[0], written.values[1].value_or(kColdDefault)};
  return {};
}
Written warmup_written(const Limit& limit) {
  Written written = rate_of(limit);
  written.set(0, limit.options[0]);
  written.set(1, limit.options[1], kColdDefault);
  return written;
}
constexpr Grammar kWarmupGrammar = {Grammar::Rate::kPerPeriod, kWarmupOptions, warmup_spec,
                                    warmup_written};

}  // namespace

extern const Algorithm algorithm_warmup;
constinit const Algorithm algorithm_warmup = {
    .name = "WARMUP",
    .id = 10,
    .grammar = &kWarmupGrammar,
    .options_used = 2,
    .any_cost = true,
    .check = check_warmup,
    .derive = derive_warmup,
    .same = same_warmup,
    .fresh = fresh_warmup,
    .decide = debt_decide<Warm>,
    .owed = debt_owed<Warm>,
    .refund = debt_refund<Warm>,
    .used = debt_used<Warm>,
    .reserve = debt_reserve<Warm>,
    .carry_over = carry_over_warmup,
    .expires_at_ns = expires_warmup,
    .write_state = write_warmup,
    .read_state = read_warmup,
};

}  // namespace weir::algorithms
