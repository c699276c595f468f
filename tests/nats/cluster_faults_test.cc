// What becomes of a log when servers of its cluster go, come back and lead.
#include "tests/nats/nats_fixture.h"

namespace weir::storage::nats {
namespace {

// With servers of its own.
class NatsClusterTest : public NatsTest {
 protected:
  NatsClusterTest() : NatsTest(&own()) {}
  ~NatsClusterTest() override {
    for (size_t node = 0; node < servers_.servers(); ++node)
      if (!is_running(node)) start(node);
    servers_.await();
  }

  void stop(size_t node) {
    servers_.stop(node);
    stopped_.push_back(node);
  }
  void start(size_t node) {
    servers_.start(node);
    std::erase(stopped_, node);
  }
  bool is_running(size_t node) const {
    return std::find(stopped_.begin(), stopped_.end(), node) == stopped_.end();
  }
  size_t leader() { return servers_.leader_of(names_.log_stream()); }

  // What was acknowledged, or found, stands in the log in this order.
  void expect_all(NatsLog* log, size_t records) {
    const auto all = read_all(log);
    ASSERT_EQ(all.size(), records);
    for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i].bytes, numbered(i));
  }

 private:
  static NatsServer& own() { return shared_cluster(); }

  std::vector<size_t> stopped_;
};

TEST_F(NatsClusterTest, HasThreeCopies) {
  NatsLog* const log = connect();
  read(log, {});
  EXPECT_EQ(log->facts().copies, 3u);
  EXPECT_EQ(log->facts().weakness, "");
}

TEST_F(NatsClusterTest, ALeaderIsKilled) {
  NatsLog* const log = connect();
  Head end;
  size_t records = 0;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 20; ++i) put_at_last(log, &end, numbered(records++));
    const size_t killed = leader();
    ASSERT_LT(killed, servers_.servers());
    stop(killed);
    const int64_t begin = now_ns();
    put_at_last(log, &end, numbered(records++));
    std::printf("the leader was killed: the next append was done after %.1f s\n",
                static_cast<double>(now_ns() - begin) / 1e9);
    for (int i = 0; i < 20; ++i) put_at_last(log, &end, numbered(records++));
    start(killed);
    servers_.await();
  }
  expect_all(log, records);
}

// The others keep a snapshot in the place of what it has missed. So it is sent a copy of the
// messages, and has them all when it leads.
TEST_F(NatsClusterTest, AServerThatWasAwayForLongLeads) {
  NatsLog* const log = connect();
  Head end;
  size_t records = 0;
  const auto put_some = [&] {
    for (int i = 0; i < 50; ++i) put_at_last(log, &end, numbered(records++));
  };
  put_some();
  const size_t away = (leader() + 1) % servers_.servers();
  stop(away);
  put_some();
  for (size_t node = 0; node < servers_.servers(); ++node) {
    if (node == away) continue;
    servers_.stop(node, SIGTERM);
    start(node);
    servers_.await_leader(names_.log_stream());
  }
  start(away);
  servers_.await();
  put_some();
  for (int tries = 0; tries < 40 && leader() != away; ++tries) {
    api("LEADER.STEPDOWN." + names_.log_stream(),
        R"({"placement":{"preferred":")" + NatsServer::name(away) + R"("}})");
    wait_ns(kNsPerS / 2);
  }
  EXPECT_EQ(leader(), away);
  put_some();
  expect_all(log, records);
}

TEST_F(NatsClusterTest, WithoutAMajorityNothingIsDone) {
  NatsLog* const log = connect();
  Head end;
  put(log, &end, numbered(0));
  const size_t last = leader();
  stop((last + 1) % 3);
  stop((last + 2) % 3);
  const int64_t until = now_ns() + 5 * kNsPerS;
  while (now_ns() < until) {
    EXPECT_NE(append(log, end, numbered(1)).outcome, AppendOutcome::kDone);
  }
  start((last + 1) % 3);
  start((last + 2) % 3);
  servers_.await();
  put_at_last(log, &end, numbered(1));
  put_at_last(log, &end, numbered(2));
  expect_all(log, 3);
}

TEST_F(NatsClusterTest, AServerThatHangsIsLeft) {
  NatsLog* const log = connect();
  Head end;
  size_t records = 0;
  for (size_t node = 0; node < servers_.servers(); ++node) {
    put_at_last(log, &end, numbered(records++));
    servers_.pause(node, true);
    const int64_t begin = now_ns();
    put_at_last(log, &end, numbered(records++));
    std::printf("a server hung: the next append was done after %.1f s\n",
                static_cast<double>(now_ns() - begin) / 1e9);
    servers_.pause(node, false);
  }
  expect_all(log, records);
}

}  // namespace
}  // namespace weir::storage::nats
