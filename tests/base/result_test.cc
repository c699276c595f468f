#include "base/result.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

Result<int, std::string> half(int number) {
  if (number % 2 != 0) return std::string("odd");
  return number / 2;
}

Result<void, std::string> check_even(int number) {
  if (const auto halved = half(number); !halved) return halved.error();
  return {};
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_TRUE(half(4).ok());
  EXPECT_EQ(*half(4), 2);
  EXPECT_FALSE(half(3));
  EXPECT_EQ(half(3).error(), "odd");
  Result<std::string, int> text = std::string("a");
  text.value() += 'b';
  EXPECT_EQ(text->size(), 2u);
}

TEST(Result, OfNothingHoldsOnlyAnError) {
  EXPECT_TRUE(check_even(4));
  EXPECT_FALSE(check_even(3));
  EXPECT_EQ(check_even(3).error(), "odd");
  // An empty error is an error, too.
  EXPECT_FALSE((Result<void, std::string>(std::string()).ok()));
}

TEST(Result, ThrowsWhenAskedForWhatItDoesNotHold) {
  EXPECT_THROW((void)half(3).value(), BrokenCheck);
  EXPECT_THROW((void)half(4).error(), BrokenCheck);
  EXPECT_THROW((void)check_even(4).error(), BrokenCheck);
}

}  // namespace
}  // namespace weir
