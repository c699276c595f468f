// The tables were observed on redis-server 7.0.15 (INCRBY, ZADD with ZSCORE, INCRBYFLOAT).
#include "resp/numbers.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>

namespace weir::resp {
namespace {

using namespace std::string_literals;

TEST(NumbersTest, IntegersHaveOneSpelling) {
  for (const int64_t value :
       {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{10}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(parse_int64(std::to_string(value)), value);
  }
  for (const std::string& text :
       {""s, "-"s, "+1"s, "01"s, "-0"s, "-01"s, "00"s, " 1"s, "1 "s, "1a"s, "--1"s, "1\0"s, "0x1"s,
        "9223372036854775808"s, "-9223372036854775809"s, "99999999999999999999"s}) {
    EXPECT_EQ(parse_int64(text), std::nullopt) << text;
  }
}

TEST(NumbersTest, IntegersComeBack) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 100000; ++round) {
    const int64_t value = static_cast<int64_t>(random()) >> (random() % 64);
    char digits[20];
    const std::string_view text(digits, format_int64(value, digits));
    ASSERT_EQ(text, std::to_string(value));
    ASSERT_EQ(parse_int64(text), value);
  }
}

// What ZSCORE said after ZADD with the key; empty if ZADD refused.
const std::map<std::string, std::string> kScores = {
    {"0.1", "0.10000000000000001"},
    {"1e20", "1e+20"},
    {"1e17", "1e+17"},
    {"1e16", "10000000000000000"},
    {"inf", "inf"},
    {"-inf", "-inf"},
    {"+inf", "inf"},
    {"Infinity", "inf"},
    {"INF", "inf"},
    {"0x10", "16"},
    {"0x1p-3", "0.125"},
    {"1e-320", "9.9998886718268301e-321"},
    {"4.9e-324", "4.9406564584124654e-324"},
    {".5", "0.5"},
    {"5.", "5"},
    {"+5", "5"},
    {"3.0", "3"},
    {"123456789012345678", "1.2345678901234568e+17"},
    {"1.7976931348623157e308", "1.7976931348623157e+308"},
    {"2.2250738585072014e-308", "2.2250738585072014e-308"},
    {"1e5", "100000"},
    {"4503599627370496.5", "4503599627370496"},
    {"-3.25e-7", "-3.2500000000000001e-07"},
    {"nan", ""},
    {"-nan", ""},
    {"nan(1)", ""},
    {" 1", ""},
    {"1 ", ""},
    {"", ""},
    {"1e400", ""},
    {"1e-400", ""},
    {"1e", ""},
    {"--1", ""},
    {"1_0", ""},
    {"infinit", ""},
    {"1\0"s, ""},
    {"\t1", ""},
    {"\v1", ""}};

TEST(NumbersTest, DoublesAsScores) {
  for (const auto& [text, score] : kScores) {
    const std::optional<double> value = parse_double(text);
    EXPECT_EQ(value ? format_double(*value) : "", score) << text;
  }
  // Also where the text is too long for the small buffer.
  EXPECT_EQ(parse_double(std::string(5000, '0') + "1.5"), 1.5);
  EXPECT_EQ(parse_double(std::string(5000, '0') + "x"), std::nullopt);
  EXPECT_EQ(parse_double(std::string_view()), std::nullopt);
  EXPECT_EQ(format_double(-0.0), "-0");
}

TEST(NumbersTest, DoublesAgreeWithTheLibrary) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 100000; ++round) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    char text[64];
    std::snprintf(text, sizeof(text), "%.17g", value);
    ASSERT_EQ(format_double(value), text);
    ASSERT_EQ(parse_double(text), value);
  }
}

TEST(NumbersTest, ParsingLeavesErrnoAlone) {
  errno = 42;
  EXPECT_EQ(parse_double("1e400"), std::nullopt);
  EXPECT_EQ(errno, 42);
}

// A long double is as wide as the processor has it: 64 bits of precision on x86-64, 113 on ARM64,
// where redis-server has them, too.
constexpr bool kHas113Bits = std::numeric_limits<long double>::digits == 113;

// What INCRBYFLOAT said on a missing key; empty if it is no float.
const std::map<std::string, std::string> kIncrements = {
    {"0.1", "0.1"},
    {"1e20", "100000000000000000000"},
    {"-0", "0"},
    {"0", "0"},
    {"0x10", "16"},
    {"0x1p-3", "0.125"},
    {"1e-400", "0"},
    {"1e-4940", "0"},
    {"1e-18", "0"},
    {"1e-17", "0.00000000000000001"},
    {"4e-18", "0"},
    {"5e-18", "0"},
    {"6e-18", "0.00000000000000001"},
    {".5", "0.5"},
    {"5.", "5"},
    {"+5", "5"},
    {"3.0", "3"},
    {"123456789012345678901234567890",
     kHas113Bits ? "123456789012345678901234567890" : "123456789012345678899921813504"},
    {"-0.0", "0"},
    {"-1e-30", "0"},
    {"3.14", "3.14"},
    {"1.10", "1.1"},
    {"0.3", "0.3"},
    {std::string(5118, '0') + "1", "1"},
    {"100", "100"},
    {"nan", ""},
    {" 1", ""},
    {"1 ", ""},
    {"", ""},
    {"1e5000", ""},
    {"1e-5000", ""},
    {"1\0"s, ""},
    {std::string(5120, '0'), ""}};

TEST(NumbersTest, LongDoublesAsIncrements) {
  for (const auto& [text, result] : kIncrements) {
    const std::optional<long double> value = parse_long_double(text);
    EXPECT_EQ(value ? format_long_double_human(*value) : "", result) << text;
  }
  EXPECT_EQ(parse_long_double("Infinity"), HUGE_VALL);
  EXPECT_EQ(format_long_double_human(HUGE_VALL), "inf");
  EXPECT_EQ(format_long_double_human(-HUGE_VALL), "-inf");
  EXPECT_EQ(format_long_double_human(*parse_long_double("1e4000")).size(),
            kHas113Bits ? 4001u : 4000u);
  EXPECT_EQ(format_long_double_human(std::numeric_limits<long double>::lowest()).size(), 4934u);
}

TEST(NumbersTest, WhatIsTooLongIsNone) {
  EXPECT_FALSE(parse_int64(std::string(21, '1')));
  EXPECT_TRUE(parse_double(std::string(5118, '0') + "1"));
  EXPECT_FALSE(parse_double(std::string(5120, '0')));
}

}  // namespace
}  // namespace weir::resp
