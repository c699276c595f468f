// TOKENBUCKET against tables derived by hand: both refills, what is there at first sight, debt.
#include "algorithms/instant.h"
#include "tests/algorithms/tables.h"

namespace weir::algorithms::testing {
namespace {

struct Bucket {
  int64_t capacity;
  int64_t count;
  int64_t period_ns;
  int64_t initial;
  int64_t refill = 0;  // 1 is INTERVAL
};

LimitSpec bucket_spec(const Bucket& bucket) {
  return {.algorithm = find_algorithm("TOKENBUCKET"),
          .count = bucket.count,
          .period_ns = bucket.period_ns,
          .capacity = bucket.capacity,
          .options = {bucket.initial, bucket.refill}};
}

Limit token_bucket(const Bucket& bucket) { return make_limit(bucket_spec(bucket)).value(); }

// One permit every 333,333,333 1/3 ns, due at ...334, ...667 and exactly 10^9.
TEST(TokenBucket, GreedyThreePerSecond) {
  expect_table(token_bucket({2, 3, kSecond, 2}),
               {
                   {0, 1, {true, 2, 1, 0, 333'333'334, true}},
                   {0, 1, {true, 2, 0, 0, 666'666'667, true}},
                   {0, 1, {false, 2, 0, 333'333'334, 666'666'667, false}},
                   {333'333'333, 1, {false, 2, 0, 1, 333'333'334, false}},
                   {333'333'334, 1, {true, 2, 0, 0, 666'666'666, true}},
                   {666'666'666, 1, {false, 2, 0, 1, 333'333'334, false}},
                   {666'666'667, 1, {true, 2, 0, 0, 666'666'667, true}},
                   {1'000'000'000, 1, {true, 2, 0, 0, 666'666'667, true}},
                   {1'000'000'000, 3, {false, 2, 0, kNever, 666'666'667, false}},
                   {1'666'666'666, 0, {true, 2, 1, 0, 1, false}},
                   {1'666'666'667, 0, {true, 2, 2, 0, 0, false}},
                   {1'666'666'667, 2, {true, 2, 0, 0, 666'666'667, true}},
                   {1'666'666'667, -1, {true, 2, 1, 0, 333'333'334, true}},
                   {1'666'666'667, -9, {true, 2, 2, 0, 0, true}},
                   {1'666'666'667, -1, {true, 2, 2, 0, 0, false}},
               });
}

// Three permits in five nanoseconds.
TEST(TokenBucket, GreedySixHundredMillionPerSecond) {
  expect_table(token_bucket({3, 600'000'000, kSecond, 3}), {
                                                               {0, 3, {true, 3, 0, 0, 5, true}},
                                                               {1, 1, {false, 3, 0, 1, 4, false}},
                                                               {2, 1, {true, 3, 0, 0, 5, true}},
                                                               {3, 1, {false, 3, 0, 1, 4, false}},
                                                               {4, 1, {true, 3, 0, 0, 5, true}},
                                                               {5, 1, {true, 3, 0, 0, 5, true}},
                                                               {5, 1, {false, 3, 0, 2, 5, false}},
                                                               {9, 0, {true, 3, 2, 0, 1, false}},
                                                               {10, 0, {true, 3, 3, 0, 0, false}},
                                                           });
}

// The example at the head of token_bucket.cc.
TEST(TokenBucket, GreedyTwoPerTenSeconds) {
  const Limit limit = token_bucket({5, 2, 10 * kSecond, 5});
  expect_table(limit, {
                          {3 * kSecond, 5, {true, 5, 0, 0, 25 * kSecond, true}},
                          {8 * kSecond - 1, 1, {false, 5, 0, 1, 20 * kSecond + 1, false}},
                          {8 * kSecond, 0, {true, 5, 1, 0, 20 * kSecond, false}},
                          {13 * kSecond - 1, 0, {true, 5, 1, 0, 15 * kSecond + 1, false}},
                          {13 * kSecond, 0, {true, 5, 2, 0, 15 * kSecond, false}},
                          {28 * kSecond - 1, 0, {true, 5, 4, 0, 1, false}},
                          {28 * kSecond, 0, {true, 5, 5, 0, 0, false}},
                      });
}

TEST(TokenBucket, IntervalTwoPerTenSeconds) {
  const Limit limit = token_bucket({5, 2, 10 * kSecond, 5, 1});
  expect_table(limit, {
                          {3 * kSecond, 5, {true, 5, 0, 0, 30 * kSecond, true}},
                          {3 * kSecond, 1, {false, 5, 0, 10 * kSecond, 30 * kSecond, false}},
                          {3 * kSecond, 3, {false, 5, 0, 20 * kSecond, 30 * kSecond, false}},
                          {13 * kSecond - 1, 1, {false, 5, 0, 1, 20 * kSecond + 1, false}},
                          {13 * kSecond, 0, {true, 5, 2, 0, 20 * kSecond, false}},
                          {14 * kSecond, 1, {true, 5, 1, 0, 19 * kSecond, true}},
                          {23 * kSecond - 1, 2, {false, 5, 1, 1, 10 * kSecond + 1, false}},
                          {23 * kSecond, 0, {true, 5, 3, 0, 10 * kSecond, false}},
                          {33 * kSecond - 1, 0, {true, 5, 3, 0, 1, false}},
                          {33 * kSecond, 0, {true, 5, 5, 0, 0, false}},
                          // From full the grid begins anew.
                          {40 * kSecond, 1, {true, 5, 4, 0, 10 * kSecond, true}},
                          {50 * kSecond - 1, 0, {true, 5, 4, 0, 1, false}},
                          {50 * kSecond, 0, {true, 5, 5, 0, 0, false}},
                          {50 * kSecond, 6, {false, 5, 5, kNever, 0, false}},
                      });
}

TEST(TokenBucket, IntervalGivesBackAndOwes) {
  const Limit limit = token_bucket({5, 2, 10 * kSecond, 5, 1});
  State state = fresh_state(limit, kStartNs);
  const Request forced{.now_ns = kStartNs, .cost = 8, .force = true};
  EXPECT_EQ(decide(limit, state, forced), (Verdict{true, 5, 0, 0, 40 * kSecond, true}));
  EXPECT_EQ(decide(limit, state, {.now_ns = kStartNs}),
            (Verdict{false, 5, 0, 20 * kSecond, 40 * kSecond, false}));
  EXPECT_EQ(refund(limit, state, {.now_ns = kStartNs + kSecond, .permits = 2}),
            (Verdict{true, 5, 0, 0, 29 * kSecond, true}));
  EXPECT_EQ(refund(limit, state, {.now_ns = kStartNs + kSecond, .permits = kCostMax}),
            (Verdict{true, 5, 5, 0, 0, true}));
}

TEST(TokenBucket, ForceGoesIntoDebtAndTimePaysIt) {
  const Limit limit = token_bucket({5, 1, 10 * kSecond, 5});
  State state = fresh_state(limit, kStartNs);
  const Request forced{.now_ns = kStartNs, .cost = 8, .force = true};
  EXPECT_EQ(decide(limit, state, forced), (Verdict{true, 5, 0, 0, 80 * kSecond, true}));
  EXPECT_EQ(peek(limit, state, kStartNs, 1).retry_after_ns, 40 * kSecond);
  const Request absurd{.now_ns = kStartNs, .cost = kCostMax, .force = true};
  const std::string before = bytes_of(limit, state);
  EXPECT_EQ(decide(limit, state, absurd), (Verdict{false, 5, 0, kNever, 80 * kSecond, false}));
  EXPECT_EQ(bytes_of(limit, state), before);
}

// Nobody is let in, and yet it has begun to fill: its first sight has to be written.
TEST(TokenBucket, TheFirstSightBelowCapacityIsAChange) {
  for (const int64_t refill : {0, 1}) {
    const Limit limit = token_bucket({5, 1, 10 * kSecond, 0, refill});
    const State fresh = fresh_state(limit, kStartNs);
    State state = fresh;
    EXPECT_FALSE(peek(limit, state, kStartNs, 1).changed);
    EXPECT_FALSE(decide(limit, state, {.now_ns = kStartNs, .cost = 6}).changed) << "never";
    const Verdict denied{false, 5, 0, 10 * kSecond, 50 * kSecond, true};
    EXPECT_EQ(decide(limit, state, {.now_ns = kStartNs}), denied);
    EXPECT_FALSE(decide(limit, state, {.now_ns = kStartNs}).changed) << "once";
    EXPECT_TRUE(peek(limit, state, kStartNs + 10 * kSecond, 1).allowed);
    EXPECT_EQ(expires_at_ms(limit, state), (kStartNs + 50 * kSecond + kFullKeptNs) / kNsPerMs);

    state = fresh;
    EXPECT_TRUE(decide(limit, state, {.now_ns = kStartNs, .cost = 0}).changed);
    state = fresh;
    EXPECT_TRUE(refund(limit, state, {.now_ns = kStartNs, .permits = 0}).changed);
    state = fresh;
    if (can_reserve(limit)) {
      EXPECT_TRUE(reserve(limit, state, {.now_ns = kStartNs, .max_wait_ns = 1}).changed);
    }

    LimitState read;
    ASSERT_TRUE(read_record(bytes_of(limit, fresh), {&read, 1}).ok());
    EXPECT_FALSE(decide(read.limit, read.state, {.now_ns = kStartNs}).changed) << "was written";
  }
  const Limit full = token_bucket({5, 1, 10 * kSecond, 5});
  State state = fresh_state(full, kStartNs);
  EXPECT_FALSE(decide(full, state, {.now_ns = kStartNs, .cost = 0}).changed);
}

TEST(TokenBucket, InitialPermitsAreThere) {
  expect_table(token_bucket({5, 1, 10 * kSecond, 2}),
               {
                   {0, 2, {true, 5, 0, 0, 50 * kSecond, true}},
                   {10 * kSecond - 1, 1, {false, 5, 0, 1, 40 * kSecond + 1, false}},
                   {10 * kSecond, 1, {true, 5, 0, 0, 50 * kSecond, true}},
               });
}

TEST(TokenBucket, OptionsOutOfRangeAreNamed) {
  EXPECT_EQ(refusal(bucket_spec({5, 1, kSecond, -1})), "INITIAL must be between 0 and 5, got '-1'");
  EXPECT_EQ(refusal(bucket_spec({5, 1, kSecond, 6})), "INITIAL must be between 0 and 5, got '6'");
  EXPECT_EQ(refusal(bucket_spec({5, 1, kSecond, 5, 2})),
            "REFILL must be GREEDY or INTERVAL, got '2'");
  EXPECT_EQ(refusal(bucket_spec({5, 1, kSecond, 5, 1})), "");
  // One by one the 121 are there after 36,300 days; the thirteenth refill comes after 39,000.
  constexpr int64_t kPeriodNs = 3'000 * kNsPerDay;
  EXPECT_EQ(refusal(bucket_spec({121, 10, kPeriodNs, 0, 0})), "");
  EXPECT_EQ(refusal(bucket_spec({120, 10, kPeriodNs, 0, 1})), "");
  EXPECT_EQ(refusal(bucket_spec({121, 10, kPeriodNs, 0, 1})),
            "capacity * period / count must be at most 36500d (100 years) in whole periods, got "
            "'121 permits at 10/3000d'");
}

TEST(TokenBucket, EqualRatesAreTheSameLimitOnlyWhenGreedy) {
  EXPECT_TRUE(
      same_limit(token_bucket({5, 30, 60 * kSecond, 5}), token_bucket({5, 1, 2 * kSecond, 5})));
  EXPECT_FALSE(same_limit(token_bucket({5, 30, 60 * kSecond, 5, 1}),
                          token_bucket({5, 1, 2 * kSecond, 5, 1})));
  EXPECT_FALSE(same_limit(token_bucket({5, 1, kSecond, 5}), token_bucket({5, 1, kSecond, 5, 1})));
  EXPECT_FALSE(same_limit(token_bucket({5, 1, kSecond, 5}), token_bucket({5, 1, kSecond, 4})));
}

// Instants behind what was seen: nothing is handed out, and the refills stay where they were.
TEST(TokenBucket, AClockSetBack) {
  const Limit interval = token_bucket({5, 2, 10 * kSecond, 5, 1});
  State state = fresh_state(interval, kStartNs);
  decide(interval, state, {.now_ns = kStartNs, .cost = 5});
  EXPECT_EQ(peek(interval, state, kStartNs - 7 * kSecond, 1).retry_after_ns, 17 * kSecond);
  const Limit greedy = token_bucket({5, 1, 10 * kSecond, 5});
  state = fresh_state(greedy, kStartNs);
  decide(greedy, state, {.now_ns = kStartNs, .cost = 5});
  EXPECT_EQ(peek(greedy, state, kStartNs - 7 * kSecond, 1).retry_after_ns, 17 * kSecond);
}

// DO NOT CHANGE: these bytes are on disks. 01 | 02 count period capacity initial refill | instant,
// what is there: permits (zigzag), 1/period permits.
TEST(TokenBucket, Bytes) {
  const auto hex = [](std::string_view bytes) {
    std::string out;
    for (const char c : bytes) {
      constexpr char kDigits[] = "0123456789abcdef";
      out += {kDigits[(c >> 4) & 15], kDigits[c & 15]};
    }
    return out;
  };
  const Limit greedy = token_bucket({5, 1, 2'000, 5});
  State state = fresh_state(greedy, kStartNs);
  decide(greedy, state, {.now_ns = kStartNs, .cost = 2});
  EXPECT_EQ(hex(bytes_of(greedy, state)).substr(2),
            "020109050a00"
            "00002a36fe9c9717"
            "0600");
  const Limit interval = token_bucket({5, 1, 2'000, 5, 1});
  state = fresh_state(interval, kStartNs);
  decide(interval, state, {.now_ns = kStartNs, .cost = 7, .force = true});
  EXPECT_EQ(hex(bytes_of(interval, state)).substr(2),
            "020109050a02"
            "00002a36fe9c9717"
            "03");
}

}  // namespace
}  // namespace weir::algorithms::testing
