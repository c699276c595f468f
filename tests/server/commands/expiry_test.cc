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

// A shard's instants may be behind the clock of the machine that its primary is on.
class BehindTheWall final : public InstantSource {
 public:
  explicit BehindTheWall(Clock* clock)
      : clock_(*clock), ahead_ns_(clock->wall_ns() - clock->steady_ns()) {}
  int64_t instant_ns() override { return clock_.steady_ns() + ahead_ns_; }
  bool passes() const override { return true; }

 private:
  Clock& clock_;
  const int64_t ahead_ns_;
};

TEST(Expiry, InstantsBehindTheWallClockTakeEveryExpiry) {
  FakeServer server;
  const auto client = server.connect();
  BehindTheWall source(&server.clock);
  server->timeline().lead_by(&source);
  server.clock.step_wall(2500 * kMs);
  client->call({"SET", "k", "v"});
  EXPECT_EQ(client->call({"PEXPIREAT", "k", "4102444799999"}), ":1\r\n");
  EXPECT_EQ(client->call({"PEXPIRETIME", "k"}), ":4102444799999\r\n");
  EXPECT_EQ(client->call({"EXPIREAT", "k", "4102444799"}), ":1\r\n");
  EXPECT_EQ(client->call({"SET", "k", "v", "PXAT", "4102444799999"}), kOk);
  EXPECT_EQ(client->call({"GETEX", "k", "PXAT", "4102444799999"}), bulk("v"));
  EXPECT_EQ(client->call({"PEXPIREAT", "k", "9223372036854775807"}), ":1\r\n");
  EXPECT_EQ(client->call({"PEXPIRETIME", "k"}), ":9223372036854775807\r\n");
  const std::string dump = client->call({"DUMP", "k"});
  const std::string bytes = dump.substr(dump.find('\n') + 1, dump.size() - dump.find('\n') - 3);
  EXPECT_EQ(client->call({"RESTORE", "r", "9223372036854775807", bytes, "ABSTTL"}), kOk);
  EXPECT_EQ(client->call({"PEXPIRETIME", "r"}), ":9223372036854775807\r\n");
  EXPECT_EQ(client->call({"RESTORE", "s", "4102444799999", bytes, "ABSTTL"}), kOk);
  EXPECT_EQ(client->call({"PEXPIRETIME", "s"}), ":4102444799999\r\n");
  EXPECT_EQ(client->call({"PEXPIREAT", "k", "-9223372036854775808"}), ":1\r\n");
  EXPECT_EQ(client->call({"EXISTS", "k"}), ":0\r\n");
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
