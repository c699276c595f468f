// Who is sent away from a member that was demoted, and who stays: every kind of connection.
#include "server/failover/member/stale_clients.h"

#include <gtest/gtest.h>

#include "tests/server/connection_fixture.h"

namespace weir::server {
namespace {

constexpr int64_t kBootNs = 100 * kSecond;

struct Kind {
  const char* name;
  std::initializer_list<std::string_view> asks;  // after it has connected
  bool stays;
};

const Kind kKinds[] = {
    {"one that has asked for data", {"GET", "k"}, false},
    {"a pool's, which has connected ahead", {}, false},
    {"in a transaction", {"MULTI"}, false},
    {"one that waits", {"BLPOP", "q", "0"}, false},
    {"a subscriber", {"SUBSCRIBE", "c"}, true},
    {"a subscriber by pattern", {"PSUBSCRIBE", "c*"}, true},
    {"a monitor", {"MONITOR"}, true},
};

TEST(StaleClients, EveryKindOfConnectionIsSentAwayOrStays) {
  for (const Kind& kind : kKinds) {
    FakeServer server;
    const auto client = server.connect();
    server.advance(2 * kSecond);
    if (kind.asks.size() > 0) client->call(kind.asks);
    StaleClients().demoted(kBootNs, &*server);
    server.run_turns();
    EXPECT_EQ(!client->closed(), kind.stays) << kind.name;
  }
}

TEST(StaleClients, WhoHasJustComeIsAnsweredAndASilentOneGoesLater) {
  FakeServer server;
  const auto asks = server.connect();
  const auto silent = server.connect();
  StaleClients stale;
  stale.demoted(kBootNs, &*server);
  server.run_turns();
  EXPECT_EQ(asks->call({"PING"}), "+PONG\r\n");
  EXPECT_FALSE(silent->closed());
  server.advance(StaleClients::kAgainNs);
  stale.look("", false, kBootNs + StaleClients::kAgainNs, &*server);
  server.run_turns();
  EXPECT_TRUE(silent->closed());
  EXPECT_TRUE(asks->closed());
}

// There who asks is told where to go.
TEST(StaleClients, NobodyIsSentAwayInACluster) {
  FakeServer server;
  const auto client = server.connect();
  client->call({"GET", "k"});
  StaleClients stale(true);
  stale.demoted(kBootNs, &*server);
  EXPECT_EQ(stale.next_ns(), INT64_MAX);
  stale.look("h:1", false, kBootNs, &*server);
  stale.look("h:2", false, kBootNs, &*server);
  server.run_turns();
  EXPECT_FALSE(client->closed());
}

TEST(StaleClients, OfHttpTheGateIsClosedAndTheMetricsAreNot) {
  for (const auto listener : {http::ListenerKind::kRequests, http::ListenerKind::kMetrics}) {
    OneConnection one;
    one.open_http(listener);
    one.receives("GET /v1/gate?limits=FIXED+2/1h&key=k HTTP/1.1\r\nHost: weir\r\n\r\n");
    EXPECT_FALSE(one.closed);
    one.stream.sent.clear();
    StaleClients().demoted(kBootNs, &*one.server);
    one.end_turn();
    EXPECT_EQ(one.closed, listener == http::ListenerKind::kRequests);
  }
}

}  // namespace
}  // namespace weir::server
