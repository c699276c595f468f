// What single requests of limiters cost where a key holds much: counted in what they read, not in
// time, and the answers are those of reading everything.
#include "server/limiter/stored_entries.h"
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

class RlWork : public LimiterTest {
 protected:
  std::unique_ptr<FakeClient> asking(std::string_view line) {
    auto client = server_->connect();
    send(*client, line);
    server_->run_turns();
    return client;
  }
  // Each take has an instant of its own, so each makes an entry.
  void fill(const std::string& line, int count) {
    for (int i = 0; i < count; ++i) {
      server_->clock.advance(kMs);
      ASSERT_EQ(ask(line).substr(0, 2), "[1");
    }
  }
  uint64_t entries_read_by(std::string_view line) {
    const uint64_t before = StoredEntries::entries_read();
    ask(line);
    return StoredEntries::entries_read() - before;
  }
};

constexpr uint64_t kFew = 300;  // some times the logarithm; the log has 3000

TEST_F(RlWork, ALookAtAQueuesEndReadsFewEntriesOfALog) {
  const std::string limits = "SLIDINGLOG 3000/1h";
  fill("RL.TAKE k " + limits, 3000);
  const auto waiter = asking("RL.ACQUIRE k " + limits + " TIMEOUT 0");
  for (int i = 0; i < 5; ++i) {
    EXPECT_LT(entries_read_by("RL.TAKE k " + limits), kFew);
    EXPECT_LT(entries_read_by("RL.TAKE k " + limits + " COST 2000"), kFew);
    EXPECT_LT(entries_read_by("RL.PEEK k " + limits), kFew);
  }
}

TEST_F(RlWork, AlsoAfterTheKeyWasTouched) {
  const std::string limits = "SLIDINGLOG 3000/1h";
  fill("RL.TAKE k " + limits, 3000);
  const auto waiter = asking("RL.ACQUIRE k " + limits + " TIMEOUT 0");
  for (int i = 0; i < 5; ++i) {
    ask("PEXPIRE k 3600000");
    EXPECT_LT(entries_read_by("RL.TAKE k " + limits), kFew);
  }
}

TEST_F(RlWork, AnotherOneJoinsAQueueForFewEntries) {
  const std::string limits = "SLIDINGLOG 3000/1h";
  fill("RL.TAKE k " + limits, 3000);
  std::vector<std::unique_ptr<FakeClient>> waiters;
  for (int i = 0; i < 20; ++i) {
    const uint64_t before = StoredEntries::entries_read();
    waiters.push_back(asking("RL.ACQUIRE k " + limits + " TIMEOUT 0"));
    EXPECT_LT(StoredEntries::entries_read() - before, 3 * kFew) << i;
  }
}

}  // namespace
}  // namespace weir::server
