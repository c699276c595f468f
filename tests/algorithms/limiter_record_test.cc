// The bytes of a limiter: a worked example, round trips, and bytes that cannot be one.
#include "algorithms/limiter_record.h"

#include <gtest/gtest.h>

#include "algorithms/gcra.h"
#include "tests/algorithms/limits.h"
#include "tests/algorithms/tables.h"

namespace weir::algorithms::testing {
namespace {

LimitState used_gcra(int64_t max_burst, int64_t count, int64_t period_s) {
  const Limit limit =
      gcra_limit_from_throttle({.max_burst = max_burst, .count = count, .period_s = period_s})
          .value();
  LimitState each{limit, fresh_state(limit, kStartNs)};
  decide(each.limit, each.state, {.now_ns = kStartNs});
  return each;
}

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    char two[3];
    std::snprintf(two, sizeof(two), "%02x", static_cast<unsigned>(static_cast<uint8_t>(c)));
    out += two;
  }
  return out;
}

std::optional<RecordError> record_error_of(std::string_view bytes) {
  LimitState out[2];
  const auto count = read_record(bytes, out);
  return count ? std::nullopt : std::optional(count.error());
}

// DO NOT CHANGE: these bytes are on disks.
TEST(LimiterRecord, WorkedExamples) {
  const LimitState plain = used_gcra(15, 30, 60);
  EXPECT_EQ(hex(bytes_of(plain.limit, plain.state)), "01011ef3011000945fadfe9c9717");
  const LimitState thirds = used_gcra(4, 3, 1);
  EXPECT_EQ(hex(bytes_of(thirds.limit, thirds.state)), "01010307055543084afe9c971701");
}

TEST(LimiterRecord, RoundTripsAndTheFastPathAgrees) {
  Seeded seeded;
  for (int round = 0; round < 5'000; ++round) {
    Life life(any_gcra(seeded.rng), seeded.rng);
    life.live(3);
    char buffer[kLimiterRecordBytesMax];
    const std::string_view fast(buffer, write_single(life.limit, life.state, buffer));
    ASSERT_EQ(fast, life.bytes());
    LimitState read;
    ASSERT_EQ(read_record(fast, {&read, 1}).value(), (RecordHead{.limits = 1, .named = 1}));
    ASSERT_EQ(bytes_of(read.limit, read.state), fast);
    ASSERT_EQ(read.limit.fill_rem, life.limit.fill_rem);
    State state;
    ASSERT_TRUE(read_single(fast, life.limit, state));
    ASSERT_EQ(bytes_of(life.limit, state), fast);
    ASSERT_FALSE(read_single(fast, any_gcra(seeded.rng), state));
  }
}

TEST(LimiterRecord, AFewLimitsAreWrittenAndReadWithoutTheRest) {
  Seeded seeded;
  for (int round = 0; round < 3'000; ++round) {
    std::vector<LimitState> whole;
    std::vector<Limit> limits;
    std::vector<State> states;
    FewLimits few;
    if (seeded.rng.one_in(2))
      few.policy_version = static_cast<uint64_t>(seeded.rng.any_magnitude(1, kCapacityMax));
    const bool has_policies = seeded.rng.one_in(2);
    for (int64_t left = seeded.rng.between(1, kFewLimitsMax); left > 0; --left) {
      Life life(any_gcra(seeded.rng), seeded.rng);
      life.live(3);
      if (has_policies) few.policies[limits.size()] = uint32_t(seeded.rng.between(0, 2));
      whole.push_back(
          {.limit = life.limit, .state = life.state, .policy = few.policies[limits.size()]});
      limits.push_back(life.limit);
      states.push_back(life.state);
    }
    few.limits = limits;
    const RecordHead head{
        .limits = limits.size(), .named = limits.size(), .policy_version = few.policy_version};
    std::string record;
    append_record(head, whole, record);
    char buffer[kFewRecordBytesMax];
    ASSERT_EQ(std::string_view(buffer, write_few(few, states, buffer)), record);

    std::array<State, kFewLimitsMax> read;
    ASSERT_TRUE(read_few(record, few, read));
    ASSERT_EQ(std::string_view(buffer, write_few(few, read, buffer)), record);
    for (size_t size = 0; size < record.size(); ++size) {
      ASSERT_FALSE(read_few(std::string_view(record).substr(0, size), few, read));
    }
    ASSERT_FALSE(read_few(record + '\0', few, read));
    ++few.policy_version;
    ASSERT_FALSE(read_few(record, few, read));
    --few.policy_version;
    ++few.policies[0];
    ASSERT_FALSE(read_few(record, few, read));
    --few.policies[0];
    limits.back().capacity += 1;
    ASSERT_FALSE(read_few(record, few, read));
  }
}

