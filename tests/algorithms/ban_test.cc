// BAN: its form, and its window of denials against an oracle that keeps everything.
#include "algorithms/ban.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "algorithms/limit_text.h"
#include "algorithms/limiter_record.h"
#include "base/ascii.h"
#include "tests/algorithms/rng.h"

namespace weir::algorithms {
namespace {

Result<Limit, std::string> parsed(std::string_view text) {
  const auto limits = parse_limits(split_at_spaces(text));
  if (!limits) return limits.error();
  return limits->limits.at(0);
}

std::string ban_error_of(std::string_view text) {
  const auto limit = parsed(text);
  return limit ? "" : limit.error();
}

TEST(Ban, IsWrittenAfterALimitsOptionsInAnyPlace) {
  const Ban ban{.for_ns = 10 * kNsPerMinute, .within_ns = kNsPerMinute, .after = 3};
  for (const char* text : {"10/1s BAN 10m AFTER 3 WITHIN 1m", "10/1s ban 600s after 3 within 60s",
                           "10/1s BAN 10m AFTER 3 WITHIN 1m BURST 9 AS api",
                           "GCRA 10/1s BURST 9 BAN 10m AFTER 3 WITHIN 1m AS api"}) {
    ASSERT_TRUE(parsed(text).ok()) << text << ban_error_of(text);
    EXPECT_EQ(parsed(text)->ban, ban) << text;
    EXPECT_TRUE(same_limit(*parsed(text), *parsed("10/1s")));
    EXPECT_EQ(format_limit(*parsed(text)), "GCRA 10/1s") << "bookings are found by this text";
    EXPECT_EQ(format_with_ban(*parsed(text)), "GCRA 10/1s BAN 10m AFTER 3 WITHIN 1m");
  }
}

TEST(Ban, IsRefusedInWords) {
  EXPECT_EQ(ban_error_of("1/1s BAN"),
            "limit 0 (GCRA): BAN must be an integer and a unit (us ms s m h "
            "d w), got 'nothing'");
  EXPECT_EQ(ban_error_of("1/1s BAN 10 AFTER 3 WITHIN 1m"),
            "limit 0 (GCRA): BAN must be an integer and a unit (us ms s m h d w), got '10'");
  EXPECT_EQ(ban_error_of("1/1s BAN 10m WITHIN 3"),
            "limit 0 (GCRA): BAN must be written BAN duration "
            "AFTER n WITHIN duration, got 'BAN 10m WITHIN'");
  EXPECT_EQ(ban_error_of("1/1s BAN 10m AFTER 65 WITHIN 1m"),
            "limit 0 (GCRA): AFTER must be an integer between 1 and 64, got '65'");
  EXPECT_EQ(ban_error_of("1/1s BAN 10m AFTER 0 WITHIN 1m"),
            "limit 0 (GCRA): AFTER must be an integer between 1 and 64, got '0'");
  EXPECT_EQ(ban_error_of("1/1s BAN 10m AFTER 1 WITHIN 0s"),
            "limit 0 (GCRA): WITHIN must be between 1us and 3650d, got '0s'");
  EXPECT_EQ(ban_error_of("1/1s BAN 1m AFTER 1 WITHIN 1m BAN 1m AFTER 1 WITHIN 1m"),
            "limit 0 (GCRA): BAN must be given once, got 'BAN'");
  EXPECT_NE(ban_error_of("1/1s AS x BAN 1m AFTER 1 WITHIN 1m").find("'BAN' after AS 'x'"),
            std::string::npos);
}

// Keeps all denials, and looks at all of them.
class BanOracle {
 public:
  explicit BanOracle(const Ban& ban) : ban_(ban) {}
  int64_t rest(int64_t now_ns) const { return std::max<int64_t>(0, until_ns_ - now_ns); }
  bool deny(int64_t now_ns) {
    denials_.push_back(now_ns);
    const auto counts = [&](int64_t at_ns) {
      return at_ns > now_ns - ban_.within_ns && at_ns >= since_ns_;
    };
    if (std::count_if(denials_.begin(), denials_.end(), counts) < ban_.after) return false;
    until_ns_ = since_ns_ = now_ns + ban_.for_ns;
    return true;
  }

 private:
  Ban ban_;
  std::vector<int64_t> denials_;
  int64_t until_ns_ = 0, since_ns_ = 0;
};

TEST(Ban, CountsAsAnOracleThatKeepsAllDenials) {
  testing::Seeded seeded;
  testing::Rng& rng = seeded.rng;
  for (int round = 0; round < 3'000 && !HasFailure(); ++round) {
    Limit limit = parsed("10/1s").value();
    limit.ban = {.for_ns = rng.any_magnitude(kPeriodNsMin, kPeriodNsMax),
                 .within_ns = rng.any_magnitude(kPeriodNsMin, kPeriodNsMax),
                 .after = rng.one_in(2) ? rng.between(1, 4) : rng.between(1, kBanAfterMax)};
    BanOracle oracle(limit.ban);
    BanState state;
    int64_t now_ns = rng.any_magnitude(0, kInstantNsMax / 2);
    for (int step = 0; step < 200; ++step) {
      const int64_t within_ns = limit.ban.within_ns;
      const int64_t steps_ns[] = {0,
                                  1,
                                  within_ns / limit.ban.after,
                                  within_ns - 1,
                                  within_ns,
                                  ban_rest(state, now_ns),
                                  ban_rest(state, now_ns) - 1};
      const int64_t step_ns = std::max<int64_t>(0, rng.pick(steps_ns));
      if (step_ns > kInstantNsMax - now_ns) break;
      now_ns += step_ns;
      ASSERT_EQ(ban_rest(state, now_ns), oracle.rest(now_ns)) << "round " << round;
      if (ban_rest(state, now_ns) > 0) continue;
      ASSERT_EQ(count_denial(limit.ban, state, now_ns), oracle.deny(now_ns)) << "round " << round;
      ASSERT_LT(static_cast<int64_t>(state.denials.size()), limit.ban.after);
      // What is forgotten changes nothing, and what is stored is read back.
      if (rng.one_in(4) && ban_expires_at_ns(limit.ban, state) <= now_ns) state = {};
      std::string record;
      write_record(std::array{LimitState{limit, fresh_state(limit, 0), state}}, record);
      std::array<LimitState, 1> read;
      ASSERT_TRUE(read_record(record, read).ok());
      ASSERT_EQ(read[0].ban, state);
      ASSERT_EQ(read[0].limit.ban, limit.ban);
      for (size_t size = 1; size < record.size() && step == 0; ++size) {
        ASSERT_FALSE(read_record(std::string_view(record).substr(0, size), read).ok());
      }
    }
  }
}

TEST(Ban, BytesThatAreNoBansAreRefused) {
  Limit limit = parsed("10/1s BAN 1s AFTER 2 WITHIN 1s").value();
  std::string record;
  write_record(std::array{LimitState{limit, fresh_state(limit, 0), {.denials = {7}}}}, record);
  std::array<LimitState, 1> read;
  ASSERT_TRUE(read_record(record, read).ok());
  const size_t bans = record.size() - (1 + 1 + 1 + 5 + 5 + 1 + 1 + 1);
  ASSERT_EQ(record[bans], 1);
  for (const auto& [at, byte] : {std::pair<size_t, char>{0, 0}, {0, 2}, {1, 1}, {2, 0}, {2, 1}}) {
    std::string bent = record;
    bent[bans + at] = byte;
    EXPECT_FALSE(read_record(bent, read).ok()) << at << " " << int{byte};
  }
}

}  // namespace
}  // namespace weir::algorithms
