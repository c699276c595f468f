// FIXED: a counter per window.
//
// The idea. Count what was taken in the running window; when the window is over, start from zero.
//
//     ALIGN FIRST     |<--- period --->|        |<--- period --->|     begins at the first take,
//                     x  x x           |        x                |     so windows need not touch
//     ALIGN EPOCH  |----------------|----------------|-----------      multiples of the period
//     ALIGN MONTH  |--- 31 days ---|-- 28 days --|--- 31 days ---      real lengths, at an offset
//     ZONE, DAY    |-- 24 h --|-- 23 h --|-- 24 h --                   or in a time zone
//
// The windows of ALIGN FIRST are made of instants; all others are the wall clock's.
//
//     allowed      iff  used + cost <= count
//     remaining    =    count - used
//     retry_after  =    end of the window - now
//     reset_after  =    the same if anything is used, else 0
//
// Worked: 3 per 10 s, ALIGN FIRST, taken at seconds 7, 8 and 9: the window is 7 to 17. The fourth,
// at second 9, is told 8 s; at second 17 it is let in and begins the window 17 to 27. With ALIGN
// EPOCH the window would have been 0 to 10, and the wait 1 s.
//
// What the simple version gets wrong.
//  a. A counter that lost its time to live denies for ever. The start of the window is part of the
//     state here, not a property of the key.
//  b. Renewing the time to live at every hit moves the window; counting denied hits locks out a
//     client that retries. Neither happens here: only a grant writes, and it writes the old start.
//  c. A month is not 30 days. Windows come from the calendar (calendar.h), not from a division.
//
// What FORCE takes beyond count is owed until the window ends: the next one begins from zero.
//
// The surprising consequence. Around a boundary 2 * count pass within a moment: count at the end of
// one window, count at the beginning of the next. Use a sliding algorithm where that does harm.
//
// Invariants
//  1. used >= 0; a state with used == 0 is that of a fresh limiter, whatever its start.
//  2. A start that is no beginning of a window of this limit counts as a window that is over.
//  3. A window of the wall clock does not begin again, wherever the wall clock goes, until at least
//     a unit has passed by instants since it was entered.
//
// What a step of the wall clock does. Forward: the window that it leads to. Back: the window that
// was entered stays the running one until the wall clock has come to its end; the wait is longer by
// the step. A step back may be by years, so a window is over, too, when instants have passed its
// end (as it was seen when the window was entered) by one unit: until then the wall clock could
// lead to a window that had run before. The state is kept as long, since who forgets it begins the
// window again.
//
// What a change of a zone's table does. The state names its window by the date, not by the instant
// at which it began (calendar.h): the day that was entered remains that day, and ends when the new
// table says.
#include "algorithms/fixed.h"

#include <algorithm>

#include "algorithms/fixed_grammar.h"
#include "algorithms/instant.h"
#include "base/check.h"

