// HEADERS and its options: what is told of limits in HTTP.
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

// What comes after the limits in the map that a request is answered.
class RlHeaders : public LimiterTest {
 protected:
  RlHeaders() { ask("HELLO 3"); }
  std::string told(const std::string& line) {
    const std::string reply = ask(line);
    const size_t begin = reply.rfind("\"headers\": ");
    return begin == reply.npos ? reply : reply.substr(begin, reply.size() - begin - 1);
  }
  static std::string problem(const std::string& type, const std::string& title, int status,
                             const std::string& policies) {
    return ", \"problem\": {\"type\": \"https://iana.org/assignments/http-problem-types#" + type +
           "\", \"title\": \"" + title + "\", \"status\": " + std::to_string(status) +
           ", \"violated-policies\": [" + policies + "]}";
  }
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

// Whatever else the request would have to wait for.
TEST_F(RlHeaders, FieldsOfABanTellItsOwnEnd) {
  const std::string line = "RL.TAKE k FIXED 5/1m BAN 5m AFTER 1 WITHIN 10m AS api FIXED 9/1h AS h";
  ask(line + " COST 5,9");
  const std::string begins = told(line + " LEGACY");
  EXPECT_NE(begins.find(R"("RateLimit": "\"api\";r=0;t=300, \"h\";r=0;t=3600")"), begins.npos)
      << begins;
  server_->advance(100 * kSecond);
  const std::string never = told(line + " COST 6,1 LEGACY");
  EXPECT_NE(never.find(R"("RateLimit": "\"api\";r=0;t=200, \"h\";r=0;t=3500")"), never.npos)
      << never;
  EXPECT_NE(never.find(R"("X-RateLimit-Reset": "200")"), never.npos) << never;
}

TEST_F(RlHeaders, LegacyFieldsAreOfTheLimitThatDecides) {
  EXPECT_EQ(
      told("RL.TAKE k 10/1s AS a FIXED 3/1m AS b LEGACY"),
      R"("headers": {"RateLimit": "\"a\";r=9;t=1, \"b\";r=2;t=60", )"
      R"("RateLimit-Policy": "\"a\";q=10;w=1, \"b\";q=3;w=60", )"
      R"("X-RateLimit-Limit": "3", "X-RateLimit-Remaining": "2", "X-RateLimit-Reset": "60"})");
  ask("RL.TAKE k 10/1s AS a FIXED 3/1m AS b COST 9,4 FORCE");
  EXPECT_EQ(told("RL.TAKE k 10/1s AS a FIXED 3/1m AS b LEGACY"),
            R"("headers": {"RateLimit": "\"a\";r=0;t=1, \"b\";r=0;t=60", )"
            R"("RateLimit-Policy": "\"a\";q=10;w=1, \"b\";q=3;w=60", )"
            R"("X-RateLimit-Limit": "3", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "60", )"
            R"("Retry-After": "60"})")
      << "a debt";
  EXPECT_EQ(told("RL.TAKE new 10/1s LEGACY COST 0").find("Retry-After"), std::string::npos);
}

TEST_F(RlHeaders, LegacyFieldsOfABanEndWithIt) {
  const std::string line = "RL.TAKE k FIXED 5/1m BAN 15m AFTER 1 WITHIN 10m";
  ask(line + " COST 5");
  ask(line);
  server_->advance(100 * kSecond);
  const std::string banned = told(line + " LEGACY");
  EXPECT_NE(banned.find(R"("X-RateLimit-Limit": "5", "X-RateLimit-Remaining": "0", )"
                        R"("X-RateLimit-Reset": "800")"),
            banned.npos)
      << banned;
}

TEST_F(RlHeaders, APartitionIsTheKey) {
  EXPECT_EQ(told("RL.TAKE ip:192.0.2.1 10/1s PARTITION"),
            R"("headers": {"RateLimit": "\"default\";r=9;t=1;pk=:aXA6MTkyLjAuMi4x:", )"
            R"("RateLimit-Policy": "\"default\";q=10;w=1;pk=:aXA6MTkyLjAuMi4x:"})");
}

TEST_F(RlHeaders, AProblemNamesWhatDenies) {
  ask("RL.POLICY SET api 2/1s FIXED 9/1h AS hourly 3/1m");
  EXPECT_EQ(told("RL.TAKE k POLICY api PROBLEM").find("problem"), std::string::npos);
  ask("RL.TAKE k POLICY api");
  const std::string denied = told("RL.TAKE k POLICY api COST 2 PROBLEM");
  EXPECT_NE(denied.find(problem("quota-exceeded", "Quota Exceeded", 429, R"("api", "api-2")")),
            denied.npos)
      << denied;
  EXPECT_EQ(told("RL.TAKE k POLICY api COST 2 PROBLEM SHADOW").find("problem"), std::string::npos);
  ask("RL.POLICY SET no BLOCKED");
  EXPECT_EQ(told("RL.TAKE k POLICY no PROBLEM LEGACY"),
            "\"headers\": {}" + problem("quota-exceeded", "Quota Exceeded", 429, R"("no")"));
}

