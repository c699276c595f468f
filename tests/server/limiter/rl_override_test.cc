// What a policy is for some of its keys.
#include <set>

#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class RlOverride : public LimiterTest {
 protected:
  std::string limit_of(const std::string& key) {
    const std::string reply = ask("RL.PEEK " + key + " POLICY p COST 0");
    return reply.substr(4, reply.find(',', 4) - 4);
  }
  // All overrides, walked from page to page.
  std::multiset<std::string> walk() {
    std::multiset<std::string> found;
    std::string cursor = "0";
    do {
      const std::string page = ask("RL.POLICY OVERRIDES p " + cursor);
      const size_t end = page.find('"', 2);
      cursor = page.substr(2, end - 2);
      for (size_t at = page.find("[\"", 2); at != page.npos; at = page.find("[\"", at + 1)) {
        found.insert(page.substr(at, page.find(']', at) - at + 1));
      }
    } while (cursor != "0");
    return found;
  }
  uint64_t hidden_records() {
    return (*server_)->keys().size((*server_)->keys().options().hidden_database());
  }
};

TEST_F(RlOverride, AKeyComesBeforeTheLongestPrefixBeforeThePolicy) {
  ask("RL.POLICY SET p 10/1h");
  EXPECT_EQ(ask("RL.POLICY OVERRIDE p PREFIX a: 20/1h"), "OK");
  EXPECT_EQ(ask("RL.POLICY OVERRIDE p PREFIX a:b: 30/1h"), "OK");
  EXPECT_EQ(ask("RL.POLICY OVERRIDE p KEY a:b:c 40/1h AS big"), "OK");
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(limit_of("x"), "10");
    EXPECT_EQ(limit_of("a"), "10");
    EXPECT_EQ(limit_of("a:"), "20");
    EXPECT_EQ(limit_of("a:c"), "20");
    EXPECT_EQ(limit_of("a:b:d"), "30");
    EXPECT_EQ(limit_of("a:b:c"), "40");
    EXPECT_EQ(ask("FLUSHALL"), "OK");
    restart();
  }
  EXPECT_EQ(walk(),
            (std::multiset<std::string>{"[\"KEY\", \"a:b:c\", \"GCRA 40/1h BURST 39 AS big\"]",
                                        "[\"PREFIX\", \"a:\", \"GCRA 20/1h BURST 19\"]",
                                        "[\"PREFIX\", \"a:b:\", \"GCRA 30/1h BURST 29\"]"}));
  EXPECT_EQ(ask("RL.POLICY OVERRIDE p KEY a:b:c DEL"), "1");
  EXPECT_EQ(ask("RL.POLICY OVERRIDE p KEY a:b:c DEL"), "0");
  EXPECT_EQ(limit_of("a:b:c"), "30");
  EXPECT_EQ(ask("RL.POLICY OVERRIDE p PREFIX a:b: DEL"), "1");
  EXPECT_EQ(limit_of("a:b:c"), "20");
  EXPECT_EQ(ask("RL.POLICY OVERRIDE p PREFIX a: DEL"), "1");
  EXPECT_EQ(limit_of("a:b:c"), "10");
  EXPECT_EQ(hidden_records(), 0u);
}

TEST_F(RlOverride, StandsAmongOtherLimitsAndInGroups) {
  ask("RL.POLICY SET p 10/1h");
  ask("RL.POLICY OVERRIDE p KEY k 20/1h");
  ask("RL.POLICY OVERRIDE p KEY no BLOCKED");
  ask("RL.POLICY OVERRIDE p KEY free UNLIMITED");
  EXPECT_EQ(ask("RL.TAKE k FIXED 99/1h POLICY p").substr(0, 10), "[1, 20, 19");
  EXPECT_EQ(ask("RL.TAKE no POLICY p"), "[0, 0, 0, -1, -1, -1]");
  EXPECT_EQ(ask("RL.TAKE free POLICY p"), "[1, -1, -1, 0, 0, -1]");
  EXPECT_EQ(ask("RL.MTAKE 2 k free EACH POLICY p EACH POLICY p").substr(0, 16), "[1, -1, [1, 20, ");
  EXPECT_EQ(ask("RL.MTAKE 2 k x FIXED 5/1h POLICY p").substr(0, 14), "[1, -1, [1, 5,");
  EXPECT_EQ(ask("RL.MTAKE 2 x no FIXED 5/1h POLICY p").substr(0, 6), "[0, 1,");
}

