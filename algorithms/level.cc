#include "algorithms/level.h"

#include <algorithm>

#include "algorithms/instant.h"
#include "base/check.h"

namespace weir::algorithms {
namespace {

int128 used_max(const Limit& limit) { return int128{kAheadNsMax} * limit.rate_count; }

// Answers the smallest wait that brings so many units back.
int64_t wait_for(const Limit& limit, int128 units) {
  return units <= 0 ? 0 : ceil_divide(units, limit.rate_count);
}

int128 units_of(const Limit& limit, int64_t permits) {
  return int128{permits} * limit.rate_period_ns;
}

void store_level(State& state, const Level& level) { state = level_state(level, false); }

Verdict verdict_of(const Limit& limit, int128 used, Outcome outcome) {
  const int128 room = full_units(limit) - used;
  return {.allowed = outcome.retry_after_ns == 0,
          .limit = limit.capacity,
          .remaining = room < 0 ? 0 : floor_divide(room, limit.rate_period_ns),
          .retry_after_ns = outcome.retry_after_ns,
          .reset_after_ns = wait_for(limit, used),
          .changed = outcome.changed};
}

}  // namespace

State level_state(const Level& level, bool unseen) {
  return {.words = {static_cast<int64_t>(level.used), static_cast<int64_t>(level.used >> 64),
                    level.at_ns, unseen}};
}

Level level_of(const State& state) {
  return {.used = (int128{state.words[1]} << 64) | static_cast<uint64_t>(state.words[0]),
          .at_ns = state.words[2]};
}

int128 used_at(const Limit& limit, const Level& level, int64_t now_ns) {
  const int128 used = level.used - int128{now_ns - level.at_ns} * limit.rate_count;
  if (used >= 0) [[likely]]
    return std::min(used, used_max(limit));
  return limit.capacity == 1 && -used < limit.rate_count ? used : 0;
}

Verdict level_decide(const Limit& limit, State& state, const Request& request) {
  WEIR_REQUIRE(request.cost >= 0);
  const int64_t now_ns = clamp_instant(request.now_ns);
  const int128 used = used_at(limit, level_of(state), now_ns);
  if (request.cost > limit.capacity && !request.force) {
    return verdict_of(limit, used, {.retry_after_ns = kNever});
  }
  const int128 next = used + units_of(limit, request.cost);
  if (request.force && next > used_max(limit)) {  // invariant 1
    return verdict_of(limit, used, {.retry_after_ns = kNever});
  }
  const int128 excess = next - full_units(limit);
  const bool denied = excess > 0 && request.cost > 0 && !request.force;
  if (denied || request.cost == 0) {
    return verdict_of(limit, used,
                      {.retry_after_ns = denied ? wait_for(limit, excess) : 0,
                       .changed = !request.peek && take_unseen(state)});
  }
  if (!request.peek) store_level(state, {.used = next, .at_ns = now_ns});
  return verdict_of(limit, next, {.changed = !request.peek});
}

int64_t level_owed(const Limit& limit, const State& state, const Request& request) {
  const int128 over = used_at(limit, level_of(state), request.now_ns) - full_units(limit);
  return over <= 0 ? 0 : ceil_divide(over, limit.rate_period_ns);
}

int64_t level_used(const Limit& limit, const State& state, int64_t now_ns) {
  const int128 used = used_at(limit, level_of(state), now_ns);
  return used <= 0 ? 0 : floor_divide(used, limit.rate_period_ns);
}

Verdict level_refund(const Limit& limit, State& state, const Refund& refund) {
  WEIR_REQUIRE(refund.permits >= 0);
  const int64_t now_ns = clamp_instant(refund.now_ns);
  const int128 used = used_at(limit, level_of(state), now_ns);
  if (refund.permits == 0 || used <= 0) {
    return verdict_of(limit, used, {.changed = take_unseen(state)});
  }
  const int128 next = std::max<int128>(0, used - units_of(limit, refund.permits));
  store_level(state, {.used = next, .at_ns = now_ns});
  return verdict_of(limit, next, {.changed = true});
}

Booking level_reserve(const Limit& limit, State& state, const Reserve& reserve) {
  WEIR_REQUIRE(reserve.cost >= 0);
  if (reserve.cost > limit.capacity) return {.wait_ns = kNever};
  const int64_t now_ns = clamp_instant(reserve.now_ns);
  const int128 used = used_at(limit, level_of(state), now_ns);
  const int128 next = used + units_of(limit, reserve.cost);
  if (reserve.cost == 0) return {.granted = true, .changed = take_unseen(state)};
  if (next > used_max(limit)) return {.wait_ns = kNever};
  const int64_t wait_ns = wait_for(limit, next - full_units(limit));
  if (wait_ns > reserve.max_wait_ns) return {.wait_ns = wait_ns, .changed = take_unseen(state)};
  store_level(state, {.used = next, .at_ns = now_ns});
  return {.granted = true, .wait_ns = wait_ns, .changed = true};
}

int64_t level_expires_at_ns(const Limit& limit, const State& state) {
  const Level level = level_of(state);
  const bool fraction = level.used % limit.rate_count != 0;
  return level.at_ns + wait_for(limit, level.used) + (fraction && limit.capacity == 1);
}

// ASIS takes the capacity gained, or forgives the capacity lost, so that the available permits
// stay; ADDITIVE leaves the used permits used, and forgives likewise.
uint128 carried_units(const Limit& from, const Limit& to, uint128 used, CarryOver mode) {
  const auto to_period = static_cast<uint128>(to.rate_period_ns);
  if (mode == CarryOver::kProportional) {
    return mul_div_ceil(used, static_cast<uint128>(full_units(to)),
                        static_cast<uint128>(full_units(from)));
  }
  const uint128 same = mul_div_ceil(used, to_period, static_cast<uint128>(from.rate_period_ns));
  if (mode == CarryOver::kUsed) return same;
  if (to.capacity < from.capacity) {
    const uint128 lost = static_cast<uint128>(from.capacity - to.capacity) * to_period;
    return same > lost ? same - lost : 0;
  }
  if (mode == CarryOver::kAdditive) return same;
  const uint128 gained = static_cast<uint128>(to.capacity - from.capacity) * to_period;
  return same > ~gained ? ~uint128{0} : same + gained;
}

int128 carried_used(const Limit& from, const Limit& to, int128 used, CarryOver mode) {
  const auto units = static_cast<uint128>(std::max<int128>(0, used));
  const auto most = static_cast<uint128>(used_max(to));
  return static_cast<int128>(std::min(most, carried_units(from, to, units, mode)));
}

void write_units(const Limit& limit, int128 units, Writer& out) {
  const int64_t period = limit.rate_period_ns;
  const int64_t permits = units >= 0 ? floor_divide(units, period) : -ceil_divide(-units, period);
  out.zigzag(permits);
  if (period == 1) return;
  out.varint(static_cast<uint64_t>(units - int128{permits} * period));
}

bool read_units(const Limit& limit, Reader& in, int128& units) {
  const int64_t permits = in.zigzag();
  const uint64_t rem = limit.rate_period_ns > 1 ? in.varint() : 0;
  if (!in.ok() || rem >= static_cast<uint64_t>(limit.rate_period_ns)) return false;
  units = units_of(limit, permits) + static_cast<int64_t>(rem);
  return true;
}

void write_instant(int64_t at_ns, Writer& out) { out.fixed64(static_cast<uint64_t>(at_ns)); }

bool read_instant(Reader& in, int64_t& at_ns) {
  const uint64_t read_ns = in.fixed64();
  at_ns = static_cast<int64_t>(read_ns);
  return in.ok() && read_ns <= static_cast<uint64_t>(kInstantNsMax);
}

bool holds_level(const Limit& limit, const Level& level) {
  return level.used >= 0 && level.used <= used_max(limit);
}

}  // namespace weir::algorithms
