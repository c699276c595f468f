#include "base/result.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

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

struct Refused {};

template <class R>
constexpr bool is_as_small_as(size_t bytes) {
  return sizeof(R) <= bytes && std::is_trivially_copyable_v<R>;
}

TEST(Result, AnErrorWithoutMembersTakesNoRoom) {
  EXPECT_TRUE((is_as_small_as<Result<int64_t, Refused>>(sizeof(std::optional<int64_t>))));
  EXPECT_TRUE((is_as_small_as<Result<int32_t, Refused>>(sizeof(std::optional<int32_t>))));
  EXPECT_TRUE((is_as_small_as<Result<void, Refused>>(sizeof(bool))));
  Result<int64_t, Refused> refused = Refused();
  EXPECT_FALSE(refused);
  EXPECT_THROW((void)*refused, BrokenCheck);
  const Result<void, Refused> passed_on = refused.error();
  EXPECT_FALSE(passed_on);
  refused = int64_t{7};
  EXPECT_EQ(*refused, 7);
  EXPECT_THROW((void)refused.error(), BrokenCheck);
}

}  // namespace
}  // namespace weir
