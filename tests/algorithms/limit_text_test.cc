// Limits as text: what is read, what is refused and in which words, and that both ways agree.
#include "algorithms/limit_text.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "algorithms/algorithm.h"
#include "algorithms/fixed.h"
#include "algorithms/fixed_grammar.h"
#include "algorithms/grammar.h"
#include "base/ascii.h"
#include "tests/algorithms/limits.h"
#include "tests/algorithms/test_zones.h"

namespace weir::algorithms {
namespace {

using testing::reread;

TEST(LimitText, ReadsWhatItWrites) {
  for (const char* text : {"GCRA 100/1m",
                           "GCRA 100/1m BURST 20",
                           "GCRA 3/10s BURST 0",
                           "TOKENBUCKET 10/1s CAPACITY 5 INITIAL 2 REFILL INTERVAL",
                           "TOKENBUCKET 10/1s",
                           "LEAKY 1/10s CAPACITY 3",
                           "FIXED 5/1m",
                           "FIXED 5/1m ALIGN EPOCH",
                           "FIXED 1000 ALIGN DAY OFFSET +08:00",
                           "FIXED 1000 ALIGN MONTH OFFSET -03:30",
                           "FIXED 7 ALIGN WEEK",
                           "SLIDINGLOG 20/100ms",
                           "SLIDINGWINDOW 100/1m",
                           "SLIDINGWINDOW 100/1m BUCKETS 6 PERBUCKET 40",
                           "SLIDINGCOUNTER 50/1h",
                           "BURSTY 5/1s",
                           "BURSTY 5/1s MAXBURST 2s",
                           "WARMUP 5/1s OVER 10s",
                           "WARMUP 5/1s OVER 10s COLD 4",
                           "CONCURRENCY 3 LEASE 30s",
                           "GCRA 100/1m SLIDINGLOG 20/100ms FIXED 9 ALIGN HOUR"}) {
    EXPECT_EQ(reread(text), text);
  }
}

TEST(LimitText, HasOneWayOfWriting) {
  EXPECT_EQ(reread("gcra 100/s"), "GCRA 100/1s");
  EXPECT_EQ(reread("GCRA 100/60s BURST 99"), "GCRA 100/1m");
  EXPECT_EQ(reread("Fixed 1000 align day offset +00:00"), "FIXED 1000 ALIGN DAY");
  EXPECT_EQ(reread("GCRA 1/1w"), "GCRA 1/7d");
  EXPECT_EQ(reread("GCRA 1000/us"), "GCRA 1000/1us");
  EXPECT_EQ(reread("TOKENBUCKET 10/s CAPACITY 5 INITIAL 5 REFILL greedy"),
            "TOKENBUCKET 10/1s CAPACITY 5");
}

TEST(LimitText, EndsAtAWordThatIsNoLimits) {
  EXPECT_EQ(reread("GCRA 1/1s COST 2"), "GCRA 1/1s | COST");
  EXPECT_EQ(reread("COST 2"), " | COST");
  EXPECT_EQ(reread("GCRA 1/1s BUCKETS 2"), "GCRA 1/1s | BUCKETS");
  // An option takes the next word whatever it looks like.
  EXPECT_EQ(reread("GCRA 1/1s BURST GCRA"), "limit 0 (GCRA): BURST must be an integer, got 'GCRA'");
}

TEST(LimitText, RefusesAndSaysWhy) {
  const char* const cases[][2] = {
      {"GCRA", "limit 0 (GCRA): rate must be count/period, for example 100/1m, got 'nothing'"},
      {"GCRA 100", "limit 0 (GCRA): rate must be count/period, for example 100/1m, got '100'"},
      {"GCRA x/1s", "limit 0 (GCRA): rate must be count/period, for example 100/1m, got 'x/1s'"},
      {"GCRA 0/1s", "limit 0 (GCRA): count must be at least 1, got '0'"},
      {"GCRA 1/1s FIXED 5/0s", "limit 1 (FIXED): period must be between 1us and 3650d, got '0s'"},
      {"GCRA 1/99999999999999999999d",
       "limit 0 (GCRA): period must be between 1us and 3650d, got '99999999999999999999d'"},
      {"GCRA 1/1s BURST -1", "limit 0 (GCRA): BURST must be between 0 and 999999999999, got '-1'"},
      {"GCRA 1/1s BURST 1000000000000",
       "limit 0 (GCRA): BURST must be between 0 and 999999999999, got '1000000000000'"},
      {"GCRA 1/1s BURST 01", "limit 0 (GCRA): BURST must be an integer, got '01'"},
      {"GCRA 1/1s BURST", "limit 0 (GCRA): BURST must be an integer, got 'nothing'"},
      {"GCRA 1/1s BURST 1 BURST 2", "limit 0 (GCRA): BURST must be given once, got '2'"},
      {"TOKENBUCKET 1/1s REFILL SOON",
       "limit 0 (TOKENBUCKET): REFILL must be GREEDY or INTERVAL, got 'SOON'"},
      {"FIXED 5",
       "limit 0 (FIXED): rate must be count/period, unless ALIGN names a calendar "
       "unit, got '5'"},
      {"FIXED 5/1s ALIGN DAY",
       "limit 0 (FIXED): rate must be a count alone: ALIGN DAY says the period, got '5/1s'"},
      {"FIXED 5 ALIGN DAY OFFSET 8", "limit 0 (FIXED): OFFSET must be +hh:mm or -hh:mm, got '8'"},
      {"FIXED 5 ALIGN DAY OFFSET +24:00",
       "limit 0 (FIXED): OFFSET must be between -23:59 and +23:59, got '+24:00'"},
      {"WARMUP 1/1s",
       "limit 0 (WARMUP): OVER must be given: an integer and a unit (us ms s m h d w), got "
       "'nothing'"},
      {"CONCURRENCY 5 TTL 30s",
       "limit 0 (CONCURRENCY): LEASE must be given: an integer and a unit (us ms s m h d w), got "
       "'TTL'"},
      {"10k/s",
       "limit 0 (GCRA): rate must be count/period with a count of digits alone: 10000/s, "
       "got '10k/s'"},
      {"1_000_000/1d",
       "limit 0 (GCRA): rate must be count/period with a count of digits alone: "
       "1000000/1d, got '1_000_000/1d'"},
      {"5/1s BAN 1m AFTER 3",
       "limit 0 (GCRA): BAN must be written BAN duration AFTER n WITHIN duration, got "
       "'BAN 1m AFTER 3'"},
      {"CONCURRENCY 5/1s LEASE 1s", "limit 0 (CONCURRENCY): rate must be an integer, got '5/1s'"},
      {"CONCURRENCY 1000001 LEASE 1s",
       "limit 0 (CONCURRENCY): n must be between 1 and 1000000, got '1000001'"},
      {"SLIDINGWINDOW 100/1s BUCKETS 1001",
       "limit 0 (SLIDINGWINDOW): BUCKETS must be between 1 and 1000, got '1001'"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(reread(text), error);
}

TEST(LimitText, CapacityOfGcraIsOneMoreThanItsBurst) {
  EXPECT_EQ(reread("GCRA 10/1s CAPACITY 3"), "GCRA 10/1s BURST 2");
  EXPECT_EQ(reread("10/1s CAPACITY 10"), "GCRA 10/1s");
  EXPECT_EQ(reread("GCRA 1000/us CAPACITY 1000000000000"), "GCRA 1000/1us BURST 999999999999");
  EXPECT_EQ(reread("GCRA 10/1s CAPACITY 0"),
            "limit 0 (GCRA): CAPACITY must be between 1 and 1000000000000, got '0'");
  EXPECT_EQ(reread("GCRA 10/1s CAPACITY 3 BURST 2").substr(0, 54),
            "limit 0 (GCRA): CAPACITY must be left out beside BURST");
}

TEST(LimitText, NamesAreTheRequests) {
  const auto words = split_at_spaces("GCRA 10/1s AS a FIXED 5/1m 3/1s BURST 1 AS c-.9_Z");
  const auto parsed = parse_limits(words);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->words, words.size());
  EXPECT_EQ(parsed->names, (std::vector<std::string>{"a", "", "c-.9_Z"}));
  EXPECT_EQ(format_limits(parsed->limits), "GCRA 10/1s FIXED 5/1m GCRA 3/1s BURST 1");
  EXPECT_EQ(format_limits(parsed->limits, parsed->names),
            "GCRA 10/1s AS a FIXED 5/1m GCRA 3/1s BURST 1 AS c-.9_Z");
  EXPECT_EQ(limit_name(parsed->names, parsed->limits[1], 1), "fixed1");
  EXPECT_TRUE(parse_limits(split_at_spaces("GCRA 10/1s"))->names.empty());
}

using testing::Rng;

// Round values and others, of every order of magnitude.
int64_t any_size(Rng& rng, int64_t most) {
  constexpr int64_t kRound[] = {1, 1'000, kNsPerMs, kNsPerS, kNsPerMinute};
  const int64_t value = rng.any_magnitude(1, most), unit = rng.pick(kRound);
  return value > unit ? value - value % unit : value;
}

int64_t either(Rng& rng, int64_t usual, int64_t most) {
  return rng.one_in(2) ? usual : any_size(rng, most);
}

LimitSpec any_calendar_spec(Rng& rng, int64_t count) {
  Calendar calendar = testing::any_calendar(rng);
  if (rng.one_in(2)) calendar.offset_minutes = 0;
  return calendar_spec(count, calendar);
}

// A limit of any algorithm, not as a request writes it but as the server may hold it.
Result<Limit, RangeError> any_limit(Rng& rng) {
  LimitSpec spec{.algorithm = rng.pick(all_algorithms())};
  const std::string_view name = spec.algorithm->name;
  spec.count = any_size(rng, 1'000'000);
  spec.period_ns = any_size(rng, kPeriodNsMax);
  spec.capacity = either(rng, spec.count, 1'000'000);
  if (name == "TOKENBUCKET") {
    spec.options = {either(rng, spec.capacity, spec.capacity), rng.between(0, 1)};
  } else if (name == "FIXED") {
    if (rng.one_in(2)) return make_limit(any_calendar_spec(rng, spec.count));
    spec.options[0] = rng.between(kAlignFirst, kAlignEpoch);
  } else if (name == "SLIDINGWINDOW") {
    spec.options = {either(rng, 10, 1'000), either(rng, 0, spec.count)};
    spec.period_ns -= spec.period_ns % spec.options[0];
  } else if (name == "BURSTY") {
    spec.options[0] = either(rng, kNsPerS, kFillNsMax);
  } else if (name == "WARMUP") {
    spec.options = {any_size(rng, kPeriodNsMax), either(rng, 3, 100)};
  }
  return make_limit(spec);
}

void read_back(const Limit& limit, LimitStyle style) {
  const std::string text = format_limit(limit, style);
  const auto words = split_at_spaces(text);
  const auto again = parse_limits(words, 0, &testing::test_zones());
  ASSERT_TRUE(again) << text << ": " << again.error();
  ASSERT_EQ(again->words, words.size()) << text;
  ASSERT_EQ(again->limits.size(), 1u) << text;
  const Limit& same = again->limits[0];
  ASSERT_TRUE(same_limit(limit, same)) << text;
  ASSERT_EQ(limit.count, same.count) << text;
  ASSERT_EQ(limit.period_ns, same.period_ns) << text;
  ASSERT_EQ(limit.capacity, same.capacity) << text;
  ASSERT_EQ(format_limit(same, style), text);
}

// Law: what is shown of a limit, short or whole, is read back as the same limit.
TEST(LimitText, WhatIsShownIsReadBack) {
  testing::Seeded seeded;
  std::map<std::string_view, int> seen;
  for (int i = 0; i < 100'000; ++i) {
    const auto limit = any_limit(seeded.rng);
    if (!limit) continue;
    ++seen[limit->algorithm->name];
    ASSERT_NO_FATAL_FAILURE(read_back(*limit, LimitStyle::kShort));
    ASSERT_NO_FATAL_FAILURE(read_back(*limit, LimitStyle::kWhole));
  }
  for (const Algorithm* algorithm : all_algorithms()) {
    EXPECT_GT(seen[algorithm->name], 200) << algorithm->name;
  }
}

// Options that are left out mean what the page says.
TEST(LimitText, LeavingOutMeansWhatTheGrammarSays) {
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const Option& option : algorithm->grammar->options) {
      EXPECT_EQ(option.required, option.left_out.empty()) << algorithm->name << option.name;
    }
  }
  const auto whole = [](std::string_view text) {
    return format_limits(parse_limits(split_at_spaces(text))->limits, {}, LimitStyle::kWhole);
  };
  EXPECT_EQ(whole("7/1m"), "GCRA 7/1m BURST 6");
  EXPECT_EQ(whole("TOKENBUCKET 7/1m"), "TOKENBUCKET 7/1m CAPACITY 7 INITIAL 7 REFILL GREEDY");
  EXPECT_EQ(whole("TOKENBUCKET 7/1m CAPACITY 9"),
            "TOKENBUCKET 7/1m CAPACITY 9 INITIAL 9 REFILL GREEDY");
  EXPECT_EQ(whole("LEAKY 7/1m"), "LEAKY 7/1m CAPACITY 7");
  EXPECT_EQ(whole("FIXED 7/1m"), "FIXED 7/1m ALIGN FIRST");
  EXPECT_EQ(whole("FIXED 7 ALIGN WEEK"), "FIXED 7 ALIGN WEEK OFFSET +00:00");
  EXPECT_EQ(whole("SLIDINGLOG 7/1m"), "SLIDINGLOG 7/1m");
  EXPECT_EQ(whole("SLIDINGWINDOW 7/1m"), "SLIDINGWINDOW 7/1m BUCKETS 10");
  EXPECT_EQ(whole("BURSTY 7/1m"), "BURSTY 7/1m MAXBURST 1s");
  EXPECT_EQ(whole("WARMUP 7/1m OVER 1h"), "WARMUP 7/1m OVER 1h COLD 3");
  EXPECT_EQ(whole("CONCURRENCY 7 LEASE 60000ms"), "CONCURRENCY 7 LEASE 1m");
}

TEST(LimitText, ALeaseWithoutAUnitIsReadWhereItWasWrittenBefore) {
  const auto words = split_at_spaces("CONCURRENCY 7 LEASE 60000");
  EXPECT_EQ(parse_limits(words).error(),
            "limit 0 (CONCURRENCY): LEASE must be an integer and a unit (us ms s m h d w), got "
            "'60000'");
  const auto old = parse_limits(words, 0, nullptr, BareTimes::kMilliseconds);
  ASSERT_TRUE(old);
  EXPECT_EQ(format_limits(old->limits), "CONCURRENCY 7 LEASE 1m");
}

TEST(LimitText, TakesAtMostSixteen) {
  std::string text = "GCRA 1/1s";
  for (int i = 1; i < 16; ++i) text += " GCRA 1/1s";
  EXPECT_EQ(reread(text), text);
  EXPECT_EQ(reread(text + " GCRA 1/1s"), "at most 16 limits");
}

}  // namespace
}  // namespace weir::algorithms
