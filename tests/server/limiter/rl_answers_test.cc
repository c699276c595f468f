// FULL, and the limits of each key: what RL.* commands answer beyond their six integers.
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class RlAnswers : public LimiterTest {
 protected:
  void use_resp3() { ask("HELLO 3"); }
};

TEST_F(RlAnswers, FullIsAMap) {
  use_resp3();
  EXPECT_EQ(ask("RL.TAKE k 100/1m AS api FIXED 1000/1d COST 2 FULL"),
            "{\"allowed\": 1, \"retry_ms\": 0, \"granted\": 2, \"lease\": (nil), \"shadow\": 0, "
            "\"banned\": 0, \"policy\": (nil), \"limits\": ["
            "{\"name\": \"api\", \"algorithm\": \"GCRA\", \"capacity\": 100, \"remaining\": 98, "
            "\"reset_ms\": 1200, \"window_ms\": 60000}, "
            "{\"name\": \"fixed1\", \"algorithm\": \"FIXED\", \"capacity\": 1000, \"remaining\": "
            "998, \"reset_ms\": 86400000, \"window_ms\": 86400000}]}");
}

TEST_F(RlAnswers, FullIsFlatPairsInResp2) {
  EXPECT_EQ(ask("RL.TAKE k 10/1s FULL"),
            "[\"allowed\", 1, \"retry_ms\", 0, \"granted\", 1, \"lease\", (nil), \"shadow\", 0, "
            "\"banned\", 0, \"policy\", (nil), \"limits\", [[\"name\", \"gcra0\", \"algorithm\", "
            "\"GCRA\", \"capacity\", 10, \"remaining\", 9, \"reset_ms\", 100, \"window_ms\", "
            "1000]]]");
}

// Figures are the same in both forms, whatever the way that a request takes.
TEST_F(RlAnswers, FullSaysWhatTheSixIntegersSay) {
  use_resp3();
  ask("RL.POLICY SET p 5/1s FIXED 7/1m");
  for (const char* line :
       {"RL.TAKE $ 5/1s", "RL.TAKE $ 5/1s COST 9", "RL.TAKE $ 5/1s COST 0",
        "RL.TAKE $ FIXED 5/1m SLIDINGLOG 3/1s COST 1,2", "RL.TAKE $ POLICY p COST 3",
        "RL.TAKE $ LEAKY 5/1s COST 4 UPTO", "RL.TAKE $ BURSTY 5/1s COST 8 FORCE",
        "RL.TAKE $ 5/1s COST 3 SHADOW", "RL.PEEK $ 5/1s COST 2", "RL.PEEK $ POLICY p",
        "RL.ACQUIRE $ 5/1s COST 2 TIMEOUT 1"}) {
    for (int i = 0; i < 4; ++i) {
      std::string plain(line), full(line);
      plain.replace(plain.find('$'), 1, "a");
      full.replace(full.find('$'), 1, "b");
      const std::string reply = ask(plain);
      const auto words = split_at_spaces(reply);
      const std::string six = ask("RL.PEEK a COST 0");
      const std::string map = ask(full + " FULL");
      const std::string start = "{\"allowed\": " + std::string(words[0].substr(1, 1)) +
                                ", \"retry_ms\": " + std::string(words[3]);
      EXPECT_EQ(map.substr(0, start.size()), start) << full << "\n" << map;
      EXPECT_EQ(ask("RL.PEEK b COST 0"), six) << full;
    }
    ask("DEL a b");
  }
}

TEST_F(RlAnswers, ADenialShowsWhatIsThere) {
  use_resp3();
  ask("RL.TAKE k 10/1s FIXED 1/1m");
  const std::string reply = ask("RL.TAKE k 10/1s FIXED 1/1m FULL");
  EXPECT_EQ(reply.substr(0, 57),
            "{\"allowed\": 0, \"retry_ms\": 60000, \"granted\": 0, \"lease\": ");
  EXPECT_NE(reply.find("\"remaining\": 9, \"reset_ms\": 100"), std::string::npos) << reply;
  EXPECT_NE(reply.find("\"remaining\": 0, \"reset_ms\": 60000"), std::string::npos) << reply;
}

