// Times as the clock makes them: what a comparison with another server cannot tell to the
// millisecond.
#include <gtest/gtest.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

TEST(Expiry, TtlIsRoundedToTheNearestSecond) {
  FakeServer server;
  const auto client = server.connect();
  client->call({"PSETEX", "k", "2000", "v"});
  server.clock.advance(500 * kMs);
  EXPECT_EQ(client->call({"TTL", "k"}), ":2\r\n");
  server.clock.advance(1 * kMs);
  EXPECT_EQ(client->call({"TTL", "k"}), ":1\r\n");
  EXPECT_EQ(client->call({"PTTL", "k"}), ":1499\r\n");
}

TEST(Expiry, AKeyLivesThroughItsLastMillisecond) {
  FakeServer server;
  const auto client = server.connect();
  client->call({"PSETEX", "k", "10", "v"});
  server.clock.advance(10 * kMs);
  EXPECT_EQ(client->call({"PTTL", "k"}), ":0\r\n");
  EXPECT_EQ(client->call({"GET", "k"}), bulk("v"));
  server.clock.advance(1 * kMs);
  EXPECT_EQ(client->call({"PTTL", "k"}), ":-2\r\n");
  EXPECT_EQ(client->call({"GET", "k"}), "$-1\r\n");
  EXPECT_EQ(client->call({"DBSIZE"}), ":0\r\n");
}

TEST(Expiry, ConditionsCompareInstantsToTheMillisecond) {
  FakeServer server;
  const auto client = server.connect();
  client->call({"PSETEX", "k", "5000", "v"});
  EXPECT_EQ(client->call({"EXPIRE", "k", "5", "GT"}), ":0\r\n");
  EXPECT_EQ(client->call({"PEXPIRE", "k", "5001", "GT"}), ":1\r\n");
  EXPECT_EQ(client->call({"PEXPIRE", "k", "5001", "LT"}), ":0\r\n");
  EXPECT_EQ(client->call({"PEXPIRE", "k", "5000", "LT"}), ":1\r\n");
}

TEST(Expiry, AnExpiryAtThisInstantDeletes) {
  FakeServer server;
  const auto client = server.connect();
  const std::string now_ms = std::to_string(server->timeline().now_ns() / kMs);
  client->call({"SET", "k", "v"});
  EXPECT_EQ(client->call({"PEXPIREAT", "k", now_ms}), ":1\r\n");
  EXPECT_EQ(client->call({"DBSIZE"}), ":0\r\n");
}

}  // namespace
}  // namespace weir::server