// The policy's effect goes for its overrides' limits, and theirs is stronger than that of the
// policy.
TEST_F(RlOverride, AndTheEffectOfThePolicy) {
  ask("RL.POLICY SET p 10/1h SHADOW");
  ask("RL.POLICY OVERRIDE p KEY k 1/1h");
  ask("RL.POLICY OVERRIDE p KEY no BLOCKED");
  ask("RL.TAKE k POLICY p");
  EXPECT_EQ(ask("RL.TAKE k POLICY p").substr(0, 5), "[1, 1");
  EXPECT_EQ(ask("RL.TAKE no POLICY p").substr(0, 2), "[0");
  ask("RL.POLICY SET p BLOCKED");
  EXPECT_EQ(ask("RL.TAKE x POLICY p").substr(0, 2), "[0");
  EXPECT_EQ(ask("RL.TAKE k POLICY p COST 0").substr(0, 5), "[1, 1");
  EXPECT_EQ(ask("RL.TAKE k POLICY p").substr(0, 5), "[0, 1");
}

// A key that is overridden, and one that goes back, changes over by the policy's mode, once.
TEST_F(RlOverride, CarriesOverByThePolicysMode) {
  for (const auto& [mode, there, back] : {std::tuple{"RESET", "[1, 20, 19,", "[1, 10, 9, "},
                                          {"ASIS", "[1, 20, 5, ", "[1, 10, 4, "},
                                          {"USED", "[1, 20, 15,", "[1, 10, 4, "}}) {
    ask("RL.POLICY DEL p");
    ask("RL.RESET k");
    ask(std::string("RL.POLICY SET p 10/1h ONCHANGE ") + mode);
    ask("RL.TAKE k POLICY p COST 4");
    ask("RL.POLICY OVERRIDE p KEY k 20/1h");
    EXPECT_EQ(ask("RL.TAKE k POLICY p").substr(0, 11), there) << mode;
    ask("RL.POLICY OVERRIDE p KEY k DEL");
    EXPECT_EQ(ask("RL.TAKE k POLICY p").substr(0, 11), back) << mode;
  }
}

TEST_F(RlOverride, RefusesWhatMakesNoSense) {
  ask("RL.POLICY SET p 10/1h");
  const std::pair<const char*, const char*> errors[] = {
      {"q KEY k 1/1h", "no policy is named 'q'; RL.POLICY SET makes one"},
      {"p NAME k 1/1h", "syntax error at 'NAME': expected KEY or PREFIX"},
      {"p KEY k 1/1h SHADOW",
       "syntax error at 'SHADOW': expected another limit; RL.TAKE and "
       "RL.MTAKE take SHADOW"},
      {"p KEY k BLOCKED DEL", "syntax error at 'DEL': expected nothing"},
      {"p KEY k 0/1h", "limit 0 (GCRA): count must be at least 1, got '0'"},
  };
  for (const auto& [words, error] : errors) {
    EXPECT_EQ(ask(std::string("RL.POLICY OVERRIDE ") + words),
              std::string("(error ERR ") + error + ")");
  }
  for (int length = 1; length <= 8; ++length) {
    EXPECT_EQ(ask("RL.POLICY OVERRIDE p PREFIX " + std::string(length, 'x') + " 1/1h"), "OK");
  }
  EXPECT_EQ(ask("RL.POLICY OVERRIDE p PREFIX xxxxxxxxx 1/1h"),
            "(error ERR the prefixes of a policy's overrides have at most 8 different lengths)");
  EXPECT_EQ(ask("RL.POLICY OVERRIDE p PREFIX y 1/1h"), "OK");
  EXPECT_EQ(ask("RL.POLICY OVERRIDE p PREFIX xxxx DEL"), "1");
  EXPECT_EQ(ask("RL.POLICY OVERRIDE p PREFIX xxxxxxxxx 1/1h"), "OK");
  EXPECT_EQ(ask("RL.POLICY OVERRIDES q"),
            "(error ERR no policy is named 'q'; RL.POLICY SET makes one)");
  EXPECT_EQ(ask("RL.POLICY OVERRIDES p x"), "(error ERR invalid cursor)");
}

