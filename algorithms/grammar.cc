// The rows: how each algorithm's limits are written.
#include "algorithms/grammar.h"

#include <cstdlib>
#include <string>

#include "algorithms/fixed.h"

namespace weir::algorithms {
namespace {

using Kind = Option::Kind;

// A value that is the default is not written.
std::optional<int64_t> unless(int64_t value, int64_t left_out) {
  return value == left_out ? std::nullopt : std::optional(value);
}

Written rate_of(const Limit& limit) {
  return {.count = limit.count, .period_ns = limit.period_ns, .values = {}};
}

void set_rate(const Written& written, LimitSpec& spec) {
  spec.count = written.count;
  spec.period_ns = *written.period_ns;
  spec.capacity = written.count;
}

// GCRA count/period [BURST b]
constexpr Option kGcraOptions[] = {{.name = "BURST"}};
std::optional<RangeError> gcra_spec(const Written& written, LimitSpec& spec) {
  set_rate(written, spec);
  const auto burst = written.values[0];
  if (!burst) return std::nullopt;
  if (*burst < 0 || *burst >= kCapacityMax) {
    return RangeError{"BURST", std::to_string(*burst), "between 0 and 999999999999"};
  }
  spec.capacity = *burst + 1;
  return std::nullopt;
}
Written gcra_written(const Limit& limit) {
  Written written = rate_of(limit);
  written.values[0] = unless(limit.capacity - 1, limit.count - 1);
  return written;
}

// TOKENBUCKET count/period [CAPACITY c] [INITIAL i] [REFILL GREEDY|INTERVAL]
constexpr std::string_view kRefills[] = {"GREEDY", "INTERVAL"};
constexpr Option kTokenBucketOptions[] = {
    {.name = "CAPACITY"},
    {.name = "INITIAL"},
    {.name = "REFILL", .kind = Kind::kWord, .words = kRefills}};
std::optional<RangeError> token_bucket_spec(const Written& written, LimitSpec& spec) {
  set_rate(written, spec);
  spec.capacity = written.values[0].value_or(written.count);
  spec.options = {written.values[1].value_or(spec.capacity), written.values[2].value_or(0)};
  return std::nullopt;
}
Written token_bucket_written(const Limit& limit) {
  Written written = rate_of(limit);
  written.values = {unless(limit.capacity, limit.count), unless(limit.options[0], limit.capacity),
                    unless(limit.options[1], 0)};
  return written;
}

// LEAKY count/period [CAPACITY c]
constexpr Option kLeakyOptions[] = {{.name = "CAPACITY"}};
std::optional<RangeError> leaky_spec(const Written& written, LimitSpec& spec) {
  set_rate(written, spec);
  spec.capacity = written.values[0].value_or(written.count);
  return std::nullopt;
}
Written leaky_written(const Limit& limit) {
  Written written = rate_of(limit);
  written.values[0] = unless(limit.capacity, limit.count);
  return written;
}

// SLIDINGLOG count/period, SLIDINGCOUNTER count/period
std::optional<RangeError> plain_spec(const Written& written, LimitSpec& spec) {
  set_rate(written, spec);
  return std::nullopt;
}

// SLIDINGWINDOW count/period [BUCKETS n] [PERBUCKET m]
constexpr int64_t kBucketsDefault = 10;
constexpr Option kSlidingWindowOptions[] = {{.name = "BUCKETS"}, {.name = "PERBUCKET"}};
std::optional<RangeError> sliding_window_spec(const Written& written, LimitSpec& spec) {
  set_rate(written, spec);
  if (written.values[1] && *written.values[1] < 1) {
    return RangeError{"PERBUCKET", std::to_string(*written.values[1]), "at least 1"};
  }
  spec.options = {written.values[0].value_or(kBucketsDefault), written.values[1].value_or(0)};
  return std::nullopt;
}
Written sliding_window_written(const Limit& limit) {
  Written written = rate_of(limit);
  written.values[0] = unless(limit.options[0], kBucketsDefault);
  written.values[1] = unless(limit.options[1], 0);
  return written;
}

// BURSTY count/period [MAXBURST duration]
constexpr Option kBurstyOptions[] = {{.name = "MAXBURST", .kind = Kind::kDuration}};
std::optional<RangeError> bursty_spec(const Written& written, LimitSpec& spec) {
  set_rate(written, spec);
  spec.options = {written.values[0].value_or(kNsPerSecond), 0};
  return std::nullopt;
}
Written bursty_written(const Limit& limit) {
  Written written = rate_of(limit);
  written.values[0] = unless(limit.options[0], kNsPerSecond);
  return written;
}

// WARMUP count/period OVER duration [COLD factor]
constexpr int64_t kColdDefault = 3;
constexpr Option kWarmupOptions[] = {{.name = "OVER", .kind = Kind::kDuration, .required = true},
                                     {.name = "COLD"}};
std::optional<RangeError> warmup_spec(const Written& written, LimitSpec& spec) {
  set_rate(written, spec);
  spec.options = {*written.values[0], written.values[1].value_or(kColdDefault)};
  return std::nullopt;
}
Written warmup_written(const Limit& limit) {
  Written written = rate_of(limit);
  written.values[0] = limit.options[0];
  written.values[1] = unless(limit.options[1], kColdDefault);
  return written;
}

// FIXED count/period [ALIGN FIRST|EPOCH], FIXED count ALIGN MINUTE|HOUR|DAY|WEEK|MONTH [OFFSET o]
constexpr std::string_view kAligns[] = {"FIRST", "EPOCH", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH"};
constexpr Option kFixedOptions[] = {{.name = "ALIGN", .kind = Kind::kWord, .words = kAligns},
                                    {.name = "OFFSET", .kind = Kind::kUtcOffset}};
std::optional<RangeError> fixed_spec(const Written& written, LimitSpec& spec) {
  const int64_t align = written.values[0].value_or(kAlignFirst);
  const bool calendar = align > kAlignEpoch;
  if (calendar == written.period_ns.has_value()) {
    return RangeError{
        "rate", std::to_string(written.count) + (calendar ? "/..." : ""),
        calendar ? "a count alone: ALIGN " + std::string(kAligns[align]) + " says the period"
                 : std::string("count/duration, unless ALIGN names a calendar unit")};
  }
  if (written.values[1] && !calendar) {
    return RangeError{"OFFSET", "OFFSET", "left out, unless ALIGN names a calendar unit"};
  }
  if (calendar) {
    spec = calendar_spec(written.count, {.unit = static_cast<CalendarUnit>(align),
                                         .offset_minutes = written.values[1].value_or(0)});
    return std::nullopt;
  }
  set_rate(written, spec);
  spec.options = {align, 0};
  return std::nullopt;
}
Written fixed_written(const Limit& limit) {
  Written written = rate_of(limit);
  if (limit.options[0] > kAlignEpoch) written.period_ns.reset();
  written.values = {unless(limit.options[0], kAlignFirst), unless(limit.options[1], 0)};
  return written;
}

// CONCURRENCY n LEASE duration
constexpr Option kConcurrencyOptions[] = {
    {.name = "LEASE", .kind = Kind::kDuration, .required = true}};
std::optional<RangeError> concurrency_spec(const Written& written, LimitSpec& spec) {
  spec.count = spec.capacity = written.count;
  spec.period_ns = *written.values[0];
  return std::nullopt;
}
Written concurrency_written(const Limit& limit) {
  Written written{.count = limit.count, .period_ns = std::nullopt, .values = {}};
  written.values[0] = limit.period_ns;
  return written;
}

struct Row {
  std::string_view algorithm;
  Grammar grammar;
};
using Rate = Grammar::Rate;
constexpr Row kRows[] = {
    {"GCRA", {Rate::kPerPeriod, kGcraOptions, gcra_spec, gcra_written}},
    {"TOKENBUCKET",
     {Rate::kPerPeriod, kTokenBucketOptions, token_bucket_spec, token_bucket_written}},
    {"LEAKY", {Rate::kPerPeriod, kLeakyOptions, leaky_spec, leaky_written}},
    {"FIXED", {Rate::kEither, kFixedOptions, fixed_spec, fixed_written}},
    {"SLIDINGLOG", {Rate::kPerPeriod, {}, plain_spec, rate_of}},
    {"SLIDINGWINDOW",
     {Rate::kPerPeriod, kSlidingWindowOptions, sliding_window_spec, sliding_window_written}},
    {"SLIDINGCOUNTER", {Rate::kPerPeriod, {}, plain_spec, rate_of}},
    {"BURSTY", {Rate::kPerPeriod, kBurstyOptions, bursty_spec, bursty_written}},
    {"WARMUP", {Rate::kPerPeriod, kWarmupOptions, warmup_spec, warmup_written}},
    {"CONCURRENCY", {Rate::kCount, kConcurrencyOptions, concurrency_spec, concurrency_written}},
};

}  // namespace

const Grammar& grammar_of(const Algorithm& algorithm) {
  for (const Row& row : kRows) {
    if (row.algorithm == algorithm.name) return row.grammar;
  }
  std::abort();
}

}  // namespace weir::algorithms
