// HEADERS: what is told of limits in HTTP.
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class RlHeaders : public LimiterTest {
 protected:
  RlHeaders() { ask("HELLO 3"); }
};

TEST_F(RlHeaders, HeadersAreReadyToBeSent) {
  const auto headers = [&](const std::string& line) {
    const std::string reply = ask(line);
    return reply.substr(reply.find("\"headers\": ") + 11);
  };
  EXPECT_EQ(headers("RL.TAKE k 100/1m AS api FIXED 1000 ALIGN DAY AS daily COST 80 HEADERS"),
            "{\"RateLimit\": \"\\\"api\\\";r=20;t=1, \\\"daily\\\";r=920;t=6400\", "
            "\"RateLimit-Policy\": \"\\\"api\\\";q=100;w=60, \\\"daily\\\";q=1000;w=86400\"}}");
  EXPECT_EQ(headers("RL.TAKE k 100/1m AS api COST 21 HEADERS FULL"),
            "{\"RateLimit\": \"\\\"api\\\";r=20;t=1\", \"RateLimit-Policy\": "
            "\"\\\"api\\\";q=100;w=60\", \"Retry-After\": \"1\"}}");
  EXPECT_EQ(headers("RL.PEEK m 20/100ms CONCURRENCY 5 LEASE 30s COST 0 HEADERS"),
            "{\"RateLimit\": \"\\\"default\\\";r=20;t=0, \\\"default-2\\\";r=5\", "
            "\"RateLimit-Policy\": \"\\\"default\\\";q=20, "
            "\\\"default-2\\\";q=5;qu=\\\"concurrent-requests\\\"\"}}");
  EXPECT_EQ(headers("RL.TAKE n 5/1s COST 9 HEADERS").find("Retry-After"), std::string::npos);
}

// What t says is when one more than r is to be had: Retry-After is never later.
TEST_F(RlHeaders, TheFieldsTimeIsThatOfTheNextPermit) {
  const auto field = [&](const std::string& line) {
    const std::string reply = ask(line);
    const size_t begin = reply.find("r=");
    return reply.substr(begin, reply.find_first_of("\\\"", begin) - begin);
  };
  EXPECT_EQ(field("RL.TAKE a 100/1m COST 100 HEADERS"), "r=0;t=1");
  EXPECT_EQ(field("RL.TAKE b TOKENBUCKET 100/1m COST 100 HEADERS"), "r=0;t=1");
  EXPECT_EQ(field("RL.TAKE c LEAKY 100/1m COST 100 HEADERS"), "r=0;t=1");
  EXPECT_EQ(field("RL.TAKE d FIXED 100/1m COST 99 HEADERS"), "r=1;t=60");
  EXPECT_EQ(field("RL.TAKE e CONCURRENCY 2 LEASE 30s HEADERS"), "r=1") << "until it is given back";
  EXPECT_EQ(field("RL.TAKE log SLIDINGLOG 2/1m HEADERS"), "r=1;t=60");
  server_->advance(20 * kSecond);
  EXPECT_EQ(field("RL.TAKE log SLIDINGLOG 2/1m HEADERS"), "r=0;t=40");
}

TEST_F(RlHeaders, ItemsOfFieldsAreNamedByAsOrByThePolicy) {
  const auto field = [&](const std::string& line) {
    const std::string reply = ask(line + " HEADERS");
    const size_t begin = reply.find("\"RateLimit\": \"") + 14;
    return reply.substr(begin, reply.find("\", \"RateLimit-Policy", begin) - begin);
  };
  ask("RL.POLICY SET api 100/1m");
  ask("RL.POLICY SET two 10/1s FIXED 20/1h AS hourly FIXED 30 ALIGN DAY");
  EXPECT_EQ(field("RL.TAKE a POLICY api"), R"(\"api\";r=99;t=1)");
  EXPECT_EQ(field("RL.TAKE a POLICY api"), R"(\"api\";r=98;t=1)") << "a key that is there";
  EXPECT_EQ(field("RL.PEEK a POLICY api COST 0"), R"(\"api\";r=98;t=1)");
  EXPECT_EQ(field("RL.ACQUIRE a POLICY api TIMEOUT 1s"), R"(\"api\";r=97;t=1)");
  EXPECT_EQ(field("RL.TAKE b POLICY two"),
            R"(\"two\";r=9;t=1, \"hourly\";r=19;t=3600, \"two-2\";r=29;t=6400)");
  EXPECT_EQ(field("RL.TAKE c POLICY api 5/1s"), R"(\"api\";r=99;t=1, \"default\";r=4;t=1)");
  EXPECT_EQ(field("RL.TAKE d 5/1s AS api POLICY api"), R"(\"api\";r=4;t=1, \"api-2\";r=99;t=1)");
  ask("RL.POLICY SET leak LEAKY 1/1s CAPACITY 5");
  ask("RL.TAKE f POLICY leak");
  auto waiter = server_->connect();
  send(*waiter, "RL.ACQUIRE f POLICY leak TIMEOUT 0 HEADERS");
  server_->run_turns();
  server_->advance(2 * kSecond);
  const std::string departed = heard(*waiter);
  EXPECT_NE(departed.find(R"(\"leak\";r=5;t=0)"), departed.npos) << departed;
}

// Nothing of what its limit has left is to be had then.
TEST_F(RlHeaders, FieldsOfABanHaveNothingLeftUntilItsEnd) {
  const std::string line = "RL.TAKE k FIXED 5/1m BAN 15m AFTER 1 WITHIN 10m AS api 9/1s AS burst";
  ask(line + " COST 5,1");
  const std::string begins = ask(line + " HEADERS");
  EXPECT_NE(begins.find(R"("RateLimit": "\"api\";r=0;t=900, \"burst\";r=8;t=1")"), begins.npos)
      << begins;
  EXPECT_NE(begins.find(R"("Retry-After": "900")"), begins.npos) << begins;
  server_->advance(100 * kSecond);
  const std::string lasts = ask(line + " HEADERS");
  EXPECT_NE(lasts.find(R"("RateLimit": "\"api\";r=0;t=800, \"burst\";r=9;t=0")"), lasts.npos)
      << lasts;
  EXPECT_NE(lasts.find("\"remaining\": 5"), lasts.npos) << "FULL shows the limit itself";
  const std::string other = ask("RL.TAKE k 9/1s HEADERS");
  EXPECT_NE(other.find(R"(\"default\";r=0;t=800)"), other.npos) << other;
}

}  // namespace
}  // namespace weir::server