namespace weir::algorithms {
namespace {

// The start of the year of 1970-01-01 at any offset, and a zone's date on the last day.
constexpr int64_t kStartNsMin = -400 * kNsPerDay;
constexpr int64_t kStartNsMax = kInstantNsMax + 2 * kNsPerDay;

struct Fixed {
  int64_t start_ns = 0;  // an instant with ALIGN FIRST, else the wall clock's time or a zone's date
  int64_t used = 0;
  int64_t lead_ns = 0;  // of instants when the window was entered; 0 with ALIGN FIRST
};

Fixed fixed_of(const State& state) { return {state.words[0], state.words[1], state.words[2]}; }

State fixed_state(const Fixed& fixed) {
  return {.words = {fixed.start_ns, fixed.used, fixed.lead_ns}};
}

bool is_first(const Limit& limit) { return limit.options[0] == kAlignFirst; }

// Now, by instants and in the terms of the limit's windows.
struct Now {
  int64_t instant_ns = 0;
  int64_t at_ns = 0;        // an instant with ALIGN FIRST, else the wall clock's time
  int64_t lead_ns = 0;      // the difference
  int64_t reset_ns = 0;     // the instant of the last reset,
  int64_t reset_at_ns = 0;  // and the wall clock's time then
};

Now now_of(const Limit& limit, int64_t now_ns, const WallClock& wall) {
  const int64_t instant_ns = clamp_instant(now_ns);
  if (is_first(limit)) return {.instant_ns = instant_ns, .at_ns = instant_ns};
  const int64_t at_ns = clamp_instant(wall.at(instant_ns));
  return {.instant_ns = instant_ns,
          .at_ns = at_ns,
          .lead_ns = instant_ns - at_ns,
          .reset_ns = wall.reset_ns,
          .reset_at_ns = wall.reset_at_ns};
}

DatedWindow window_from(int64_t start_ns, int64_t period_ns) {
  return {.window = {start_ns, start_ns + period_ns}, .date_ns = start_ns};
}

// Answers the window that runs at `at_ns`; with ALIGN FIRST, one that begins there.
DatedWindow running_window(const Limit& limit, int64_t at_ns) {
  if (is_first(limit)) return window_from(at_ns, limit.period_ns);
  if (limit.options[0] == kAlignEpoch)
    return window_from(at_ns - at_ns % limit.period_ns, limit.period_ns);
  return window_at(calendar_of(limit), at_ns);
}

// Answers the window that was entered, if that began at a `start_ns` of a state.
DatedWindow entered_window(const Limit& limit, int64_t start_ns) {
  if (limit.zone == nullptr) return running_window(limit, start_ns);
  return window_of_date(calendar_of(limit), start_ns);
}

// Answers the newer one of the window that runs at `at_ns` and the one that was entered: the clock
// may have been set back.
DatedWindow newest_window(const Limit& limit, int64_t at_ns, int64_t start_ns) {
  if (limit.zone == nullptr) return running_window(limit, std::max(at_ns, start_ns));
  const DatedWindow runs = running_window(limit, at_ns);
  return runs.date_ns < start_ns ? entered_window(limit, start_ns) : runs;
}

struct Running {
  Window window;
  int64_t date_ns = 0;
  int64_t used = 0;
  int64_t lead_ns = 0;  // when the window was entered
  int64_t left_ns = 0;  // until it is over

