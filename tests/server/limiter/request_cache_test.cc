// The cache answers what the parser does, whatever was parsed before.
#include "server/limiter/policy/request_cache.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "algorithms/limit_text.h"

namespace weir::server {
namespace {

constexpr uint32_t kCacheOptions = kCostOption | kUptoOption | kShadowOption | kIdOption |
                                   kFullOption | kHoldOption | kTraceOption | kLimitsOfEach;

using Words = std::vector<std::string_view>;

constexpr std::string_view kTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

void expect_alike(const LimiterRequest& found, const LimiterRequest& parsed) {
  ASSERT_EQ(algorithms::format_limits(found.limits, found.names),
            algorithms::format_limits(parsed.limits, parsed.names));
  ASSERT_EQ(found.policy, parsed.policy);
  ASSERT_EQ(found.policy_at, parsed.policy_at);
  ASSERT_EQ(found.each.size(), parsed.each.size());
  ASSERT_EQ(found.costs, parsed.costs);
  ASSERT_EQ(found.id, parsed.id);
  ASSERT_EQ(found.id_word, parsed.id_word);
  ASSERT_EQ(found.upto, parsed.upto);
  ASSERT_EQ(found.shadow, parsed.shadow);
  ASSERT_EQ(found.full, parsed.full);
  ASSERT_EQ(found.traced, parsed.traced);
  ASSERT_EQ(found.hold_ns, parsed.hold_ns);
}

// ID stands in every place: as the option, as a name, as a token, and too often.
TEST(RequestCache, AnswersWhatTheParserDoes) {
  const std::string long_token(kIdBytesMax + 1, 't');
  const Words starts[] = {{"10/1s"},
                          {"FIXED", "10/1m"},
                          {"POLICY", "ID"},
                          {"10/1s", "AS", "id"},
                          {"POLICY", "p", "5/1s"},
                          {"EACH", "10/1s", "EACH", "POLICY", "ID"}};
  const Words tails[] = {
      {"ID", "a"}, {"id", "b"},    {"ID", "ID"},       {"ID", "FULL"},     {"ID", ""},
      {"ID"},      {"FULL"},       {"COST", "2"},      {"COST", "ID"},     {"UPTO"},
      {"SHADOW"},  {"HOLD", "1m"}, {"ID", long_token}, {"ID", "\xff\xff"}, {"TRACEPARENT", kTrace}};
  RequestCache cache;
  std::mt19937 random(11);
  int accepted = 0, with_id = 0;
  for (int i = 0; i < 100'000; ++i) {
    Words words = starts[random() % std::size(starts)];
    for (uint32_t left = random() % 4; left > 0; --left) {
      const Words& tail = tails[random() % std::size(tails)];
      words.insert(words.end(), tail.begin(), tail.end());
    }
    const auto parsed = parse_request(words, kCacheOptions);
    const auto found = cache.parse(words, kCacheOptions);
    ASSERT_EQ(found.ok(), parsed.ok());
    if (!parsed) {
      ASSERT_EQ(found.error(), parsed.error());
      continue;
    }
    ++accepted;
    if (!parsed->id.empty()) ++with_id;
    expect_alike(**found, *parsed);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(accepted, 10'000);
  EXPECT_GT(with_id, 5'000);
}

// One request, token by token: what is found is one object, which was parsed once.
TEST(RequestCache, FindsARequestWithAnotherToken) {
  RequestCache cache;
  const LimiterRequest* first = *cache.parse(Words{"10/1s", "ID", "a", "FULL"}, kCacheOptions);
  EXPECT_EQ(first->id, "a");
  const LimiterRequest* second = *cache.parse(Words{"10/1s", "ID", "b", "FULL"}, kCacheOptions);
  EXPECT_EQ(second, first);
  EXPECT_EQ(second->id, "b");
  EXPECT_NE(*cache.parse(Words{"10/1s", "ID", "b", "COST", "2"}, kCacheOptions), first);
}

TEST(RequestCache, ATokenThatIsRefusedIsRefusedWhatCameBefore) {
  RequestCache cache;
  ASSERT_TRUE(cache.parse(Words{"10/1s", "ID", "a"}, kCacheOptions));
  EXPECT_FALSE(cache.parse(Words{"10/1s", "ID", ""}, kCacheOptions));
  const std::string long_token(kIdBytesMax + 1, 't');
  EXPECT_FALSE(cache.parse(Words{"10/1s", "ID", long_token}, kCacheOptions));
  EXPECT_FALSE(cache.parse(Words{"10/1s", "ID"}, kCacheOptions));
}

}  // namespace
}  // namespace weir::server
