// RateLimit and RateLimit-Policy of limits as they are told, without a server.
#include "server/limiter/policy/http_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithms/limit_text.h"
#include "base/ascii.h"
#include "base/base64.h"
#include "server/os/time_zones.h"
#include "tests/server/structured_fields.h"

namespace weir::server {
namespace {

using testing::ElementsAre;

algorithms::Limit limit_of(std::string_view text) {
  static const TimeZones zones;
  auto parsed = algorithms::parse_limits(split_at_spaces(text), 0, &zones.given());
  EXPECT_TRUE(parsed) << text;
  return parsed->limits.at(0);
}

std::vector<std::string> names_of(std::vector<std::pair<std::string, std::string>> told) {
  std::vector<ToldLimit> limits;
  for (const auto& [name, policy] : told) limits.push_back({.name = name, .policy = policy});
  return item_names(limits);
}

TEST(HttpFields, ItemsAreNamedByAsOrByThePolicy) {
  EXPECT_THAT(names_of({{"", ""}}), ElementsAre("default"));
  EXPECT_THAT(names_of({{"", "api"}}), ElementsAre("api"));
  EXPECT_THAT(names_of({{"burst", "api"}, {"", "api"}, {"", ""}}),
              ElementsAre("burst", "api", "default"));
  EXPECT_THAT(names_of({{"", "api"}, {"", "api"}, {"", "api"}}),
              ElementsAre("api", "api-2", "api-3"));
}

TEST(HttpFields, NoTwoItemsAreCalledAlike) {
  EXPECT_THAT(names_of({{"", "api"}, {"api", "api"}}), ElementsAre("api-2", "api"));
  EXPECT_THAT(names_of({{"", "api"}, {"", "api"}, {"api-2", ""}}),
              ElementsAre("api", "api-3", "api-2"));
  EXPECT_THAT(names_of({{"day", "a"}, {"day", "b"}, {"day-2", "b"}, {"", "day"}}),
              ElementsAre("day", "day-2", "day-2-2", "day-3"));
}

TEST(HttpFields, WhateverAPolicyIsCalledAParserTakesIt) {
  EXPECT_THAT(names_of({{"", "a\"b\\c%d"}, {"", "\xc3\xa4\x01 \x7f"}}),
              ElementsAre("a%22b%5Cc%25d", "%C3%A4%01 %7F"));
  const algorithms::Limit limit = limit_of("GCRA 10/1s");
  for (int byte = 0; byte < 256; ++byte) {
    const std::string policy(2, static_cast<char>(byte));
    const std::vector<ToldLimit> told = {{.limit = &limit, .policy = policy}};
    EXPECT_TRUE(read_rate_limit(rate_limit_field(told, item_names(told)))) << byte;
    EXPECT_EQ(item_name_of(policy), item_names(told).at(0));
  }
}

struct Field {
  std::string policy;
  std::string limit;
};

Field field_of(const std::string& text, ToldLimit told = {}) {
  const algorithms::Limit limit = limit_of(text);
  told.limit = &limit;
  const std::vector<ToldLimit> all = {told};
  Field field{rate_limit_policy_field(all, item_names(all)),
              rate_limit_field(all, item_names(all))};
  EXPECT_TRUE(read_rate_limit(field.policy)) << field.policy;
  EXPECT_TRUE(read_rate_limit(field.limit)) << field.limit;
  return field;
}

TEST(HttpFields, AWindowIsToldWhereItHasOneLengthInWholeSeconds) {
  EXPECT_EQ(field_of("GCRA 100/1m BURST 20").policy, "\"default\";q=100;w=60");
  EXPECT_EQ(field_of("GCRA 100/1500ms").policy, "\"default\";q=100");
  EXPECT_EQ(field_of("FIXED 5 ALIGN DAY").policy, "\"default\";q=5;w=86400");
  EXPECT_EQ(field_of("FIXED 5 ALIGN HOUR ZONE Europe/Berlin").policy, "\"default\";q=5;w=3600");
  for (const char* text :
       {"FIXED 5 ALIGN MONTH", "FIXED 5 ALIGN MONTH ON 15", "FIXED 5 ALIGN QUARTER",
        "FIXED 5 ALIGN YEAR", "FIXED 5 ALIGN DAY ZONE Europe/Berlin",
        "FIXED 5 ALIGN WEEK ZONE Asia/Tokyo"})
    EXPECT_EQ(field_of(text).policy, "\"default\";q=5") << text;
}

TEST(HttpFields, LeasesHaveNoWindow) {
  const Field leases = field_of("CONCURRENCY 5 LEASE 30s", {.remaining = 2, .more_after_ns = 1});
  EXPECT_EQ(leases.policy, "\"default\";q=5;qu=\"concurrent-requests\"");
  EXPECT_EQ(leases.limit, "\"default\";r=2");
}

TEST(HttpFields, TheTimeIsRoundedUpAndLeftOutWhereNobodyKnowsIt) {
  const auto left = [](int64_t remaining, int64_t more_after_ns) {
    return field_of("GCRA 10/1s", {.remaining = remaining, .more_after_ns = more_after_ns}).limit;
  };
  EXPECT_EQ(left(3, kNsPerS + 1), "\"default\";r=3;t=2");
  EXPECT_EQ(left(10, 0), "\"default\";r=10;t=0");
  EXPECT_EQ(left(-3, kNsPerS), "\"default\";r=0;t=1");
  EXPECT_EQ(left(0, algorithms::kNever), "\"default\";r=0");
}

TEST(HttpFields, APartitionIsTheKeyAsBytes) {
  const Field field = field_of("GCRA 10/1s", {.key = "ip:192.0.2.1"});
  EXPECT_EQ(field.policy, "\"default\";q=10;w=1;pk=:aXA6MTkyLjAuMi4x:");
  EXPECT_EQ(field.limit, "\"default\";r=0;t=0;pk=:aXA6MTkyLjAuMi4x:");
  for (size_t size = 1; size <= kPartitionBytesMax; ++size) {
    const std::string key(size, static_cast<char>(size));
    EXPECT_EQ(decode_base64(encode_base64(key)), key);
  }
  const std::string longer(kPartitionBytesMax + 1, 'k');
  EXPECT_EQ(field_of("GCRA 10/1s", {.key = longer}).limit, "\"default\";r=0;t=0");
}

TEST(HttpFields, TheReaderOfTheseTestsIsStrict) {
  EXPECT_EQ(read_rate_limit("\"a\";r=5;t=0,  \"b\\\"\\\\\"; r=0"),
            (RateLimitItems{{"a", {{"r", "5"}, {"t", "0"}}}, {"b\"\\", {{"r", "0"}}}}));
  for (const char* text : {"",
                           "\"a\"",
                           "a;r=5",
                           "\"a\";r=5,",
                           "\"a\";r=5;r=6",
                           "\"a\";r=5,\"a\";r=6",
                           "\"a\";r=-1",
                           "\"a\";r=1.5",
                           "\"a\";r=1234567890123456",
                           "\"a\";q=5;w=0",
                           "\"a\";q=5;qu=requests",
                           "\"a\";q=5;qu=\"permits\"",
                           "\"a\";r=5;x=1",
                           "\"a\" ;r=5",
                           "\"a\";r=5;pk=a",
                           "\"a;r=5",
                           "\"\\a\";r=5",
                           "\"\xc3\xa4\";r=5",
                           "\"a\";r=5;q=5",
                           "\"a\";r=5 \"b\";r=5"})
    EXPECT_FALSE(read_rate_limit(text)) << text;
}

}  // namespace
}  // namespace weir::server
