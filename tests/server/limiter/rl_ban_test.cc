// BAN: a key that is denied too often is banned for a while.
#include <random>

#include "resp/numbers.h"
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

const std::string kLimit = "FIXED 1/1h BAN 2h AFTER 3 WITHIN 1m";

class RlBan : public LimiterTest {
 protected:
  // Takes what there is, and is denied until the ban begins.
  void ban(const std::string& key) {
    for (int i = 0; i < 4; ++i) ask("RL.TAKE " + key + " " + kLimit);
  }
  std::string metric(std::string_view name) {
    const std::string info = ask("INFO");
    const size_t at = info.find(std::string(name) + ":");
    return at == info.npos ? "" : info.substr(at, info.find('\\', at) - at);
  }
  std::string banned_ms(const std::string& key) {
    const std::string info = ask("RL.INFO " + key);
    const size_t at = info.find("\"banned_ms\", ");
    return at == info.npos ? info : info.substr(at + 13, info.find(']', at) - at - 13);
  }
};

TEST_F(RlBan, SoManyDenialsBanTheKey) {
  EXPECT_EQ(ask("RL.TAKE k " + kLimit), "[1, 1, 0, 0, 3600000, 0]");
  EXPECT_EQ(ask("RL.TAKE k " + kLimit), "[0, 1, 0, 3600000, 3600000, 0]");
  EXPECT_EQ(ask("RL.TAKE k " + kLimit), "[0, 1, 0, 3600000, 3600000, 0]");
  EXPECT_EQ(banned_ms("k"), "0");
  EXPECT_EQ(ask("RL.TAKE k " + kLimit), "[0, 1, 0, 7200000, 3600000, 0]");
  EXPECT_EQ(banned_ms("k"), "7200000");
  EXPECT_EQ(metric("bans"), "bans:1");
  server_->advance(3600 * kSecond);
  EXPECT_EQ(ask("RL.TAKE k " + kLimit), "[0, 1, 1, 3600000, 0, 0]") << "the limit would grant it";
  EXPECT_EQ(ask("RL.PEEK k"), "[0, 1, 1, 3600000, 0, 0]");
  server_->advance(3600 * kSecond - 1);
  EXPECT_EQ(ask("RL.TAKE k " + kLimit), "[0, 1, 1, 1, 0, 0]");
  server_->advance(1);
  EXPECT_EQ(ask("RL.TAKE k " + kLimit), "[1, 1, 0, 0, 3600000, 0]");
}

TEST_F(RlBan, OnlyDenialsWithinTheTimeCount) {
  ask("RL.TAKE k " + kLimit);
  ask("RL.TAKE k " + kLimit);
  ask("RL.TAKE k " + kLimit);
  server_->clock.advance(60 * kSecond);
  ask("RL.TAKE k " + kLimit);
  ask("RL.TAKE k " + kLimit);
  EXPECT_EQ(banned_ms("k"), "0");
  ask("RL.TAKE k " + kLimit);
  EXPECT_EQ(banned_ms("k"), "7200000");
}

TEST_F(RlBan, LooksAndShadowsAndNothingDoNotCount) {
  ask("RL.TAKE k " + kLimit);
  for (int i = 0; i < 5; ++i) {
    ask("RL.PEEK k " + kLimit);
    ask("RL.TAKE k " + kLimit + " SHADOW");
    ask("RL.TAKE k " + kLimit + " COST 0");
    ask("RL.RESERVE k GCRA 1/1h BURST 0 BAN 1h AFTER 1 WITHIN 1m MAXWAIT 0");
    ask("RL.ACQUIRE k " + kLimit + " TIMEOUT 1");
    ask("RL.MTAKE 1 k " + kLimit + " SHADOW");
  }
  EXPECT_EQ(banned_ms("k"), "0");
}

TEST_F(RlBan, DenialsInABanNeitherExtendNorWrite) {
  ban("k");
  const std::vector<std::string> lines = {"RL.TAKE k " + kLimit,
                                          "RL.MTAKE 1 k " + kLimit,
                                          "RL.ACQUIRE k " + kLimit + " TIMEOUT 10s",
                                          "RL.RESERVE k GCRA 1/1s BURST 0",
                                          "RL.TAKE k 5/1s",
                                          "RL.TAKE k " + kLimit + " UPTO",
                                          "CL.THROTTLE k 5 5 10"};
  for (const std::string& line : lines) {
    server_->clock.advance(kSecond);
    const uint64_t turn = (*server_)->keys().turn();
    const std::string reply = ask(line);
    EXPECT_EQ(reply.substr(0, 2), line.starts_with("CL") ? "[1" : "[0") << line << reply;
    EXPECT_EQ((*server_)->keys().turn(), turn) << line;
  }
  EXPECT_EQ(banned_ms("k"), "7193000");
}