  State state() const { return fixed_state({date_ns, used, lead_ns}); }
};

Running begin_window(const Limit& limit, const Now& now) {
  const auto [window, date_ns] = running_window(limit, now.at_ns);
  return {.window = window,
          .date_ns = date_ns,
          .used = 0,
          .lead_ns = now.lead_ns,
          .left_ns = window.end_ns - now.at_ns};
}

// Answers the instant after which a window of the wall clock is over, whatever the wall clock says.
int64_t given_up_at_ns(const Limit& limit, const Window& window, int64_t lead_ns) {
  return window.end_ns + lead_ns + limit.period_ns;
}

Running running_at(const Limit& limit, const Fixed& fixed, const Now& now) {
  if (fixed.used == 0) return begin_window(limit, now);
  if (is_first(limit)) {
    if (now.at_ns - fixed.start_ns >= limit.period_ns) return begin_window(limit, now);
    const auto [window, date_ns] = window_from(fixed.start_ns, limit.period_ns);
    return {.window = window,
            .date_ns = date_ns,
            .used = fixed.used,
            .left_ns = window.end_ns - now.at_ns};
  }
  const auto [window, date_ns] = newest_window(limit, now.at_ns, fixed.start_ns);
  const int64_t given_up_ns = given_up_at_ns(limit, window, fixed.lead_ns);
  const bool was_ahead = now.at_ns < window.start_ns && now.reset_at_ns < window.start_ns;
  const bool was_reset = was_ahead && window.start_ns + fixed.lead_ns <= now.reset_ns;
  if (date_ns != fixed.start_ns || now.instant_ns >= given_up_ns || was_reset)
    return begin_window(limit, now);
  return {.window = window,
          .date_ns = date_ns,
          .used = fixed.used,
          .lead_ns = fixed.lead_ns,
          .left_ns = std::min(window.end_ns - now.at_ns, given_up_ns - now.instant_ns)};
}

Verdict verdict_at(const Limit& limit, const Running& running) {
  return {.allowed = true,
          .limit = limit.capacity,
          .remaining = std::max<int64_t>(0, limit.count - running.used),
          .retry_after_ns = 0,
          .reset_after_ns = running.used == 0 ? 0 : running.left_ns,
          .changed = false};
}

Verdict decide_fixed(const Limit& limit, State& state, const Request& request) {
  WEIR_REQUIRE(request.cost >= 0);
  const Now now = now_of(limit, request.now_ns, *request.wall);
  Running running = running_at(limit, fixed_of(state), now);
  const Verdict plain = verdict_at(limit, running);
  if (request.cost == 0) return plain;
  const int64_t most = request.force ? kCapacityMax - running.used : limit.count;
  if (request.cost > most) return denied(plain, kNever);
  if (request.cost > plain.remaining && !request.force) return denied(plain, plain.reset_after_ns);

  running.used += request.cost;
  if (!request.peek) state = running.state();
  Verdict taken = verdict_at(limit, running);
  taken.changed = !request.peek;
  return taken;
}

int64_t owed_fixed(const Limit& limit, const State& state, const Request& request) {
  return std::max<int64_t>(
      0, running_at(limit, fixed_of(state), now_of(limit, request.now_ns, *request.wall)).used -
             limit.count);
}

Verdict refund_fixed(const Limit& limit, State& state, const Refund& refund) {
  WEIR_REQUIRE(refund.permits >= 0);
  Running running = running_at(limit, fixed_of(state), now_of(limit, refund.now_ns, *refund.wall));
  const int64_t permits = std::min(refund.permits, running.used);
  if (permits == 0) return verdict_at(limit, running);

  running.used -= permits;
  state = running.used == 0 ? State{} : running.state();
  Verdict given = verdict_at(limit, running);
  given.changed = true;
  return given;
}

// Answers the window to which permits were charged then. One in which nothing was charged is that
// which ran, or would have begun.
Running charged_window(const Limit& limit, const Settle& settle) {
  return running_at(limit, fixed_of(*settle.kept),
                    now_of(limit, settle.charged_at_ns, *settle.wall));
}

// The charge is that of its window: when the window is over, so is the charge. Where another window
// has begun with ALIGN FIRST before that one is over, what is charged in addition goes there.
Verdict settle_fixed(const Limit& limit, State& state, const Settle& settle) {
  const Now now = now_of(limit, settle.now_ns, *settle.wall);
  Running running = running_at(limit, fixed_of(state), now);
  const Verdict plain = verdict_at(limit, running);
  if (settle.kept == nullptr && settle.used < settle.charged) return plain;
  const int64_t more = settle.used - settle.charged;
  bool same = settle.kept == nullptr;
  if (!same) {
    const Running charged = charged_window(limit, settle);
    const bool runs = now.at_ns < charged.window.end_ns;
    if (running.used == 0 && is_first(limit) && runs)
      running = {.window = charged.window, .date_ns = charged.date_ns};
    same = running.date_ns == charged.date_ns;
    if (!same && (more < 0 || !runs)) return plain;
  }
  if (more > kCapacityMax - running.used) return denied(plain, kNever);
  running.used = std::max<int64_t>(0, running.used + more);
  if (is_first(limit)) running.left_ns = running.window.end_ns - now.at_ns;
  Verdict settled = verdict_at(limit, running);
  settled.changed = more != 0 && !settle.peek;
  if (settled.changed) state = running.used == 0 ? State{} : running.state();
  return settled;
}

// Used permits stay used, in the window of the new limit that runs now. Between two limits of ALIGN
// FIRST the start stays too, if the new window is not over by then.
State carry_over_fixed(const Limit& from, const Limit& to, const State& state,
                       const Change& change) {
  const Running old = running_at(from, fixed_of(state), now_of(from, change.now_ns, *change.wall));
  if (old.used == 0) return {};
  Now now = now_of(to, change.now_ns, *change.wall);
  if (is_first(from) && is_first(to) && now.at_ns - old.window.start_ns < to.period_ns)
    return old.state();
  // The clock may have been set back; a lead is that of the window that was entered, then.
  if (is_first(from) == is_first(to) && old.window.start_ns > now.at_ns) {
    now.at_ns = old.window.start_ns;
    now.lead_ns = old.lead_ns;
  }
  Running next = begin_window(to, now);
  next.used = old.used;
  return next.state();
}

void derive_fixed(Limit& limit) { limit.capacity = limit.count; }

bool same_fixed(const Limit& a, const Limit& b) {
  if (a.count != b.count || a.period_ns != b.period_ns || a.options != b.options) return false;
  return a.zone == b.zone ||
         (a.zone != nullptr && b.zone != nullptr && a.zone->name() == b.zone->name());
}

State fresh_fixed(const Limit&, int64_t) { return {}; }

int64_t expires_fixed(const Limit& limit, const State& state) {
  const Fixed fixed = fixed_of(state);
  if (fixed.used == 0) return 0;
  const Window window = entered_window(limit, fixed.start_ns).window;
  return is_first(limit) ? window.end_ns : given_up_at_ns(limit, window, fixed.lead_ns);
}

bool can_be_start(int64_t start_ns) { return start_ns >= kStartNsMin && start_ns <= kStartNsMax; }

// DO NOT CHANGE: on disk. Where the lead is not 0 the start has its sign bit turned over, which
// makes it none that can_be_start(), and the lead follows.
constexpr uint64_t kHasLead = uint64_t{1} << 63;

void write_fixed(const Limit&, const State& state, Writer& out) {
  const Fixed fixed = fixed_of(state);
  const auto start = static_cast<uint64_t>(fixed.start_ns);
  out.varint(static_cast<uint64_t>(fixed.used));
  if (fixed.lead_ns == 0) return out.fixed64(start);
  out.fixed64(start ^ kHasLead);
  out.zigzag(fixed.lead_ns);
}

bool read_fixed(const Limit& limit, Reader& in, State& state) {
  const uint64_t used = in.varint();
  uint64_t start = in.fixed64();
  Fixed fixed{.used = static_cast<int64_t>(used)};
  if (!can_be_start(static_cast<int64_t>(start)) && !is_first(limit)) {
    start ^= kHasLead;
    fixed.lead_ns = in.zigzag();
  }
  fixed.start_ns = static_cast<int64_t>(start);
  if (!in.ok() || used > static_cast<uint64_t>(kCapacityMax)) return false;
  if (!can_be_start(fixed.start_ns)) return false;
  int64_t instant_ns = 0;
  if (__builtin_add_overflow(fixed.start_ns, fixed.lead_ns, &instant_ns)) return false;
  if (instant_ns < -kInstantNsMax || instant_ns > kInstantNsMax) return false;
  state = fixed_state(fixed);
  return true;
}

}  // namespace

constinit const Algorithm algorithm_fixed = {
    .name = "FIXED",
    .id = 4,
    .grammar = &fixed_grammar,
    .options_used = 2,
    .has_zone = has_zone,
    .check = check_fixed,
    .derive = derive_fixed,
    .same = same_fixed,
    .fresh = fresh_fixed,
    .decide = decide_fixed,
    .owed = owed_fixed,
    .refund = refund_fixed,
    .settle = settle_fixed,
    .carry_over = carry_over_fixed,
    .expires_at_ns = expires_fixed,
    .write_state = write_fixed,
    .read_state = read_fixed,
};

LimitSpec calendar_spec(int64_t count, const Calendar& calendar) {
  LimitSpec spec{.algorithm = &algorithm_fixed};
  set_calendar(count, calendar, spec);
  return spec;
}

bool has_windows_of_many_lengths(const Limit& limit) {
  if (limit.algorithm != &algorithm_fixed || limit.options[0] <= kAlignEpoch) return false;
  const CalendarUnit unit = calendar_of(limit).unit;
  return unit >= CalendarUnit::kMonth || (limit.zone != nullptr && unit >= CalendarUnit::kDay);
}

}  // namespace weir::algorithms
