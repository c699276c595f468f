// Numbers and texts go two ways (script/lua/number_text.h): they must not differ in a single bit.
#include "server/script/lua/number_text.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "tests/server/fake_server.h"

// Where the linker sends Lua's calls, and what is behind. NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
double __real_strtod(const char* text, char** end);
double __wrap_strtod(const char* text, char** end);
int __wrap___sprintf_chk(char* out, int flag, size_t size, const char* format, ...);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace weir::server::script {
namespace {

void expect_same_number(const std::string& text) {
  char* end = nullptr;
  char* real_end = nullptr;
  const double number = __wrap_strtod(text.c_str(), &end);
  const double real = __real_strtod(text.c_str(), &real_end);
  ASSERT_EQ(std::bit_cast<uint64_t>(number), std::bit_cast<uint64_t>(real)) << text;
  ASSERT_EQ(end, real_end) << text;
}

std::string printed(const char* format, double number) {
  char out[512];
  return {out, static_cast<size_t>(std::snprintf(out, sizeof out, format, number))};
}

void expect_same_text(double number) {
  char out[kNumberTextBytes];
  for (const int digits : {14, 17}) {
    ASSERT_EQ(std::string(out, write_number_text(number, digits, out)),
              printed(digits == 14 ? "%.14g" : "%.17g", number));
  }
  for (const char* format : {"%.14g", "%.0f", "%.17g", "%f"}) {
    char text[512];
    const int size = __wrap___sprintf_chk(text, 1, sizeof text, format, number);
    ASSERT_EQ(std::string(text), printed(format, number)) << format;
    ASSERT_EQ(std::string(text).size(), static_cast<size_t>(size)) << format;
  }
}

TEST(NumberText, TextsAreReadAsTheLibraryReadsThem) {
  for (const char* text : {"0",
                           "-0",
                           "+0",
                           "",
                           "-",
                           ".",
                           "-.",
                           "1.",
                           ".5",
                           "-.5",
                           "1..2",
                           "1.2.3",
                           "00012",
                           "1e5",
                           "1E5",
                           "1e",
                           "0x10",
                           "0x",
                           "-0x1p3",
                           " 1",
                           "1 ",
                           "\t1",
                           "inf",
                           "-inf",
                           "nan",
                           "infinity",
                           "1,5",
                           "--1",
                           "-+1",
                           "9007199254740992",
                           "9007199254740993",
                           "9007199254740994",
                           "-9007199254740993",
                           "9999999999999999999",
                           "99999999999999999999",
                           "18446744073709551616",
                           "0.1",
                           "0.30000000000000004",
                           "0.1234567890123456789",
                           "0.12345678901234567890",
                           "1719234234.123456",
                           "299792458.00000001",
                           "0000000000000000000000000000001",
                           "0.0000000000000000000000001",
                           "5e-324",
                           "1e400",
                           "1e-400",
                           "123456789012345678",
                           "-123456789.0123456789"}) {
    expect_same_number(text);
  }
  expect_same_number(std::string("1\0002", 3));
}

TEST(NumberText, RandomDecimalsAreReadAsTheLibraryReadsThem) {
  std::mt19937_64 random(20261128);
  for (int i = 0; i < 100'000; ++i) {
    std::string text = random() % 4 == 0 ? "-" : "";
    for (uint64_t digits = 1 + random() % 21; digits > 0; --digits)
      text += static_cast<char>('0' + random() % 10);
    if (random() % 2 == 0) text.insert(random() % (text.size() + 1), ".");
    expect_same_number(text);
  }
}

TEST(NumberText, NumbersAreWrittenAsTheLibraryWritesThem) {
  for (const double number : {0.0,
                              -0.0,
                              0.5,
                              -0.5,
                              1.5,
                              2.5,
                              -2.5,
                              0.4,
                              -0.4,
                              1.0,
                              -1.0,
                              0.1,
                              1 / 3.0,
                              99999999999999.0,
                              100000000000000.0,
                              99999999999999.5,
                              999999999999995e-1,
                              1e14,
                              1e15,
                              1e16,
                              1e17,
                              1e18,
                              1e22,
                              1e23,
                              1e300,
                              -1e300,
                              5e-324,
                              1e-5,
                              1e-4,
                              123456.7,
                              0.00012345678901234567,
                              9007199254740991.0,
                              9007199254740992.0,
                              9007199254740993.0,
                              -9007199254740993.0,
                              9223372036854775808.0,
                              -9223372036854775808.0,
                              4503599627370496.5,
                              2251799813685248.75,
                              static_cast<double>(INFINITY),
                              -static_cast<double>(INFINITY),
                              std::nan(""),
                              -std::nan("")}) {
    expect_same_text(number);
  }
}

// Any bits, and what limiters have: seconds and microseconds, and halves between two digits.
TEST(NumberText, RandomNumbersAreWrittenAsTheLibraryWritesThem) {
  std::mt19937_64 random(20261129);
  for (int i = 0; i < 20'000; ++i) {
    expect_same_text(std::bit_cast<double>(random()));
    expect_same_text(static_cast<double>(random() % 2'000'000'000'000'000) / 1e6);
    expect_same_text(static_cast<double>(random() % (uint64_t{1} << 52)) / 64);
    expect_same_text(static_cast<double>(static_cast<int64_t>(random())));
  }
}

TEST(NumberText, IntegersAreWrittenAsTheLibraryWritesThem) {
  for (const long number : {0L, 1L, -1L, 42L, INT64_MAX, INT64_MIN}) {
    char out[64];
    char expected[64];
    const int size = std::snprintf(expected, sizeof expected, "%ld", number);
    EXPECT_EQ(__wrap___sprintf_chk(out, 1, sizeof out, "%ld", number), size);
    EXPECT_STREQ(out, expected);
  }
}

// Redis 7.0.15 has answered the same.
TEST(NumberText, ScriptsSeeTheSameWhicheverWayANumberGoes) {
  FakeServer server;
  const auto client = server.connect();
  const auto answered = [&](std::string_view script) {
    return client->call({"EVAL", script, "0"});
  };
  EXPECT_EQ(answered("return {tonumber('0x10'), tonumber(' 12 '), tonumber('1e2'), "
                     "tonumber('12abc') == nil, tonumber('') == nil, tonumber('0'), "
                     "tonumber('-0') == 0, 1/tonumber('-0') < 0}"),
            "*8\r\n:16\r\n:12\r\n:100\r\n:1\r\n:1\r\n:0\r\n:1\r\n:1\r\n");
  EXPECT_EQ(answered("return {tonumber('z', 36), tonumber('10', 2), tonumber('5', nil), "
                     "tonumber(nil) == nil, tonumber({}) == nil, tonumber(7), '10' + '0x10', "
                     "'1' .. 2, 10 .. ''}"),
            "*9\r\n:35\r\n:2\r\n:5\r\n:1\r\n:1\r\n:7\r\n:26\r\n$2\r\n12\r\n$2\r\n10\r\n");
  EXPECT_EQ(answered("return string.format('%.0f|%d|%5.0f|%.14g|%s|%g|%i', 2.5, -3, 7.5, 1/3, "
                     "'x', 1e20, 5)"),
            bulk("2|-3|    8|0.33333333333333|x|1e+20|5"));
  EXPECT_THAT(answered("return tonumber()"),
              ::testing::HasSubstr("bad argument #1 to 'tonumber' (value expected)"));
}

}  // namespace
}  // namespace weir::server::script
