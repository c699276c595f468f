// The expected outcomes were observed on redis-server 7.0.15, byte for byte.
#include "resp/inline_arguments.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>

namespace weir::resp {
namespace {

using Arguments = std::optional<std::vector<std::string>>;
using namespace std::string_literals;

// No value: unbalanced quotes.
Arguments split(std::string_view line) {
  std::string storage = "old";
  std::vector<std::string_view> arguments = {"old"};
  if (!split_arguments(line, &storage, &arguments)) return std::nullopt;
  return std::vector<std::string>(arguments.begin(), arguments.end());
}

Arguments words(std::vector<std::string> expected) { return expected; }

TEST(InlineArgumentsTest, WhiteSpaceSeparates) {
  EXPECT_EQ(split(""), words({}));
  EXPECT_EQ(split(" \t\r\n\v\f"), words({}));
  EXPECT_EQ(split("PING"), words({"PING"}));
  EXPECT_EQ(split("  set\t a  1 \r"), words({"set", "a", "1"}));
  EXPECT_EQ(split("a\rb"), words({"a", "b"}));
  EXPECT_EQ(split("\v\fa"), words({"a"}));
  EXPECT_EQ(split("a\vb"), words({"a\vb"}));
}

TEST(InlineArgumentsTest, DoubleQuotesUnescape) {
  EXPECT_EQ(split(R"("a b")"), words({"a b"}));
  EXPECT_EQ(split(R"("")"), words({""}));
  EXPECT_EQ(split(R"("\x41\n\r\t\b\a\q\\\"\x4g")"), words({"A\n\r\t\b\aq\\\"x4g"}));
  EXPECT_EQ(split(R"("\x00\xfF")"), words({"\0\xff"s}));
  EXPECT_EQ(split(R"("a\x4")"), words({"ax4"}));
  EXPECT_EQ(split("\"a\rb\""), words({"a\rb"}));
  EXPECT_EQ(split(R"(a"b c")"), words({"ab c"}));
}

TEST(InlineArgumentsTest, SingleQuotesKeepBackslashes) {
  EXPECT_EQ(split(R"('a\'b\n')"), words({R"(a'b\n)"}));
  EXPECT_EQ(split("'' 'a b'"), words({"", "a b"}));
  EXPECT_EQ(split(R"('PI\\NG')"), words({R"(PI\\NG)"}));
}

TEST(InlineArgumentsTest, BackslashOutsideQuotesIsItself) {
  EXPECT_EQ(split(R"(\x41 a\)"), words({R"(\x41)", R"(a\)"}));
}

TEST(InlineArgumentsTest, QuotesMustBalanceAndEndTheWord) {
  for (const char* line : {R"("a)", "'a", R"("a"b)", R"("a""b")", "a'b'c", R"(a\"b)", "a'b",
                           R"("\")", R"("\)", R"('\')", R"('\)", "\""}) {
    EXPECT_EQ(split(line), std::nullopt) << line;
  }
  EXPECT_EQ(split("\"a\"\v"), words({"a"}));
  EXPECT_EQ(split("\"a\"\vb"), words({"a", "b"}));
}

TEST(InlineArgumentsTest, AnyBytesComeBackFromTheirEscapedForm) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes, line = "SET ";
    for (unsigned left = random() % 40; left > 0; --left) bytes += static_cast<char>(random());
    line += '"';
    for (const char c : bytes) {
      constexpr char kHex[] = "0123456789abcdef";
      const unsigned byte = static_cast<unsigned char>(c);
      line += {'\\', 'x', kHex[byte / 16], kHex[byte % 16]};
    }
    ASSERT_EQ(split(line + '"'), words({"SET", bytes}));
    ASSERT_EQ(split(quote_argument(bytes)), words({bytes}));
  }
}

TEST(InlineArgumentsTest, QuotedArgumentsArePrintable) {
  EXPECT_EQ(quote_argument(""), R"("")");
  EXPECT_EQ(quote_argument("a b'"), R"("a b'")");
  EXPECT_EQ(quote_argument("\"\\\n\r\t\a\b"), R"("\"\\\n\r\t\a\b")");
  EXPECT_EQ(quote_argument(std::string_view("\0\x7f\xc3\xa9", 4)), R"("\x00\x7f\xc3\xa9")");
}

}  // namespace
}  // namespace weir::resp