TEST_F(RlBan, WhoWaitsIsDeniedAtOnce) {
  ban("k");
  EXPECT_EQ(ask("RL.ACQUIRE k " + kLimit + " TIMEOUT 0"), "[0, 1, 0, 7200000, 3600000, 0]");
  EXPECT_EQ(ask("RL.RESERVE k GCRA 5/1s"), "[0, 7200000, (nil)]");
}

TEST_F(RlBan, ForceAndNothingPass) {
  ban("k");
  EXPECT_EQ(ask("RL.TAKE k " + kLimit + " FORCE"), "[1, 1, -1, 0, 3600000, 0]");
  EXPECT_EQ(ask("RL.TAKE k " + kLimit + " COST 0").substr(0, 2), "[1");
  EXPECT_EQ(ask("RL.TAKE k " + kLimit + " SHADOW").substr(0, 2), "[1");
}

TEST_F(RlBan, ARepeatedRequestIsAnsweredAsBefore) {
  const std::string reply = ask("RL.TAKE k " + kLimit + " ID a");
  ban("k");
  EXPECT_EQ(ask("RL.TAKE k " + kLimit + " ID a"), reply);
}

TEST_F(RlBan, AResetLiftsIt) {
  ban("k");
  EXPECT_EQ(ask("RL.RESET k"), "1");
  EXPECT_EQ(ask("RL.TAKE k " + kLimit), "[1, 1, 0, 0, 3600000, 0]");
}

TEST_F(RlBan, AnyBannedLimitDeniesAll) {
  ask("RL.POLICY SET p 5/1s " + kLimit);
  EXPECT_EQ(ask("RL.POLICY GET p").find("BAN 2h AFTER 3 WITHIN 1m") != std::string::npos, true);
  for (int i = 0; i < 4; ++i) ask("RL.TAKE k POLICY p");
  EXPECT_EQ(ask("RL.TAKE k POLICY p").substr(0, 18), "[0, 1, 0, 7200000,");
  ask("HELLO 3");
  const std::string full = ask("RL.TAKE k POLICY p FULL");
  EXPECT_NE(full.find("\"retry_ms\": 7200000"), std::string::npos) << full;
  EXPECT_NE(full.find("\"banned\": 1"), std::string::npos) << full;
  EXPECT_NE(full.find("\"capacity\": 5, \"remaining\": 4"), std::string::npos) << full;
}

// Only the limit that denies counts.
TEST_F(RlBan, AnotherLimitsDenialDoesNotCount) {
  const std::string limits = "FIXED 100/1h BAN 1h AFTER 2 WITHIN 1h FIXED 1/1h";
  for (int i = 0; i < 5; ++i) ask("RL.TAKE k " + limits);
  EXPECT_EQ(banned_ms("k"), "0");
  ask("RL.TAKE k " + limits + " COST 101,0");
  ask("RL.TAKE k " + limits + " COST 101,0");
  EXPECT_EQ(banned_ms("k"), "3600000") << "also what can never be granted";
}

TEST_F(RlBan, AnMtakeCountsAndIsDenied) {
  ask("RL.TAKE a " + kLimit);
  for (int i = 0; i < 2; ++i) ask("RL.MTAKE 2 a b " + kLimit + " FIXED 5/1h");
  EXPECT_EQ(ask("RL.MTAKE 2 a b " + kLimit + " FIXED 5/1h"),
            "[0, 0, [0, 1, 0, 7200000, 3600000, 0], [1, 5, 5, 0, 0, 0]]");
  EXPECT_EQ(ask("RL.MTAKE 2 b a FIXED 5/1h " + kLimit),
            "[0, 1, [1, 5, 5, 0, 0, 0], [0, 1, 0, 7200000, 3600000, 0]]");
}

// A ban that runs goes on whatever the limit becomes, but for RESET.
TEST_F(RlBan, APolicyThatChangesLetsABanEnd) {
  ask("RL.POLICY SET p " + kLimit);
  for (int i = 0; i < 4; ++i) ask("RL.TAKE k POLICY p");
  ask("RL.POLICY SET p FIXED 10/1h");
  EXPECT_EQ(ask("RL.TAKE k POLICY p"), "[0, 10, 9, 7200000, 3600000, 0]");
  ask("RL.POLICY SET p FIXED 20/1h ONCHANGE RESET");
  EXPECT_EQ(ask("RL.TAKE k POLICY p"), "[1, 20, 19, 0, 3600000, 0]");
  EXPECT_EQ(banned_ms("k"), "0");
}

// The denials so far count on under the new rule.
TEST_F(RlBan, ANewRuleCountsFromTheNextDenial) {
  ask("RL.TAKE k FIXED 1/1h BAN 2h AFTER 5 WITHIN 1m");
  for (int i = 0; i < 4; ++i) ask("RL.TAKE k FIXED 1/1h BAN 2h AFTER 5 WITHIN 1m");
  EXPECT_EQ(banned_ms("k"), "0");
  EXPECT_EQ(ask("RL.TAKE k FIXED 1/1h BAN 3h AFTER 3 WITHIN 1m"),
            "[0, 1, 0, 10800000, 3600000, 0]");
}