TEST(LimiterRecord, ChangesAreCountedBesideBookingsAndHoldsOnly) {
  LimitState each = used_gcra(4, 3, 1);
  each.low_water.note(5, 2);
  const auto record_of = [&each](const RecordHead& head) {
    std::string record;
    append_record(head, {&each, 1}, record);
    return record;
  };
  RecordHead head{.limits = 1, .named = 1, .holds = true, .changes = 7};
  LimitState read;
  EXPECT_EQ(read_record(record_of(head), {&read, 1}).value(), head);
  EXPECT_EQ(read.low_water.since(3), 2);
  head.changes = 4;  // fewer than the mark's
  EXPECT_EQ(record_error_of(record_of(head)), RecordError::kBadLowWater);
  head.changes = kChangesMax + 1;
  EXPECT_EQ(record_error_of(record_of(head)), RecordError::kBadHead);
  head.changes = 7;
  head.holds = false;
  EXPECT_EQ(record_error_of(record_of(head)), RecordError::kBadHead);
}

TEST(LimiterRecord, HoldsSeveralLimits) {
  const std::vector<LimitState> limits(kLimitsMax, used_gcra(4, 3, 1));
  std::string record;
  write_record(limits, record);
  std::array<LimitState, kLimitsMax> read;
  EXPECT_EQ(read_record(record, read).value().limits, kLimitsMax);
  std::string again;
  write_record(read, again);
  EXPECT_EQ(again, record);
  EXPECT_EQ(read_record(record, {read.data(), kLimitsMax - 1}).error(),
            RecordError::kTooManyLimits);
  State state;
  EXPECT_FALSE(read_single(record, limits[0].limit, state));
}

TEST(LimiterRecord, EveryPrefixIsTruncatedAndATailIsRefused) {
  const LimitState each = used_gcra(4, 3, 1);
  const std::string record = bytes_of(each.limit, each.state);
  for (size_t size = 0; size < record.size(); ++size) {
    EXPECT_EQ(record_error_of(record.substr(0, size)), RecordError::kTruncated) << size;
    State state;
    EXPECT_FALSE(read_single(record.substr(0, size), each.limit, state));
  }
  EXPECT_EQ(record_error_of(record + '\0'), RecordError::kTrailingBytes);
  State state;
  EXPECT_FALSE(read_single(record + '\0', each.limit, state));
}

TEST(LimiterRecord, BytesOutsideTheRangesAreRefused) {
  const auto bytes = [](std::initializer_list<int> values) {
    std::string out;
    for (const int value : values) out.push_back(static_cast<char>(value));
    return out;
  };
  EXPECT_EQ(record_error_of(bytes({0})), RecordError::kTooManyLimits);
  EXPECT_EQ(record_error_of(bytes({17})), RecordError::kTooManyLimits);
  EXPECT_EQ(record_error_of(bytes({1, 0, 3, 7, 5})), RecordError::kUnknownAlgorithm);
  EXPECT_EQ(record_error_of(bytes({1, 200, 3, 7, 5})), RecordError::kUnknownAlgorithm);
  EXPECT_EQ(record_error_of(bytes({1, 1, 0, 7, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0})),
            RecordError::kBadLimit);
  EXPECT_EQ(record_error_of(bytes({1, 1, 3, 7, 5, 0, 0, 0, 0, 0, 0, 0, 0, 3})),
            RecordError::kBadState);
  EXPECT_EQ(record_error_of(bytes({1, 1, 3, 7, 5, 0, 0, 0, 0, 0, 0, 0, 255, 0})),
            RecordError::kBadState);
  EXPECT_EQ(record_error_of(bytes({255, 255, 255, 255, 255, 255, 255, 255, 255, 2})),
            RecordError::kTruncated);
}