// Random puts and erasures against a map, with restarts; a deleted policy leaves nothing.
TEST_F(RlOverride, AreWhatAMapWouldBe) {
  ask("RL.POLICY SET p 1000/1h");
  std::map<std::string, int> model;
  uint64_t random = 7;
  for (int i = 0; i < 3000; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const std::string key = "k" + std::to_string(random >> 40 & 511);
    const int limit = 1 + static_cast<int>(random >> 33 & 63);
    if ((random >> 60) < 6) {
      EXPECT_EQ(ask("RL.POLICY OVERRIDE p KEY " + key + " DEL"), model.erase(key) ? "1" : "0");
    } else {
      ask("RL.POLICY OVERRIDE p KEY " + key + " FIXED " + std::to_string(limit) + "/1h");
      model[key] = limit;
    }
    if (i % 1000 == 500) restart();
  }
  std::multiset<std::string> wanted;
  for (const auto& [key, limit] : model) {
    wanted.insert("[\"KEY\", \"" + key + "\", \"FIXED " + std::to_string(limit) +
                  "/1h ALIGN FIRST\"]");
    EXPECT_EQ(limit_of(key), std::to_string(limit)) << key;
  }
  EXPECT_EQ(walk(), wanted);
  EXPECT_EQ(hidden_records(), 2 * model.size());
  ask("RL.POLICY SET p 1000/1h");
  EXPECT_EQ(limit_of(model.begin()->first), std::to_string(model.begin()->second));
  EXPECT_EQ(ask("RL.POLICY DEL p"), "1");
  ask("RL.POLICY SET p 7/1h");
  EXPECT_EQ(limit_of(model.begin()->first), "7");
  server_->advance(kMs);
  EXPECT_GT(hidden_records(), 0u) << "a turn's work is bounded";
  restart();
  for (int i = 0; i < 100; ++i) server_->advance(kMs);
  EXPECT_EQ(hidden_records(), 0u);
}

// A walk misses nothing that stays, whatever is erased meanwhile.
TEST_F(RlOverride, AWalkMissesNothingThatStays) {
  ask("RL.POLICY SET p 1000/1h");
  for (int i = 0; i < 350; ++i) ask("RL.POLICY OVERRIDE p KEY k" + std::to_string(i) + " BLOCKED");
  std::set<std::string> seen;
  std::string cursor = "0";
  int erased = 0;
  do {
    const std::string page = ask("RL.POLICY OVERRIDES p " + cursor);
    cursor = page.substr(2, page.find('"', 2) - 2);
    for (size_t at = page.find("\"k"); at != page.npos; at = page.find("\"k", at + 1)) {
      seen.insert(page.substr(at + 1, page.find('"', at + 1) - at - 1));
    }
    for (int i = 0; i < 40; ++i)
      ask("RL.POLICY OVERRIDE p KEY k" + std::to_string(2 * erased++) + " DEL");
  } while (cursor != "0");
  for (int i = 1; i < 350; i += 2) EXPECT_TRUE(seen.contains("k" + std::to_string(i))) << i;
}

}  // namespace
}  // namespace weir::server
