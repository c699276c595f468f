// BURSTY: a request is allowed when its predecessor is paid for, and then pays for itself by the
// wait of its successor. It is the smooth bursty limiter of Guava.
//
// The idea. Keep the instant from which on the next request may come, next_free. Any request that
// comes at it or later passes at once, whatever its cost, and moves next_free on by period / count
// per permit. Unused time is stored as permits, at most MAXBURST's worth; stored permits are spent
// first and take no time.
//
//         now            next_free
//     -----|-----------------|--------------> time      waiting: denied until next_free
//     -----|-----------------|--------------> time      idle: stored permits grow
//      next_free            now
//
// Worked: 1 per second, MAXBURST 2 s, at second 0, nothing stored. A cost of 3 passes, next_free
// is 3. At 2.9 any request is denied, retry in 0.1 s. At 3 one passes, next_free is 4. At second
// 10 six seconds were idle, but two permits are stored, no more: a cost of 3 spends both and pays
// one, next_free is 11.
//
// The surprising consequence: there is no cost that is too high, and the burst a new limiter gives
// is one request of any size, not capacity permits. `limit` is what can be stored.
//
// What the simple version gets wrong: stored permits are fractions, and in floating point they
// drift. Here they are counted in units of 1/rate_period_ns permits, rate_count of which are
// stored in a nanosecond: exact. Only next_free is rounded, up to a whole nanosecond at each
// request that waits for it.
//
// A refund makes next_free come nearer, but not before now; what is left of the refund was paid
// from the store and goes back there, up to full.
//
// After a step of the clock backwards, requests wait for next_free; stored permits stay. A step
// forward stores permits, at most to full.
//
// Invariants
//  1. 0 <= stored <= max_burst_ns * rate_count.
//  2. capacity = max(1, floor(MAXBURST * rate)) <= kCapacityMax, so stored is below 2^100.
#include <algorithm>
#include <string>

#include "algorithms/debt.h"
#include "algorithms/grammar.h"
#include "algorithms/instant.h"
#include "algorithms/level.h"

namespace weir::algorithms {
namespace {

// DO NOT CHANGE: it is on disk.
int64_t max_burst_ns(const Limit& limit) { return limit.options[0]; }

int128 full_of(const Limit& limit) { return int128{max_burst_ns(limit)} * limit.rate_count; }

struct Bursty {
  int128 stored = 0;  // in 1/rate_period_ns permits
  int64_t next_free_ns = 0;

  // The words are a level's: units and an instant.
  static Bursty load(const State& state) {
    const Level level = level_of(state);
    return {.stored = level.used, .next_free_ns = level.at_ns};
  }
  State state() const { return level_state({.used = stored, .at_ns = next_free_ns}, false); }

  static Bursty at(const Limit& limit, const State& state, int64_t now_ns) {
    const Bursty then = load(state);
    if (now_ns <= then.next_free_ns) {
      return {then.stored, now_ns + debt_wait(then.next_free_ns, now_ns)};
    }
    const int128 gained = int128{now_ns - then.next_free_ns} * limit.rate_count;
    return {.stored = std::min(full_of(limit), then.stored + gained), .next_free_ns = now_ns};
  }

  static int64_t dearest(const Limit&) { return 1; }

  Bursty spend(const Limit& limit, int64_t cost) const {
    const int128 units = int128{cost} * limit.rate_period_ns;
    const int128 from_store = std::min(stored, units);
    return {.stored = stored - from_store,
            .next_free_ns = next_free_ns + ceil_divide(units - from_store, limit.rate_count)};
  }

  int64_t used(const Limit& limit, int64_t now_ns) const {
    const int128 owed = int128{next_free_ns - now_ns} * limit.rate_count;
    return floor_divide(owed + full_of(limit) - stored, limit.rate_period_ns);
  }

  bool give_back(const Limit& limit, int64_t now_ns, int64_t permits) {
    if (next_free_ns == now_ns && stored == full_of(limit)) return false;
    const int128 owed = int128{next_free_ns - now_ns} * limit.rate_count;
    const int128 given = int128{permits} * limit.rate_period_ns;
    const int128 paid = std::min(owed, given);
    next_free_ns = now_ns + ceil_divide(owed - paid, limit.rate_count);
    stored = std::min(full_of(limit), stored + (given - paid));
    return true;
  }