TEST_F(RlBan, ItOutlivesRestartsAndFollowsTheKey) {
  ban("k");
  restart(kSecond);
  EXPECT_EQ(ask("RL.TAKE k " + kLimit).substr(0, 18), "[0, 1, 0, 7199000,");
  ask("RENAME k m");
  ask("COPY m c");
  EXPECT_EQ(banned_ms("m"), "7199000");
  EXPECT_EQ(banned_ms("c"), "7199000");
  const std::string dumped = client_->send(words_as_request("DUMP m"));
  const size_t begin = dumped.find("\r\n") + 2;
  EXPECT_EQ(client_->call({"RESTORE", "r", "0", dumped.substr(begin, dumped.size() - begin - 2)}),
            "+OK\r\n");
  EXPECT_EQ(banned_ms("r"), "7199000");
  server_->advance(7199 * kSecond + kMs);
  EXPECT_EQ(ask("EXISTS m"), "0") << "nothing is left of it";
}

TEST_F(RlBan, AnEventTellsWhenItBegins) {
  auto listener = server_->connect();
  ask("CONFIG SET notify-keyspace-events Er");
  server::ask(*listener, "PSUBSCRIBE *banned");
  heard(*listener);
  ban("k");
  ask("RL.TAKE k " + kLimit);
  const std::string events = heard(*listener);
  EXPECT_NE(events.find("\"__keyevent@0__:banned\", \"k\""), std::string::npos) << events;
  EXPECT_EQ(events.find(';'), std::string::npos) << events;
}

// Random lives of a key with a ban, beside one of the same limit without: while it is not banned
// both answer alike, but for the denial that begins the ban.
TEST_F(RlBan, RandomLivesAreThoseOfAnOracle) {
  std::mt19937 random(11);
  int bans = 0;
  for (const std::string limit :
       {"GCRA 3/1s BURST 1", "TOKENBUCKET 3/1s", "TOKENBUCKET 5/1s INITIAL 0 REFILL INTERVAL",
        "LEAKY 3/1s", "FIXED 3/1s", "SLIDINGLOG 3/1s", "SLIDINGWINDOW 3/1s BUCKETS 5",
        "SLIDINGCOUNTER 3/1s", "BURSTY 3/1s", "WARMUP 3/1s OVER 3s", "CONCURRENCY 3 LEASE 1s"}) {
    const int64_t after = 1 + static_cast<int64_t>(random() % 5);
    const int64_t within_ms = 300, for_ms = 1500;
    const std::string rule = " BAN " + std::to_string(for_ms) + "ms AFTER " +
                             std::to_string(after) + " WITHIN " + std::to_string(within_ms) + "ms";
    std::vector<int64_t> denials;
    int64_t now_ms = 0, until_ms = 0, since_ms = 0;
    for (int step = 0; step < 300; ++step) {
      const int64_t pass_ms = static_cast<int64_t>(random() % 120);
      now_ms += pass_ms;
      server_->clock.advance(pass_ms * kMs);
      const std::string cost = " COST " + std::to_string(random() % 4);
      const std::string banned = ask("RL.TAKE a " + limit + rule + cost);
      if (now_ms < until_ms && cost != " COST 0") {
        const auto words = split_at_spaces(banned);
        EXPECT_EQ(words[0], "[0,") << limit << step;
        const auto wait = resp::parse_int64(words[3].substr(0, words[3].size() - 1));
        EXPECT_TRUE(wait == -1 || wait >= until_ms - now_ms) << banned;
        continue;
      }
      const std::string plain = ask("RL.TAKE b " + limit + cost);
      const auto ones = split_at_spaces(plain), others = split_at_spaces(banned);
      ASSERT_EQ(ones.size(), others.size()) << plain << banned;
      ASSERT_EQ(ones[0], others[0]) << limit << " step " << step << " " << plain << banned;
      ASSERT_EQ(ones[2], others[2]) << limit << " step " << step;
      if (ones[0] == "[1,") {
        ASSERT_EQ(ones[3], others[3]);
        continue;
      }
      denials.push_back(now_ms);
      const auto counts = [&](int64_t at) { return at > now_ms - within_ms && at >= since_ms; };
      if (std::count_if(denials.begin(), denials.end(), counts) < after) {
        ASSERT_EQ(ones[3], others[3]) << limit << " step " << step;
        continue;
      }
      ++bans;
      until_ms = since_ms = now_ms + for_ms;
      const auto wait = resp::parse_int64(others[3].substr(0, others[3].size() - 1));
      ASSERT_TRUE(wait == -1 || wait >= for_ms) << limit << " step " << step << banned;
    }
    ask("DEL a b");
  }
  EXPECT_GT(bans, 20);
}

}  // namespace
}  // namespace weir::server