// Whatever is read either is refused or is a limiter that works and writes itself back.
TEST(LimiterRecord, AnyBytesAreSafe) {
  Seeded seeded;
  for (int round = 0; round < 50'000; ++round) {
    const LimitState each = used_gcra(4, 3, 1);
    std::string record = bytes_of(each.limit, each.state);
    for (int64_t flips = seeded.rng.between(1, 4); flips > 0; --flips) {
      const auto at = static_cast<size_t>(seeded.rng.between(0, int64_t(record.size()) - 1));
      record[at] = static_cast<char>(seeded.rng.between(0, 255));
    }
    LimitState out[2];
    const auto head = read_record(record, out);
    if (!head) {
      ASSERT_FALSE(weir::algorithms::describe(head.error()).empty());
      continue;
    }
    std::string again;
    append_record(*head, {out, head->limits}, again);
    const Algorithm& algorithm = *out[0].limit.algorithm;
    decide(out[0].limit, out[0].state,
           {.now_ns = kStartNs, .cost = 2, .force = true, .peek = algorithm.uses_entries});
    LimitState reread[2];
    ASSERT_TRUE(read_record(again, reread).ok());
  }
}

TEST(LimiterRecord, KeepsItsHead) {
  const std::vector<LimitState> limits(3, used_gcra(4, 3, 1));
  for (const RecordHead& head :
       {RecordHead{.limits = 3, .named = 1}, RecordHead{.limits = 3, .named = 3, .bookings = true},
        RecordHead{.limits = 3, .named = 3, .holds = true},
        RecordHead{.limits = 3,
        .named = 2,
        .policy_version = ~uint64_t{0},
        .bookings = true,
        .holds = true}}) {
    std::string record;
    append_record(head, limits, record);
    std::array<LimitState, 3> read;
    EXPECT_EQ(read_record(record, read).value(), head);
  }
  const LimitState plain = used_gcra(15, 30, 60);
  const std::string record = bytes_of(plain.limit, plain.state);
  EXPECT_EQ(record_error_of("\x21\x02" + record.substr(1)), RecordError::kBadHead);  // 2 named of 1
  EXPECT_EQ(record_error_of("\x81\x08" + record.substr(1)),
            RecordError::kBadHead);  // changes without charges
  EXPECT_EQ(record_error_of("\x81\x20" + record.substr(1)),
            RecordError::kBadHead);  // an unknown flag
}

TEST(LimiterRecord, KeepsWhosePolicyALimitIs) {
  std::vector<LimitState> limits(3, used_gcra(4, 3, 1));
  limits[0].policy = 1;
  limits[2].policy = kPolicyTags - 1;
  std::string record;
  append_record({.limits = 3, .named = 2, .policy_version = 7}, limits, record);
  std::array<LimitState, 3> read;
  ASSERT_TRUE(read_record(record, read).ok());
  for (size_t i = 0; i < limits.size(); ++i) EXPECT_EQ(read[i].policy, limits[i].policy);
  const LimitState plain = used_gcra(15, 30, 60);
  const std::string limit = bytes_of(plain.limit, plain.state).substr(1);
  EXPECT_TRUE(read_record("\x81\x10\x05" + limit, {read.data(), 1}).ok());
  EXPECT_EQ(read[0].policy, 5u);
  EXPECT_EQ(record_error_of("\x81\x10\x80\x80\x80\x01" + limit), RecordError::kBadHead) << "no tag";
}

TEST(LimiterRecord, ExpiresWithItsSlowestLimitRoundedUp) {
  const LimitState thirds = used_gcra(4, 3, 1);    // full 333,333,333 1/3 ns later
  const LimitState plain = used_gcra(15, 30, 60);  // full 2 s later
  EXPECT_EQ(expires_at_ms(std::array{thirds}), 1'700'000'000'334);
  EXPECT_EQ(expires_at_ms(std::array{thirds, plain}), 1'700'000'002'000);
  EXPECT_EQ(expires_at_ms(plain.limit, plain.state), 1'700'000'002'000);
}

}  // namespace
}  // namespace weir::algorithms::testing
