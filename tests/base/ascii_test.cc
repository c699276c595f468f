#include "base/ascii.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cctype>

namespace weir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The "C" locale is the oracle for the lower half; no byte of the upper half is anything.
TEST(Ascii, AgreesWithTheCLocaleOnEveryByte) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool lower_half = byte < 0x80;
    EXPECT_EQ(is_space(c), lower_half && std::isspace(byte) != 0) << byte;
    EXPECT_EQ(is_digit(c), lower_half && std::isdigit(byte) != 0) << byte;
    EXPECT_EQ(is_letter(c), lower_half && std::isalpha(byte) != 0) << byte;
    EXPECT_EQ(is_printable(c), lower_half && std::isprint(byte) != 0) << byte;
    EXPECT_EQ(is_control(c), lower_half && std::iscntrl(byte) != 0) << byte;
    EXPECT_EQ(hex_value(c) >= 0, lower_half && std::isxdigit(byte) != 0) << byte;
    EXPECT_EQ(to_lower(c), lower_half ? static_cast<char>(std::tolower(byte)) : c) << byte;
    EXPECT_EQ(to_upper(c), lower_half ? static_cast<char>(std::toupper(byte)) : c) << byte;
    EXPECT_EQ(kSpaces.find(c) != kSpaces.npos, is_space(c)) << byte;
    EXPECT_EQ(kDigits.find(c) != kDigits.npos, is_digit(c)) << byte;
  }
}

TEST(Ascii, ComparesInAnyCase) {
  EXPECT_TRUE(equals_ignoring_case("GeT", "gEt"));
  EXPECT_TRUE(equals_ignoring_case("", ""));
  EXPECT_FALSE(equals_ignoring_case("get", "gets"));
  EXPECT_FALSE(equals_ignoring_case("a\xc4", "a\xe4"));
  EXPECT_FALSE(equals_ignoring_case("@", "`"));
  EXPECT_EQ(to_lower(std::string_view("A\xc4Z[\0", 5)), std::string("a\xc4z[\0", 5));
  EXPECT_EQ(to_upper("a{z"), "A{Z");
}

TEST(Ascii, Trims) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed("\v\f"), "");
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed("\n a\r", "\r\n"), " a");
}

TEST(Ascii, SplitsAtSpaces) {
  EXPECT_THAT(split_at_spaces("  a  bc\td "), ElementsAre("a", "bc", "d"));
  EXPECT_THAT(split_at_spaces("a"), ElementsAre("a"));
  EXPECT_THAT(split_at_spaces(" \n"), IsEmpty());
  EXPECT_THAT(split_at_spaces(""), IsEmpty());
}

TEST(Ascii, WritesHexadecimalDigits) {
  EXPECT_EQ(hex_text(std::array<uint8_t, 3>{0, 0xaf, 0x10}), "00af10");
  EXPECT_EQ(hex_value('f'), 15);
  EXPECT_EQ(hex_value('B'), 11);
  EXPECT_EQ(hex_value('g'), -1);
}

}  // namespace
}  // namespace weir
