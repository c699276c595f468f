#include "algorithms/adaptive.h"

#include <algorithm>
#include <string>

#include "algorithms/instant.h"
#include "algorithms/rate_text.h"
#include "algorithms/wide.h"
#include "algorithms/words.h"
#include "base/ascii.h"
#include "base/check.h"

namespace weir::algorithms {
namespace {

constexpr std::string_view kDots = "..";
constexpr int64_t kStepsFromMinToMax = 50;
constexpr int64_t kLoweredNumerator = 4;
constexpr int64_t kLoweredDenominator = 5;
constexpr int64_t kTakenMax = kCostMax * 1'000'000;
constexpr uint8_t kHasFailures = 1;  // DO NOT CHANGE the flags: on disk
constexpr uint8_t kLastFailed = 2;
constexpr uint8_t kIsShared = 4;
constexpr uint8_t kAdaptiveFlags = kHasFailures + kLastFailed + kIsShared;

std::string range_text(const Adaptive& rule) {
  return std::to_string(rule.min) + std::string(kDots) + std::to_string(rule.max);
}

Result<Limit, RangeError> limit_of_count(const Limit& limit, int64_t count) {
  const int64_t capacity = limit.adaptive.capacity == 0 ? count : limit.adaptive.capacity;
  const auto spec = limit.algorithm->resized(limit, {.count = count, .capacity = capacity});
  if (!spec) return spec.error();
  const auto made = make_limit(*spec);
  if (!made) return made.error();
  Limit sized = with_whole_rate(*made);
  sized.ban = limit.ban;
  sized.adaptive = limit.adaptive;
  return sized;
}

int64_t round_of(const Limit& limit) {
  return std::clamp(limit.period_ns, kRoundNsMin, kRoundNsMax);
}

int64_t step_of(const Adaptive& rule) {
  return std::max<int64_t>(1, (rule.max - rule.min) / kStepsFromMinToMax);
}

int64_t raised(const Limit& limit) {
  const Adaptive& rule = limit.adaptive;
  return rule.max - limit.count <= step_of(rule) ? rule.max : limit.count + step_of(rule);
}

int64_t lowered(const Limit& limit) {
  const int128 less = int128{limit.count} * kLoweredNumerator / kLoweredDenominator;
  return std::max(limit.adaptive.min, static_cast<int64_t>(less));
}

// Tells whether at least half of what the count allows was taken since the round began.
bool is_used(const Limit& limit, const AdaptiveState& state, int64_t now_ns) {
  return int128{2} * state.taken * limit.period_ns >=
         int128{limit.count} * (now_ns - state.round_ns);
}

void begin_round(AdaptiveState& state, int64_t now_ns) {
  state.round_ns = now_ns;
  state.taken = 0;
  state.has_failures = false;
}

RangeError bad_range(std::string given, std::string why) {
  return {"ADAPTIVE", given.empty() ? "nothing" : std::move(given), std::move(why)};
}

uint8_t flags_of(const AdaptiveState& state) {
  return static_cast<uint8_t>((state.has_failures ? kHasFailures : 0) +
                              (state.last_failed ? kLastFailed : 0) +
                              (state.is_shared ? kIsShared : 0));
}

// Every number here is an instant, or less than the last instant is; -1 for others.
int64_t read_number(Reader& in) {
  const uint64_t value = in.varint();
  return value > uint64_t{kInstantNsMax} ? -1 : static_cast<int64_t>(value);
}

// Reads the numbers and flags of a state; false for those that cannot be.
bool read_reports(Reader& in, AdaptiveState& state) {
  state.round_ns = read_number(in);
  state.taken = read_number(in);
  state.lowered_ns = read_number(in);
  state.touched_ns = read_number(in);
  state.reported_ns = read_number(in);
  state.latency_ns = read_number(in) - 1;
  const uint8_t flags = in.byte();
  state.has_failures = (flags & kHasFailures) != 0;
  state.last_failed = (flags & kLastFailed) != 0;
  state.is_shared = (flags & kIsShared) != 0;
  return in.ok() && flags <= kAdaptiveFlags && state.round_ns >= 0 && state.taken >= 0 &&
         state.taken <= kTakenMax && state.lowered_ns >= 0 && state.touched_ns >= 0 &&
         state.reported_ns >= 0 && state.latency_ns >= -1 && state.latency_ns <= kLatencyNsMax;
}

}  // namespace

Result<LimitSpec, RangeError> plainly_resized(const Limit& limit, const Size& size) {
  return LimitSpec{.algorithm = limit.algorithm,
                   .count = size.count,
                   .period_ns = limit.period_ns,
                   .capacity = size.capacity};
}

Result<Limit, RangeError> make_adaptive(const Limit& limit, const Adaptive& rule) {
  WEIR_REQUIRE(limit.algorithm->resized != nullptr);
  if (rule.min < 1 || rule.min > limit.count || rule.max < limit.count) {
    return bad_range(range_text(rule), "min..max with 1 <= min <= " + std::to_string(limit.count) +
                                           ", the count, and max at least that");
  }
  if (rule.slow_ns < 0 || rule.slow_ns > kLatencyNsMax) {
    return RangeError{"SLOW", format_duration(rule.slow_ns), between_durations(1, kLatencyNsMax)};
  }
  Limit adaptive = limit;
  adaptive.adaptive = rule;
  adaptive.adaptive.start = limit.count;
  adaptive.adaptive.capacity = limit.capacity == limit.count ? 0 : limit.capacity;
  const auto start = limit_of_count(adaptive, limit.count);
  if (!start) return start.error();
  for (const int64_t end : {rule.min, rule.max}) {
    const auto sized = limit_of_count(adaptive, end);
    if (sized) continue;
    const RangeError& why = sized.error();
    return bad_range(range_text(rule), "two counts that the limit could have (" + why.argument +
                                           " " + why.accepted + ")");
  }
  return start;
}

Limit at_count(const Limit& limit, int64_t count) {
  WEIR_REQUIRE(count >= limit.adaptive.min && count <= limit.adaptive.max);
  const auto sized = limit_of_count(limit, count);
  WEIR_REQUIRE(sized.ok());
  return *sized;
}

Limit as_written(const Limit& limit) {
  return limit.adaptive.is_set() ? at_count(limit, limit.adaptive.start) : limit;
}

int64_t count_after(const Limit& limit, AdaptiveState& state, const Report& report) {
  const int64_t now_ns = std::max(clamp_instant(report.now_ns), state.round_ns);
  const int64_t slow_ns = limit.adaptive.slow_ns;
  state.last_failed = report.failed || (slow_ns != 0 && report.latency_ns > slow_ns);
  state.reported_ns = now_ns;
  state.latency_ns = report.latency_ns;
  if (state.last_failed) {
    state.has_failures = true;
    if (state.lowered_ns != 0 && now_ns - state.lowered_ns < round_of(limit)) return limit.count;
    state.lowered_ns = now_ns;
    begin_round(state, now_ns);
    return lowered(limit);
  }
  if (now_ns - state.round_ns < round_of(limit)) return limit.count;
  const bool grows = !state.has_failures && (report.is_used || is_used(limit, state, now_ns));
  begin_round(state, now_ns);
  return grows ? raised(limit) : limit.count;
}

void change_count(Limit& limit, State& state, int64_t count, int64_t now_ns) {
  if (count == limit.count) return;
  const Limit next = at_count(limit, count);
  state = carry_over(limit, next, state, CarryOver::kAsIs, now_ns);
  limit = next;
}

int64_t used_permits(const Limit& limit, const State& state, int64_t now_ns) {
  const Request nothing{.now_ns = clamp_instant(now_ns), .cost = 0};
  return limit.capacity - peek(limit, state, nothing).remaining + owed(limit, state, nothing);
}

void count_taken(AdaptiveState& state, int64_t permits) {
  const int64_t room = kTakenMax - state.taken;
  state.taken = permits >= room ? kTakenMax : std::max<int64_t>(0, state.taken + permits);
}

bool begins_adaptive(std::span<const std::string_view> words) {
  return !words.empty() && equals_ignoring_case(words[0], "ADAPTIVE");
}

Result<size_t, RangeError> parse_adaptive(std::span<const std::string_view> words, Adaptive& rule) {
  const std::string_view range = words.size() > 1 ? words[1] : std::string_view();
  const size_t dots = range.substr(0, kNumberBytesMax + kDots.size()).find(kDots);
  const auto min = dots == range.npos ? std::nullopt : parse_number(range.substr(0, dots));
  const auto max = dots == range.npos ? std::nullopt : parse_number(range.substr(dots + 2));
  if (!min || !max || *min < 1 || *max < *min) {
    return bad_range(shown(range), "min..max in one word, two counts with 1 <= min <= max");
  }
  rule = {.min = *min, .max = *max};
  if (words.size() < 3 || !equals_ignoring_case(words[2], "SLOW")) return size_t{2};
  const std::string_view text = words.size() > 3 ? words[3] : std::string_view();
  const auto slow_ns = parse_time(text);
  if (!slow_ns || *slow_ns < 1 || *slow_ns > kLatencyNsMax) {
    return RangeError{
        "SLOW", text.empty() ? "nothing" : shown(text),
        std::string(kTimeForm) + ", above 0 and at most " + format_duration(kLatencyNsMax)};
  }
  rule.slow_ns = *slow_ns;
  return size_t{4};
}

std::string format_adaptive(const Adaptive& rule) {
  if (!rule.is_set()) return {};
  std::string text = "ADAPTIVE " + range_text(rule);
  if (rule.slow_ns != 0) text += " SLOW " + format_duration(rule.slow_ns);
  return text;
}

void write_adaptive(const Adaptive& rule, const AdaptiveState& state, Writer& out) {
  for (const int64_t number :
       {rule.start, rule.min, rule.max, rule.capacity, rule.slow_ns, state.round_ns, state.taken,
        state.lowered_ns, state.touched_ns, state.reported_ns, state.latency_ns + 1}) {
    out.varint(static_cast<uint64_t>(number));
  }
  out.byte(flags_of(state));
}

bool read_adaptive(Reader& in, Limit& limit, AdaptiveState& state) {
  if (limit.algorithm->resized == nullptr) return false;
  const int64_t start = read_number(in);
  Adaptive rule;
  rule.min = read_number(in);
  rule.max = read_number(in);
  rule.capacity = read_number(in);
  rule.slow_ns = read_number(in);
  if (!read_reports(in, state)) return false;
  if (limit.count < rule.min || limit.count > rule.max) return false;
  if (limit.capacity != (rule.capacity == 0 ? limit.count : rule.capacity)) return false;
  const auto spec = limit.algorithm->resized(
      limit, {.count = start, .capacity = rule.capacity == 0 ? start : rule.capacity});
  if (!spec) return false;
  const auto made = make_limit(*spec);
  if (!made) return false;
  const auto adaptive = make_adaptive(*made, rule);
  if (!adaptive || adaptive->adaptive.capacity != rule.capacity) return false;
  limit = at_count(*adaptive, limit.count);
  return true;
}

}  // namespace weir::algorithms