TEST_F(RlAnswers, FullTellsLeaseShadowAndPolicy) {
  use_resp3();
  ask("RL.POLICY SET pool CONCURRENCY 1 LEASE 30s AS pool");
  EXPECT_EQ(ask("RL.TAKE c POLICY pool FULL").substr(0, 122),
            "{\"allowed\": 1, \"retry_ms\": 0, \"granted\": 1, \"lease\": 1, \"shadow\": 0, "
            "\"banned\": 0, \"policy\": \"pool\", \"callers\": 0, \"limits\"");
  EXPECT_EQ(
      ask("RL.TAKE c POLICY pool SHADOW FULL").substr(0, 80),
      "{\"allowed\": 1, \"retry_ms\": 30000, \"granted\": 0, \"lease\": (nil), \"shadow\": 1, "
      "\"ba");
}

TEST_F(RlAnswers, AWaitersAnswerIsFullToo) {
  use_resp3();
  ask("RL.TAKE q 1/1s");
  auto waiter = server_->connect();
  send(*waiter, "RL.ACQUIRE q 1/1s AS api TIMEOUT 5s HEADERS");
  server_->run_turns();
  EXPECT_EQ(heard(*waiter), "");
  const std::string denied = ask("RL.TAKE q 1/1s AS api FULL");
  EXPECT_EQ(denied.substr(0, 32), "{\"allowed\": 0, \"retry_ms\": 2000,") << denied;
  EXPECT_EQ(ask("RL.ACQUIRE q 1/1s TIMEOUT 1ms FULL").substr(0, 32),
            "{\"allowed\": 0, \"retry_ms\": 2000,");
  server_->advance(1 * kSecond);
  const std::string reply = heard(*waiter);
  EXPECT_EQ(reply.substr(0, 15), "[\"allowed\", 1, ") << reply;
  EXPECT_NE(reply.find("\\\"api\\\";r=0;t=1"), std::string::npos) << reply;
  auto later = server_->connect();
  for (FakeClient* client : {waiter.get(), later.get()}) {
    send(*client, "RL.ACQUIRE f LEAKY 1/1s CAPACITY 5 AS leak TIMEOUT 0 FULL");
    server_->run_turns();
  }
  server_->advance(1 * kSecond);
  const std::string left = heard(*waiter);
  EXPECT_NE(left.find("\"name\", \"leak\", "), std::string::npos) << left;
  EXPECT_NE(left.find("\"remaining\", 4, \"reset_ms\", 1000"), std::string::npos) << left;
}

TEST_F(RlAnswers, AnIdIsAnsweredInEitherProtocol) {
  ask("RL.POLICY SET a\r\n$-1\r\n 9/1s");
  const std::string pairs = ask("RL.TAKE c CONCURRENCY 2 LEASE 30s 9/1s ID x HEADERS");
  EXPECT_EQ(ask("RL.TAKE c CONCURRENCY 2 LEASE 30s 9/1s ID x HEADERS"), pairs);
  const std::string first = ask("RL.TAKE n 5/1s ID y FULL");
  use_resp3();
  const std::string map = ask("RL.TAKE n 5/1s ID y FULL");
  EXPECT_EQ(map.substr(0, 62),
            "{\"allowed\": 1, \"retry_ms\": 0, \"granted\": 1, \"lease\": (nil), \"s");
  EXPECT_NE(map.find("[{\"name\": \"gcra0\", "), std::string::npos) << map;
  ask("RL.TAKE z 5/1s ID y FULL");
  ask("HELLO 2");
  EXPECT_EQ(ask("RL.TAKE n 5/1s ID y FULL"), first);
  EXPECT_EQ(ask("RL.TAKE z 5/1s ID y FULL"), first);
  EXPECT_EQ(ask("RL.PEEK n COST 0"), "[1, 5, 4, 0, 200, 0]");
}

