// Rates and durations as text: every way to write them, and in which words they are refused.
#include "algorithms/rate_text.h"

#include <gtest/gtest.h>

#include <string>

#include "algorithms/algorithm.h"
#include "algorithms/limit_text.h"
#include "base/ascii.h"
#include "tests/algorithms/limits.h"

namespace weir::algorithms {
namespace {

using testing::reread;

TEST(RateText, ABareRateIsGcra) {
  EXPECT_EQ(reread("100/1m"), "GCRA 100/1m");
  EXPECT_EQ(reread("100/1m BURST 20"), "GCRA 100/1m BURST 20");
  EXPECT_EQ(reread("100 PER minute BURST 20"), "GCRA 100/1m BURST 20");
  EXPECT_EQ(reread("100/1m 1000/1h FIXED 9/1d 10/s BURST 0"),
            "GCRA 100/1m GCRA 1000/1h FIXED 9/1d GCRA 10/1s BURST 0");
  EXPECT_EQ(reread("10 per s 5 PER 2h COST 3"), "GCRA 10/1s GCRA 5/2h | COST");
}

TEST(RateText, ANumberAloneIsNoLimit) {
  EXPECT_EQ(reread("100"), " | 100");
  EXPECT_EQ(reread("100 COST 2"), " | 100");
  EXPECT_EQ(reread("GCRA 100/1m 100"), "GCRA 100/1m | 100");
  EXPECT_EQ(reread("x/1m"), " | x/1m");
  EXPECT_EQ(reread("/1m"), " | /1m");
}

TEST(RateText, EveryUnitStandsInEveryPlace) {
  const char* const units[][2] = {
      {"us", "1us"},      {"ms", "1ms"},   {"s", "1s"},     {"sec", "1s"},     {"second", "1s"},
      {"seconds", "1s"},  {"m", "1m"},     {"min", "1m"},   {"minute", "1m"},  {"minutes", "1m"},
      {"h", "1h"},        {"hour", "1h"},  {"hours", "1h"}, {"d", "1d"},       {"day", "1d"},
      {"days", "1d"},     {"w", "7d"},     {"week", "7d"},  {"weeks", "7d"},   {"Minute", "1m"},
      {"HOURS", "1h"},    {"SEC", "1s"},   {"Min", "1m"},   {"1000us", "1ms"}, {"60s", "1m"},
      {"2minutes", "2m"}, {"1Week", "7d"},
  };
  for (const auto& [unit, period] : units) {
    const std::string gcra = std::string("GCRA 3/") + period;
    EXPECT_EQ(reread(std::string("3/") + unit), gcra) << unit;
    EXPECT_EQ(reread(std::string("3 PER ") + unit), gcra) << unit;
    EXPECT_EQ(reread(std::string("GCRA 3/") + unit), gcra) << unit;
    EXPECT_EQ(reread(std::string("GCRA 3 per ") + unit), gcra) << unit;
    EXPECT_EQ(reread(std::string("FIXED 3 PER ") + unit), std::string("FIXED 3/") + period) << unit;
    EXPECT_EQ(reread(std::string("WARMUP 3/") + unit + " OVER 2hours"),
              std::string("WARMUP 3/") + period + " OVER 2h")
        << unit;
  }
}

TEST(RateText, SaysWhatWouldBeRight) {
  const std::string units = " (us ms s m h d w, in lower case, or second minute hour day week)";
  const std::string unit = "count/period with a unit" + units + ", for example ";
  const std::string month =
      "count/period with a unit of fixed length; months are counted by FIXED, for example FIXED "
      "100 ALIGN MONTH";
  const std::string cases[][2] = {
      {"100/60", unit + "100/60s"},
      {"100/1M", unit + "100/1m"},
      {"100/1S", unit + "100/1m"},
      {"7/fortnight", unit + "7/1m"},
      {"7 PER 60", unit + "7/60s"},
      {"7 PER", unit + "7/1m"},
      {"7/", unit + "7/1m"},
      {"100/month", month},
      {"100/1mo", month},
      {"100/1y", month},
      {"100 PER YEAR", month},
      {"0.5/1s", "in whole numbers: 1/2s"},
      {"1.5/s", "in whole numbers: 3/2s"},
      {"100/1.5s", "in whole numbers: 100/1500ms"},
      {"2.50/100ms", "in whole numbers: 5/200ms"},
      {"1.5.1/s", "count/period, for example 100/1m"},
  };
  for (const auto& [rate, accepted] : cases) {
    EXPECT_EQ(reread(rate), "limit 0 (GCRA): rate must be " + accepted + ", got '" + rate + "'");
  }
  EXPECT_EQ(reread("FIXED 3 PER month"),
            "limit 0 (FIXED): rate must be " + month + ", got '3 PER month'");
  EXPECT_EQ(reread("100/0s"), "limit 0 (GCRA): period must be between 1us and 3650d, got '0s'");
  EXPECT_EQ(reread("100 PER 9999999999999999999999w"),
            "limit 0 (GCRA): period must be between 1us and 3650d, got '9999999999999999999999w'");
}

// What a suggestion offers is read, and means what was meant.
TEST(RateText, OffersWhatItReads) {
  for (int count = 1; count < 400; ++count) {
    for (const char* period : {"1s", "250ms", "3h"}) {
      const std::string whole = std::to_string(count),
                        point = std::to_string(count / 10) + "." + std::to_string(count % 10);
      const std::string offer = reread(point + "/" + period);
      const size_t begin = offer.find("numbers: ") + 9;
      const std::string rate = offer.substr(begin, offer.find(',') - begin);
      const auto offered = parse_limits(split_at_spaces(rate));
      const auto ten_times = parse_limits(split_at_spaces(whole + "/" + period));
      ASSERT_TRUE(offered && ten_times && offered->limits.size() == 1) << offer;
      const Limit& a = offered->limits[0];
      const Limit& b = ten_times->limits[0];
      EXPECT_EQ(a.count * b.period_ns * 10, b.count * a.period_ns) << offer;
    }
  }
}

TEST(RateText, WhatIsTooLongIsNoNumber) {
  const std::string longest(kNumberBytesMax, '1');
  EXPECT_EQ(parse_number(longest), INT64_MAX);
  EXPECT_EQ(parse_number(longest + "1"), std::nullopt);
  EXPECT_EQ(parse_time(longest + "1"), std::nullopt);
  EXPECT_EQ(parse_duration(longest.substr(1) + "s"), INT64_MAX);
  EXPECT_EQ(parse_duration(longest + "s"), std::nullopt);
}

TEST(RateText, ReadsDurations) {
  EXPECT_EQ(parse_duration("1us"), 1'000);
  EXPECT_EQ(parse_duration("1500ns"), 1'500);
  EXPECT_EQ(parse_duration("2w"), 14 * kNsPerDay);
  EXPECT_EQ(parse_duration("3Days"), 3 * kNsPerDay);
  EXPECT_EQ(parse_duration("0s"), 0);
  for (const char* bad :
       {"", "s", "1", "1 s", "-1s", "+1s", "01s", "1S", "1.5s", "1NS", "1month"}) {
    EXPECT_EQ(parse_duration(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace weir::algorithms