TEST_F(RlHeaders, AProblemOfWhoWaitedNamesAllThatDeny) {
  const std::string limits = "k FIXED 1/1h AS hourly FIXED 1/1m AS minutely";
  ask("RL.TAKE " + limits);
  const std::string denied = told("RL.ACQUIRE " + limits + " TIMEOUT 10 PROBLEM");
  EXPECT_NE(denied.find(R"("violated-policies": ["hourly", "minutely"])"), denied.npos) << denied;
}

TEST_F(RlHeaders, ALimitInShadowIsNotViolated) {
  ask("RL.POLICY SET trial FIXED 1/1h SHADOW");
  ask("RL.TAKE k POLICY trial FIXED 2/1m AS own COST 2");
  const std::string denied = told("RL.TAKE k POLICY trial FIXED 2/1m AS own COST 2 PROBLEM");
  EXPECT_NE(denied.find(R"("violated-policies": ["own"])"), denied.npos) << denied;
}

TEST_F(RlHeaders, ABanIsAbnormalUsage) {
  const std::string line = "RL.TAKE k FIXED 1/1m BAN 15m AFTER 1 WITHIN 10m AS login";
  ask(line);
  const std::string expected =
      problem("abnormal-usage-detected", "Abnormal Usage Detected", 429, R"("login")");
  const std::string begins = told(line + " PROBLEM");
  EXPECT_NE(begins.find(expected), begins.npos) << begins;
  server_->advance(100 * kSecond);
  const std::string lasts = told(line + " PROBLEM");
  EXPECT_NE(lasts.find(expected), lasts.npos) << lasts;
}

TEST_F(RlHeaders, AnAdaptiveLimitAtItsMinimumIsReducedCapacity) {
  ask("RL.TAKE k 10/1s ADAPTIVE 9..60 AS api");
  const std::string line = "RL.TAKE k 10/1s ADAPTIVE 9..60 AS api COST 11 PROBLEM";
  const std::string quota = told(line);
  EXPECT_NE(quota.find(problem("quota-exceeded", "Quota Exceeded", 429, R"("api")")), quota.npos)
      << quota;
  ask("RL.REPORT k FAIL");
  const std::string least = told(line);
  EXPECT_NE(least.find(problem("temporary-reduced-capacity", "Temporary Reduced Capacity", 503,
                               R"("api")")),
            least.npos)
      << least;
}

TEST_F(RlHeaders, WhoeverIsDeniedByAQueueIsToldTheLimitThatHasIt) {
  ask("RL.TAKE q 1/1s AS api");
  auto waiter = server_->connect();
  send(*waiter, "RL.ACQUIRE q 1/1s AS api TIMEOUT 5s");
  server_->run_turns();
  const std::string denied = told("RL.TAKE q 1/1s AS api PROBLEM");
  EXPECT_NE(denied.find(R"("violated-policies": ["api"])"), denied.npos) << denied;
}

TEST_F(RlHeaders, FieldsOfSeveralKeysAreOne) {
  ask("RL.POLICY SET ip FIXED 5/1m");
  ask("RL.POLICY SET tenant FIXED 3/1h");
  const std::string line = "RL.MTAKE 2 ip:a t:b EACH POLICY ip EACH POLICY tenant";
  EXPECT_EQ(told(line + " HEADERS"),
            R"("headers": {"RateLimit": "\"ip\";r=4;t=60, \"tenant\";r=2;t=3600", )"
            R"("RateLimit-Policy": "\"ip\";q=5;w=60, \"tenant\";q=3;w=3600"})");
  const std::string legacy = told(line + " LEGACY PARTITION");
  EXPECT_NE(legacy.find(R"(\"ip\";r=3;t=60;pk=:aXA6YQ==:, \"tenant\";r=1;t=3600;pk=:dDpi:)"),
            legacy.npos)
      << legacy;
  EXPECT_NE(legacy.find(R"("X-RateLimit-Limit": "3", "X-RateLimit-Remaining": "1")"), legacy.npos)
      << legacy;
  const std::string denied = told(line + " COST 2 PROBLEM");
  EXPECT_EQ(denied, R"("headers": {"RateLimit": "\"ip\";r=3;t=60, \"tenant\";r=1;t=3600", )"
                    R"("RateLimit-Policy": "\"ip\";q=5;w=60, \"tenant\";q=3;w=3600", )"
                    R"("Retry-After": "3600"})" +
                        problem("quota-exceeded", "Quota Exceeded", 429, R"("tenant")"));
  EXPECT_EQ(told("RL.MTAKE 2 ip:a ip:b EACH POLICY ip EACH POLICY ip COST 0 HEADERS"),
            R"("headers": {"RateLimit": "\"ip\";r=3;t=60, \"ip-2\";r=5;t=0", )"
            R"("RateLimit-Policy": "\"ip\";q=5;w=60, \"ip-2\";q=5;w=60"})");
  const std::string first = ask(line + " ID x HEADERS");
  EXPECT_EQ(ask(line + " ID x HEADERS"), first);
}

}  // namespace
}  // namespace weir::server