// A policy's name may hold what looks like parts of a reply.
TEST_F(RlAnswers, ARememberedNameStaysAsItIs) {
  const auto command = [](std::initializer_list<std::string_view> words) {
    std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string_view word : words) bytes += bulk(word);
    return bytes;
  };
  const std::string_view name = "a\r\n$-1\r\n%3\r\n_\r\n";
  client_->send(command({"RL.POLICY", "SET", name, "9/1s"}));
  const std::string take = command({"RL.TAKE", "k", "POLICY", name, "ID", "x", "FULL"});
  const std::string pairs(client_->send(take));
  EXPECT_NE(pairs.find(name), std::string::npos);
  EXPECT_EQ(client_->send(take), pairs);
  use_resp3();
  const std::string map(client_->send(take));
  EXPECT_EQ(map.substr(0, 4), "%9\r\n");
  EXPECT_NE(map.find(name), std::string::npos);
}

// --- RL.MTAKE ... EACH -------------------------------------------------------------------------

TEST_F(RlAnswers, EachKeyHasLimitsOfItsOwn) {
  ask("RL.POLICY SET api 10/1s FIXED 100/1m");
  ask("RL.POLICY SET team 50/1s");
  EXPECT_EQ(ask("RL.MTAKE 2 user:42 tenant:7 EACH POLICY api EACH POLICY team 1000/1m"),
            "[1, -1, [1, 10, 9, 0, 100, 0], [1, 50, 49, 0, 20, 0]]");
  EXPECT_EQ(ask("RL.PEEK user:42 COST 0"), "[1, 10, 9, 0, 100, 0]");
  EXPECT_EQ(ask("RL.PEEK tenant:7 1000/1m COST 0"), "[1, 1000, 999, 0, 60, 0]");
  EXPECT_EQ(ask("RL.MTAKE 2 user:42 tenant:7 EACH POLICY api EACH POLICY team 1000/1m COST "
                "1,10,2,200"),
            "[1, -1, [1, 10, 8, 0, 200, 0], [1, 50, 47, 0, 60, 0]]");
  EXPECT_EQ(ask("RL.PEEK user:42 FIXED 100/1m COST 0"), "[1, 100, 89, 0, 60000, 0]");
  EXPECT_EQ(ask("RL.PEEK tenant:7 1000/1m COST 0"), "[1, 1000, 799, 0, 12060, 0]");
}

TEST_F(RlAnswers, EachTakesFromAllKeysOrNone) {
  EXPECT_EQ(ask("RL.MTAKE 2 a b EACH 5/1s 9/1m EACH FIXED 1/1m"),
            "[1, -1, [1, 5, 4, 0, 200, 0], [1, 1, 0, 0, 60000, 0]]");
  EXPECT_EQ(ask("RL.MTAKE 2 a b EACH 5/1s 9/1m EACH FIXED 1/1m"),
            "[0, 1, [1, 5, 4, 0, 200, 0], [0, 1, 0, 60000, 60000, 0]]");
  EXPECT_EQ(ask("RL.PEEK a 9/1m COST 0"), "[1, 9, 8, 0, 6667, 0]");
}

