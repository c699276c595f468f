// What sessions and turns may do before others have their turn, in work units: what is charged,
// and how slices and turns end.
#include <gtest/gtest.h>

#include "server/net/daemon.h"
#include "tests/server/work_fixture.h"

namespace weir::server {
namespace {

TEST_F(WorkBudget, APlainCommandTakesNextToNothing) {
  auto client = server_.connect();
  client->call({"SET", "k", "v"});
  EXPECT_EQ(cost_of(*client, request({"GET", "k"})), 2u);
  EXPECT_LE(cost_of(*client, request({"CL.THROTTLE", "t", "15", "30", "60"})), 7u);
}

TEST_F(WorkBudget, EntriesAndBytesAreCharged) {
  auto client = server_.connect();
  fill(*client, "RPUSH", "list", 1000);
  EXPECT_GE(cost_of(*client, request({"LRANGE", "list", "0", "-1"})), 1000u);
  EXPECT_LE(cost_of(*client, request({"LRANGE", "list", "0", "9"})), 20u);
  EXPECT_GE(cost_of(*client, request({"LPOS", "list", "m900"})), 900u);
  EXPECT_GE(cost_of(*client, request({"KEYS", "nosuch"})), 1u);
  const std::string large(64'000, 'x');
  EXPECT_GE(cost_of(*client, request({"SET", "large", large})), 1000u);
  EXPECT_GE(cost_of(*client, request({"GET", "large"})), 1000u);
  EXPECT_GE(cost_of(*client, request({"EVAL", "for i = 1, 100000 do end", "0"})), 1000u);
  EXPECT_GE(cost_of(*client, request({"EVAL", "return redis.call('LRANGE', 'list', 0, -1)", "0"})),
            1000u);
}

TEST_F(WorkBudget, ASliceEndsBetweenCommands) {
  auto client = server_.connect();
  fill(*client, "RPUSH", "list", 1000);
  const std::string range = request({"LRANGE", "list", "0", "-1"});
  const uint64_t one = cost_of(*client, range);
  server_.run_turns();
  const uint64_t commands = client->session().activity().commands();
  std::string pipeline;
  for (int i = 0; i < 100; ++i) pipeline += range;
  client->push(pipeline);
  const uint64_t ran = client->session().activity().commands() - commands;
  EXPECT_TRUE(client->session().runnable());
  EXPECT_GE(turn_units(), WorkMeter::kSliceUnits);
  EXPECT_LE(turn_units(), WorkMeter::kSliceUnits + one);
  EXPECT_LE(ran, WorkMeter::kSliceUnits / 1000);
  server_.run_turns();
  EXPECT_FALSE(client->session().runnable());
}

TEST_F(WorkBudget, ATurnEndsWithItsTenSlices) {
  std::vector<std::unique_ptr<FakeClient>> clients;
  for (int i = 0; i < 30; ++i) clients.push_back(server_.connect());
  fill(*clients[0], "RPUSH", "list", 1000);
  const std::string range = request({"LRANGE", "list", "0", "-1"});
  const uint64_t one = cost_of(*clients[0], range);
  server_.run_turns();
  std::string pipeline;
  for (int i = 0; i < 15; ++i) pipeline += range;
  for (auto& client : clients) client->push(pipeline);
  EXPECT_GE(turn_units(), WorkMeter::kTurnUnits);
  EXPECT_LE(turn_units(), WorkMeter::kTurnUnits + one);
  server_.run_turns();
  for (auto& client : clients) EXPECT_FALSE(client->session().runnable());
}

TEST_F(WorkBudget, TheDaemonsBudgetIsSpentThen) {
  TurnBudget budget(&server_->clock(), &server_->timeline(), &server_->work());
  server_->work().charge_entries(WorkMeter::kTurnUnits / 2);
  EXPECT_FALSE(budget.is_spent());
  server_->work().charge_bytes(WorkMeter::kTurnUnits / 2 * WorkMeter::kBytesPerUnit);
  EXPECT_TRUE(budget.is_spent());
  server_.end_turn();
  EXPECT_FALSE(budget.is_spent());
}

// Whoever sends the beginnings of requests has nothing run, and no instant tells the time.
TEST_F(WorkBudget, TheDaemonsTimeEndsThoughNoRequestRuns) {
  TurnBudget budget(&server_->clock(), &server_->timeline(), &server_->work());
  EXPECT_FALSE(budget.is_spent());
  server_.advance(TurnBudget::kTurnNs);
  EXPECT_FALSE(budget.is_spent());
  server_.advance(1);
  EXPECT_TRUE(budget.is_spent());
}

TEST_F(WorkBudget, AListenerOfManyPatternsIsCharged) {
  auto listener = server_.connect();
  auto client = server_.connect();
  for (int i = 0; i < 500; ++i) listener->call({"PSUBSCRIBE", "p" + std::to_string(i)});
  EXPECT_GE(cost_of(*client, request({"PUBLISH", "news", "x"})), 500u);
}

}  // namespace
}  // namespace weir::server
