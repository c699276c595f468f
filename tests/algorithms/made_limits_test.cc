// Limits that are found are those that would be made.
#include "algorithms/made_limits.h"

#include <gtest/gtest.h>

#include "algorithms/limit_text.h"
#include "tests/algorithms/rng.h"

namespace weir::algorithms::testing {
namespace {

// Of a few numbers, so that limits come again, fall into one place, and are refused.
LimitSpec any_spec(Rng& rng) {
  constexpr int64_t kNumbers[] = {0, 1, 2, 10, 1'000, 1'000'000, 60'000'000'000};
  const auto number = [&] { return rng.pick(kNumbers); };
  return {.algorithm = rng.pick(all_algorithms()),
          .count = number(),
          .period_ns = number() * 1'000,
          .capacity = number(),
          .options = {number(), number()}};
}

TEST(MadeLimits, AreWhatMakeLimitMakes) {
  Rng rng(5);
  MadeLimits limits;
  int made = 0;
  for (int i = 0; i < 200'000; ++i) {
    const LimitSpec spec = any_spec(rng);
    const auto expected = make_limit(spec);
    const Limit* found = limits.make(spec);
    ASSERT_EQ(found != nullptr, expected.ok());
    if (!expected) continue;
    ++made;
    ASSERT_EQ(found->algorithm, expected->algorithm);
    ASSERT_TRUE(same_limit(*found, *expected));
    ASSERT_EQ(found->capacity, expected->capacity);
    ASSERT_EQ(found->options, expected->options);
    ASSERT_EQ(found->rate_count, expected->rate_count);
    ASSERT_EQ(found->rate_period_ns, expected->rate_period_ns);
    ASSERT_EQ(found->fill_ns, expected->fill_ns);
    ASSERT_EQ(found->fill_rem, expected->fill_rem);
    ASSERT_EQ(found->shape, expected->shape);
  }
  EXPECT_GT(made, 10'000);
}

}  // namespace
}  // namespace weir::algorithms::testing
