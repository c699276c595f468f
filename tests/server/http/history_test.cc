// GET /history: how minutes are written, and who may read them.
#include "server/http/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/http/answers.h"
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr int64_t kMinuteNs = Minutes::kEveryNs;

TEST(History, IsRowsOfNumbers) {
  Minutes minutes;
  minutes.end_minute(0, 100, {});
  EXPECT_EQ(http::history_json(minutes, 0),
            R"({"every_s":60,"names":["allowed","denied","shadow","errors","p50","p99","turn",)"
            R"("commit"],"rows":[]})"
            "\n");
  minutes.end_minute(kMinuteNs, 160, {.allowed = 100, .denied = 74'074'060});
  minutes.end_minute(2 * kMinuteNs, 220, {.allowed = 100, .denied = 74'074'060});
  EXPECT_THAT(http::history_json(minutes, 0),
              HasSubstr("\"rows\":[[160,1.667,1.235e+06,0,0,null,null,null,null],"
                        "[220,0,0,0,0,null,null,null,null]]}\n"));
  EXPECT_THAT(http::history_json(minutes, 160), HasSubstr("\"rows\":[[220,"));
  EXPECT_THAT(http::history_json(minutes, 220), HasSubstr("\"rows\":[]}"));
}

TEST(History, IsAskedFromAnInstantOn) {
  EXPECT_EQ(http::after_of("/history"), 0);
  EXPECT_EQ(http::after_of("/history?after=1764300000"), 1764300000);
  EXPECT_EQ(http::after_of("/history?after="), 0);
  EXPECT_EQ(http::after_of("/history?after=x"), 0);
  EXPECT_EQ(http::after_of("/history?after=99999999999999999999"), 0);
}

TEST(History, OfADayIsBounded) {
  Minutes minutes;
  MinuteTotals totals;
  for (int64_t i = 0; i <= 1440; ++i) {
    totals.allowed += 123'456'789;
    totals.denied += 98'765'432;
    totals.shadow_denied += 1'234'567;
    totals.errors += 7'654'321;
    for (auto* each : {&totals.decisions, &totals.turns, &totals.commits}) each->add(123'456 + i);
    minutes.end_minute(i * kMinuteNs, 1'764'300'000 + i * 60, totals);
  }
  EXPECT_LT(http::history_json(minutes, 0).size(), 140'000u);
}

TEST(History, IsForWhoMaySeeMetrics) {
  FakeServer server;
  server->tick();
  server.clock.advance(kMinuteNs);
  server->tick();
  const http::Question question{.method = "GET", .target = "/history?after=1"};
  EXPECT_THAT(http::answer(*server, question).body, HasSubstr("\"rows\":[[17"));
  EXPECT_EQ(http::answer(*server, question, http::ListenerKind::kRequests).status, 404);
  server->config().metrics_auth = true;
  EXPECT_EQ(http::answer(*server, question).status, 401);
  const auto admin = server.connect();
  admin->call({"ACL", "SETUSER", "watch", "on", ">p", "+info"});
  EXPECT_EQ(
      http::answer(*server,
                   {.method = "GET", .target = "/history", .authorization = "Bearer d2F0Y2g6cA=="})
          .status,
      200);
}

}  // namespace
}  // namespace weir::server
