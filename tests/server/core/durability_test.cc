// When replies may leave, for each level of durability, and when that is asked again.
#include "server/core/disk/durability.h"

#include <gtest/gtest.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

constexpr bool kHoldsData = true;
constexpr bool kNoData = false;

// A server with one change in its log, whose disk ends a sync only when it is told to.
class DurabilityTest : public ::testing::Test {
 protected:
  void start(DurabilityLevel level) {
    Config config;
    config.durability = level;
    server_.emplace(std::move(config));
    server_->disk().deferred = true;
    client_ = server_->connect();
    client_->push(request({"SET", "a", "1"}));
    server_->end_turn();
  }

  Coverage covers(bool touched_data) {
    Server& server = **server_;
    const int64_t now_ns = server_->clock.steady_ns();
    const Told told{.turn = server.keys().turn(), .touched_data = touched_data, .ended_ns = now_ns};
    return server.persistence().durability->covers(told, now_ns);
  }
  void expect_covered(bool covered) {
    EXPECT_EQ(covers(kHoldsData).covered, covered);
    EXPECT_TRUE(covers(kNoData).covered) << "a slow disk is nothing to it";
    for (const bool touched_data : {kHoldsData, kNoData})
      EXPECT_EQ(covers(touched_data).ask_at_ns, kNotDue) << touched_data;
    EXPECT_EQ((*server_)->next_wait_ns(), kNotDue);
  }

  std::optional<FakeServer> server_;
  std::unique_ptr<FakeClient> client_;
};

TEST_F(DurabilityTest, AlwaysWaitsForTheSync) {
  start(DurabilityLevel::kAlways);
  expect_covered(false);
  EXPECT_EQ(client_->take(), "");
  server_->clock.advance(10 * kSecond);
  expect_covered(false);
  server_->step_disk();
  expect_covered(true);
  EXPECT_EQ(client_->take(), "+OK\r\n");
}

TEST_F(DurabilityTest, EverysecWaitsOnlyWhereTheSyncIsTwoSecondsLate) {
  start(DurabilityLevel::kEverysec);
  expect_covered(true);
  EXPECT_EQ(client_->take(), "+OK\r\n");
  server_->clock.advance(2 * kSecond - 1);
  expect_covered(true);
  server_->clock.advance(1);
  expect_covered(false);
  const auto bystander = server_->connect();
  client_->push(request({"GET", "a"}));
  bystander->push(request({"PING"}));
  server_->end_turn();
  EXPECT_EQ(client_->take(), "");
  EXPECT_EQ(bystander->take(), "+PONG\r\n");
  server_->step_disk();
  expect_covered(true);
  EXPECT_EQ(client_->take(), "$1\r\n1\r\n");
}

TEST_F(DurabilityTest, NoNeverWaits) {
  start(DurabilityLevel::kNo);
  server_->clock.advance(10 * kSecond);
  expect_covered(true);
  EXPECT_EQ(client_->take(), "+OK\r\n");
}

// What is known from an instant on, as with a lease.
class KnownFrom final : public Durability {
 public:
  using Durability::Durability;

  Coverage covers(const Told& told, int64_t steady_ns) const override {
    return {.covered = !told.touched_data || steady_ns >= at_ns, .ask_at_ns = at_ns};
  }

  int64_t at_ns = 0;
};

class CountingLog final : public storage::TurnLog {
 public:
  storage::Status append(uint64_t, std::string_view) override {
    ++turns;
    return {};
  }

  uint64_t turns = 0;
};

TEST(Server, AppendsToTheLogAndAsksTheDurabilityThatItWasHanded) {
  FakeClock clock;
  const auto disk = storage::make_memory_disk({1, 2});
  disk->steady_ns = [&] { return clock.steady_ns(); };
  KnownFrom* durability = nullptr;
  CountingLog log;
  const auto make_durability = [&](const Config* config, storage::Keyspace* keys) {
    auto made = std::make_unique<KnownFrom>(config, keys);
    durability = made.get();
    return made;
  };
  Server server({}, &clock, [&] { return std::make_unique<storage::MemoryStore>(disk); },
                command_lists(), Seeds(), {.log = &log, .make_durability = make_durability});
  ASSERT_TRUE(server.open().ok());
  durability->at_ns = clock.steady_ns() + 300 * kMs;
  Session& reader = **server.connect(FakeServer::local_peer());
  Session& bystander = **server.connect(FakeServer::local_peer());
  reader.receive(request({"GET", "a"}), SIZE_MAX);
  bystander.receive(request({"PING", "a"}), SIZE_MAX);
  server.end_turn();
  EXPECT_EQ(bystander.output(), "$1\r\na\r\n");
  EXPECT_EQ(reader.output(), "");
  EXPECT_EQ(server.next_wait_ns(), 300 * kMs);
  clock.advance(300 * kMs - 1);
  server.end_turn();
  EXPECT_EQ(reader.output(), "");
  clock.advance(1);
  server.end_turn();
  EXPECT_EQ(reader.output(), "$-1\r\n");
  EXPECT_EQ(server.next_wait_ns(), kNotDue);

  const uint64_t turns = log.turns;
  server.apply_config({"maxmemory"});  // which keeps the log
  bystander.receive(request({"SET", "a", "1"}), SIZE_MAX);
  server.end_turn();
  EXPECT_EQ(log.turns, turns + 1);
  EXPECT_TRUE(disk->log.empty());
}

}  // namespace
}  // namespace weir::server
