// What a member asks when, with peers that only write down what they are asked.
#include "server/failover/peers/cluster_watch.h"

#include <gmock/gmock.h>

#include "tests/server/cluster/facts_fixture.h"
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using ::testing::ElementsAre;

class WrittenDown final : public Peers {
 public:
  void ask(PeerQuestion question, Then then, int64_t) override {
    asked.push_back(question.address);
    open.emplace_back(std::move(then));
  }
  // All are refused.
  void deliver(int64_t) override {
    for (const Then& then : std::exchange(open, {})) then(std::string("refused"));
  }
  bool is_asking() const override { return !open.empty(); }

  std::vector<std::string> asked;
  std::vector<Then> open;
};

// Shard b has three members, of which the second is the primary.
TEST(ClusterWatch, ANewPrimaryAsksAllThatItKnowsAtOnce) {
  FakeClock clock;
  bool serves = false;
  auto peers = std::make_unique<WrittenDown>();
  WrittenDown& written = *peers;
  ClusterWatch watch({.cluster = kTestCluster},
                     {.cluster = kTestCluster, .shard = "a", .node = node_named("a1")},
                     std::move(peers), nullptr, &clock, [&] {
                       ShardFacts own = facts_named("a", 7001, {0, 8191});
                       own.members.pop_back();
                       own.serves = serves;
                       return own;
                     });
  ShardFacts b = facts_named("b", 7003, {8192, 16383});
  b.members.push_back(member_named("b3", 7005));
  watch.hear(b);
  watch.act();
  EXPECT_THAT(written.asked, ElementsAre("10.0.0.1:7003"));
  written.asked.clear();
  serves = true;
  for (int ms = 0; ms < 130; ms += 5) {
    clock.advance(5 * kNsPerMs);
    watch.act();
  }
  EXPECT_THAT(written.asked,
              ::testing::IsSupersetOf({"10.0.0.1:7003", "10.0.0.1:7004", "10.0.0.1:7005"}));
}

}  // namespace
}  // namespace weir::server
