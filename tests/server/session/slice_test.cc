// How much one session may do before the others have their turn.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

std::string pings(int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += request({"PING"});
  return bytes;
}

int64_t answered(FakeClient& client) {
  const std::string replies = client.take();
  return std::count(replies.begin(), replies.end(), '\n');
}

TEST(Slice, EndsAfterAMillisecondAndGoesOnInTheNextTurn) {
  FakeServer server;
  auto client = server.connect();
  server.clock.tick_per_look_ns = 100'000;
  client->push(pings(200));
  server.end_turn();
  const int64_t first = answered(*client);
  EXPECT_GE(first, 1);
  EXPECT_LE(first, 11);
  server.run_turns();
  for (int turns = 0; turns < 300 && server->sessions().holds().has_runnable(); ++turns)
    server.run_turns();
  EXPECT_EQ(first + answered(*client), 200);
}

TEST(Slice, HasNoEndWhileNoTimePasses) {
  FakeServer server;
  auto client = server.connect();
  client->push(pings(200));
  server.end_turn();
  EXPECT_EQ(answered(*client), 200);
}

TEST(Slice, IsShortForWhoHasNotLoggedIn) {
  Config config;
  config.requirepass = "secret";
  FakeServer server(config);
  auto client = server.connect();
  client->push(pings(20));
  server.end_turn();
  EXPECT_EQ(answered(*client), 8);
  server.run_turns();
  EXPECT_EQ(answered(*client), 12);
}

}  // namespace
}  // namespace weir::server