  Verdict verdict(const Limit& limit, int64_t now_ns, DebtOutcome outcome) const {
    const int64_t wait_ns = next_free_ns - now_ns;
    return {.allowed = outcome.retry_after_ns == 0,
            .limit = limit.capacity,
            .remaining = wait_ns > 0 ? 0 : floor_divide(stored, limit.rate_period_ns),
            .retry_after_ns = outcome.retry_after_ns,
            .reset_after_ns = wait_ns + ceil_divide(full_of(limit) - stored, limit.rate_count),
            .changed = outcome.changed};
  }
};

Result<void, RangeError> check_bursty(const Limit& limit) {
  const int64_t given_ns = max_burst_ns(limit);
  if (given_ns < 0 || given_ns > kFillNsMax) {
    return RangeError{"MAXBURST", format_duration(given_ns), between_durations(0, kFillNsMax)};
  }
  if (full_of(limit) / limit.rate_period_ns <= kCapacityMax) return {};
  return RangeError{"MAXBURST", format_duration(given_ns),
                    std::to_string(kCapacityMax) + " permits at most"};
}

void derive_bursty(Limit& limit) {
  const auto stored_max = static_cast<int64_t>(full_of(limit) / limit.rate_period_ns);
  limit.capacity = std::max<int64_t>(1, stored_max);
}

bool same_bursty(const Limit& a, const Limit& b) {
  return a.rate_count == b.rate_count && a.rate_period_ns == b.rate_period_ns &&
         max_burst_ns(a) == max_burst_ns(b);
}

State fresh_bursty(const Limit&, int64_t now_ns) {
  return Bursty{.stored = 0, .next_free_ns = clamp_instant(now_ns)}.state();
}

// Stored permits are scaled by new full / old full, rounded down; debt stays the same time.
State carry_over_bursty(const Limit& from, const Limit& to, const State& state,
                        const Change& change) {
  Bursty at = Bursty::at(from, state, clamp_instant(change.now_ns));
  if (change.mode == CarryOver::kUsed) {
    // What is stored stays, without the part of a permit that the new rate cannot express.
    const int64_t permits = floor_divide(at.stored, from.rate_period_ns);
    at.stored = std::min(full_of(to), int128{permits} * to.rate_period_ns);
    return at.state();
  }
  const auto from_full = static_cast<uint128>(full_of(from));
  const auto to_full = static_cast<uint128>(full_of(to));
  if (from_full == 0) {
    at.stored = 0;
  } else {
    const auto missing = from_full - static_cast<uint128>(at.stored);
    at.stored = static_cast<int128>(to_full - mul_div_ceil(missing, to_full, from_full));
  }
  return at.state();
}

int64_t expires_bursty(const Limit& limit, const State& state) {
  const Bursty at = Bursty::load(state);
  if (full_of(limit) == 0) return at.next_free_ns;
  return kept_when_full(at.next_free_ns, ceil_divide(full_of(limit) - at.stored, limit.rate_count));
}

// DO NOT CHANGE: on disk.
void write_bursty(const Limit& limit, const State& state, Writer& out) {
  const Bursty at = Bursty::load(state);
  write_next_free(at.next_free_ns, out);
  write_units(limit, at.stored, out);
}

bool read_bursty(const Limit& limit, Reader& in, State& state) {
  Bursty at;
  if (!read_next_free(in, at.next_free_ns) || !read_units(limit, in, at.stored)) return false;
  state = at.state();
  return at.stored >= 0 && at.stored <= full_of(limit);
}

// BURSTY count/period [MAXBURST duration]
constexpr Option kBurstyOptions[] = {
    {.name = "MAXBURST", .kind = Option::Kind::kDuration, .left_out = "1s"}};
Result<void, RangeError> bursty_spec(const Written& written, LimitSpec& spec) {
  set_rate(written, spec);
  spec.options = {written.values[0].value_or(kNsPerS), 0};
  return {};
}
Written bursty_written(const Limit& limit) {
  Written written = rate_of(limit);
  written.set(0, limit.options[0], kNsPerS);
  return written;
}
constexpr Grammar kBurstyGrammar = {Grammar::Rate::kPerPeriod, kBurstyOptions, bursty_spec,
                                    bursty_written};

}  // namespace

extern const Algorithm algorithm_bursty;
constinit const Algorithm algorithm_bursty = {
    .name = "BURSTY",
    .id = 9,
    .grammar = &kBurstyGrammar,
    .options_used = 1,
    .any_cost = true,
    .check = check_bursty,
    .derive = derive_bursty,
    .same = same_bursty,
    .fresh = fresh_bursty,
    .decide = debt_decide<Bursty>,
    .owed = debt_owed<Bursty>,
    .refund = debt_refund<Bursty>,
    .used = debt_used<Bursty>,
    .reserve = debt_reserve<Bursty>,
    .carry_over = carry_over_bursty,
    .expires_at_ns = expires_bursty,
    .write_state = write_bursty,
    .read_state = read_bursty,
};

}  // namespace weir::algorithms
