// Limits as text: what is read, what is refused and in which words, and that both ways agree.
#include "algorithms/limit_text.h"

#include <gtest/gtest.h>

#include "algorithms/algorithm.h"
#include "base/ascii.h"

namespace weir::algorithms {
namespace {

// The limits written again, and the word that ended them.
std::string read(std::string_view text) {
  const auto words = split_at_spaces(text);
  const auto parsed = parse_limits(words);
  if (!parsed) return parsed.error();
  std::string again = format_limits(parsed->limits);
  if (parsed->words < words.size()) again += " | " + std::string(words[parsed->words]);
  return again;
}

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
    EXPECT_EQ(read(text), text);
  }
}

TEST(LimitText, HasOneWayOfWriting) {
  EXPECT_EQ(read("gcra 100/s"), "GCRA 100/1s");
  EXPECT_EQ(read("GCRA 100/60s BURST 99"), "GCRA 100/1m");
  EXPECT_EQ(read("Fixed 1000 align day offset +00:00"), "FIXED 1000 ALIGN DAY");
  EXPECT_EQ(read("GCRA 1/1w"), "GCRA 1/7d");
  EXPECT_EQ(read("GCRA 1000/us"), "GCRA 1000/1us");
  EXPECT_EQ(read("TOKENBUCKET 10/s CAPACITY 5 INITIAL 5 REFILL greedy"),
            "TOKENBUCKET 10/1s CAPACITY 5");
}

TEST(LimitText, EndsAtAWordThatIsNoLimits) {
  EXPECT_EQ(read("GCRA 1/1s COST 2"), "GCRA 1/1s | COST");
  EXPECT_EQ(read("COST 2"), " | COST");
  EXPECT_EQ(read("GCRA 1/1s CAPACITY 2"), "GCRA 1/1s | CAPACITY");
  // An option takes the next word whatever it looks like.
  EXPECT_EQ(read("GCRA 1/1s BURST GCRA"), "limit 0 (GCRA): BURST must be an integer, got 'GCRA'");
}

TEST(LimitText, RefusesAndSaysWhy) {
  const char* const cases[][2] = {
      {"GCRA", "limit 0 (GCRA): rate must be count/duration, for example 100/1m, got 'nothing'"},
      {"GCRA 100", "limit 0 (GCRA): rate must be count/duration, for example 100/1m, got '100'"},
      {"GCRA x/1s", "limit 0 (GCRA): rate must be count/duration, for example 100/1m, got 'x/1s'"},
      {"GCRA 1/1y", "limit 0 (GCRA): rate must be count/duration, for example 100/1m, got '1/1y'"},
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
       "limit 0 (FIXED): rate must be count/duration, unless ALIGN names a calendar "
       "unit, got '5'"},
      {"FIXED 5/1s ALIGN DAY",
       "limit 0 (FIXED): rate must be a count alone: ALIGN DAY says the period, got '5/...'"},
      {"FIXED 5 ALIGN DAY OFFSET 8", "limit 0 (FIXED): OFFSET must be +hh:mm or -hh:mm, got '8'"},
      {"FIXED 5 ALIGN DAY OFFSET +24:00",
       "limit 0 (FIXED): OFFSET must be between -23:59 and +23:59, got '+24:00'"},
      {"WARMUP 1/1s",
       "limit 0 (WARMUP): OVER must be given: an integer and a unit (us ms s m h d w), got "
       "'nothing'"},
      {"CONCURRENCY 5/1s LEASE 1s", "limit 0 (CONCURRENCY): rate must be an integer, got '5/1s'"},
      {"CONCURRENCY 1000001 LEASE 1s",
       "limit 0 (CONCURRENCY): n must be between 1 and 1000000, got '1000001'"},
      {"SLIDINGWINDOW 100/1s BUCKETS 1001",
       "limit 0 (SLIDINGWINDOW): BUCKETS must be between 1 and 1000, got '1001'"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(read(text), error);
}

TEST(LimitText, TakesAtMostSixteen) {
  std::string text = "GCRA 1/1s";
  for (int i = 1; i < 16; ++i) text += " GCRA 1/1s";
  EXPECT_EQ(read(text), text);
  EXPECT_EQ(read(text + " GCRA 1/1s"), "at most 16 limits");
}

TEST(LimitText, ReadsDurations) {
  EXPECT_EQ(parse_duration("1us"), 1'000);
  EXPECT_EQ(parse_duration("2w"), 14 * kNsPerDay);
  EXPECT_EQ(parse_duration("0s"), 0);
  for (const char* bad : {"", "s", "1", "1 s", "-1s", "+1s", "01s", "1S", "1.5s", "1ns"}) {
    EXPECT_EQ(parse_duration(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace weir::algorithms