TEST_F(RlAnswers, ManyKeysTakeUptoWhatAllHave) {
  EXPECT_EQ(ask("RL.MTAKE 2 a b EACH 5/1s EACH FIXED 3/1m COST 9 UPTO"),
            "[1, -1, [1, 5, 2, 0, 600, 0, 3], [1, 3, 0, 0, 60000, 0, 3]]");
  EXPECT_EQ(ask("RL.MTAKE 2 a b EACH 5/1s EACH FIXED 3/1m COST 9 UPTO"),
            "[0, 1, [1, 5, 2, 0, 600, 0, 0], [0, 3, 0, 60000, 60000, 0, 0]]");
  EXPECT_EQ(ask("RL.MTAKE 2 c d 5/1s 3/1s COST 2 UPTO"),
            "[1, -1, [1, 5, 3, 0, 400, 0, 2], [1, 3, 1, 0, 667, 0, 2]]");
  EXPECT_EQ(ask("RL.MTAKE 2 c d 5/1s 3/1s COST 0 UPTO"),
            "[1, -1, [1, 5, 3, 0, 400, 0, 0], [1, 3, 1, 0, 667, 0, 0]]");
  EXPECT_EQ(ask("RL.MTAKE 2 c d 5/1s 3/1s COST 1,2 UPTO"),
            "(error ERR syntax error: UPTO takes one COST for all limits)");
}

TEST_F(RlAnswers, ManyKeysAreForced) {
  EXPECT_EQ(ask("RL.MTAKE 2 a b EACH 1/1s EACH 2/1s COST 3 FORCE"),
            "[1, -1, [1, 1, -2, 0, 3000, 0], [1, 2, -1, 0, 1500, 0]]");
  EXPECT_EQ(ask("RL.MTAKE 2 a c EACH 1/1s EACH FIXED 2/1s FORCE COST 1,5"),
            "[1, -1, [1, 1, -3, 0, 4000, 0], [1, 2, -3, 0, 1000, 0]]");
}

TEST_F(RlAnswers, ManyKeysInFullAndOnce) {
  use_resp3();
  ask("RL.POLICY SET api 10/1s AS api");
  const std::string line = "RL.MTAKE 2 a b EACH POLICY api EACH 5/1s AS team ID x FULL";
  const std::string reply = ask(line);
  EXPECT_EQ(
      reply.substr(0, 141),
      "{\"allowed\": 1, \"retry_ms\": 0, \"index\": -1, \"keys\": [{\"allowed\": 1, "
      "\"retry_ms\": 0, \"granted\": 1, \"lease\": (nil), \"shadow\": 0, \"banned\": 0, \"po");
  EXPECT_NE(reply.find("\"policy\": \"api\""), std::string::npos);
  EXPECT_NE(reply.find("{\"name\": \"team\""), std::string::npos);
  EXPECT_EQ(ask(line), reply);
  EXPECT_EQ(ask("RL.PEEK a COST 0"), "[1, 10, 9, 0, 100, 0]");
  EXPECT_EQ(ask("RL.MTAKE 2 a b EACH POLICY api EACH 5/1s AS team COST 1,5 FULL").substr(0, 46),
            "{\"allowed\": 0, \"retry_ms\": 200, \"index\": 1, \"k");
}

TEST_F(RlAnswers, EachIsRefusedWhereItDoesNotFit) {
  EXPECT_EQ(ask("RL.MTAKE 2 a b EACH 1/1s"),
            "(error ERR RL.MTAKE takes one EACH for each key: 2 keys, 1 groups)");
  EXPECT_EQ(ask("RL.MTAKE 1 a EACH").substr(0, 35), "(error ERR a limit must be given: a");
  EXPECT_EQ(ask("RL.MTAKE 2 a b EACH EACH 1/1s").substr(0, 31), "(error ERR syntax error at 'EAC");
  EXPECT_EQ(ask("RL.MTAKE 2 a b EACH 1/1s EACH 2/1s COST 1,2,3"),
            "(error ERR COST must be one number, or one for each of the 2 limits, got 3)");
  EXPECT_EQ(ask("RL.MTAKE 2 a b 1/1s EACH 2/1s").substr(0, 32), "(error ERR syntax error at 'EACH");
  EXPECT_EQ(ask("RL.MTAKE 2 EACH POLICY EACH 1/1s EACH 2/1s"),
            "[1, -1, [1, 1, 0, 0, 1000, 0], [1, 2, 1, 0, 500, 0]]");
}

}  // namespace
}  // namespace weir::server
