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

// Another process has a copy of the directory.
TEST(ClusterWatch, WhoCallsItselfByThisMembersNodeIsNamed) {
  FakeClock clock;
  ClusterWatch watch({.cluster = kTestCluster},
                     {.cluster = kTestCluster, .shard = "a", .node = node_named("a1")},
                     std::make_unique<WrittenDown>(), nullptr, &clock, [] {
                       return facts_named("a", 7001, {0, 8191});
                     });
  watch.act();
  watch.hear(facts_named("a", 7001, {0, 8191}));
  EXPECT_EQ(watch.same_node_at(), "") << "it heard itself";
  ShardFacts copy = facts_named("a", 7009, {0, 8191});
  watch.hear(copy);
  EXPECT_EQ(watch.same_node_at(), "10.0.0.1:7009");
  EXPECT_EQ(watch.own_shard().members[0].told.port, 7001) << "it knows itself";
  clock.advance(ClusterWatch::kUnheardNs);
  EXPECT_EQ(watch.same_node_at(), "");
}

class KeptInATest final : public ClusterKeeper {
 public:
  explicit KeptInATest(std::string* text) : text_(*text) {}
  std::string kept() override { return text_; }
  void keep(std::string text) override { text_ = std::move(text); }

 private:
  std::string& text_;
};

TEST(ClusterWatch, APersonHasAShardForgotten) {
  using Forget = FactsExchange::Forget;
  FakeClock clock;
  std::string kept;
  ClusterWatch watch(
      {.cluster = kTestCluster}, {.cluster = kTestCluster, .shard = "a", .node = node_named("a1")},
      std::make_unique<WrittenDown>(), std::make_unique<KeptInATest>(&kept), &clock, [] {
        return facts_named("a", 7001, {0, 8191});
      });
  const auto answer = [&](std::string_view shard, Forget how) {
    const auto done = watch.forget(shard, how);
    return done ? std::string("OK") : done.error();
  };
  watch.hear(facts_named("b", 7003, {8192, 16383}));
  ShardFacts x = facts_named("x", 6666, {});
  x.slots.clear();
  watch.hear(x);
  watch.act();
  EXPECT_THAT(kept, ::testing::HasSubstr("shard x "));
  EXPECT_EQ(answer("a", Forget::kInAnyCase), "ERR this member is of that shard");
  EXPECT_EQ(answer("y", Forget::kInAnyCase), "ERR no shard of that name is known here");
  EXPECT_EQ(answer("x", Forget::kIfGone),
            "ERR a member of that shard was heard 0 ms ago; with FORCE it is forgotten until it is "
            "heard again");
  clock.advance(ClusterWatch::kUnheardNs);
  EXPECT_EQ(
      answer("b", Forget::kIfGone),
      "ERR that shard is shown for slots, which have no address without it; FORCE forgets it");
  EXPECT_EQ(answer("x", Forget::kIfGone), "OK");
  watch.act();
  EXPECT_THAT(kept, ::testing::Not(::testing::HasSubstr("shard x ")));
  EXPECT_EQ(answer("b", Forget::kInAnyCase), "OK");
  EXPECT_EQ(watch.known().shard_of(8192), "");
}

TEST(ClusterWatch, WhatIsNotBelievedIsCounted) {
  FakeClock clock;
  ClusterWatch watch({.cluster = kTestCluster},
                     {.cluster = kTestCluster, .shard = "a", .node = node_named("a1")},
                     std::make_unique<WrittenDown>(), nullptr, &clock, [] {
                       return facts_named("a", 7001, {0, 8191});
                     });
  ShardFacts b = facts_named("b", 7003, {8192, 16383});
  watch.hear(b);
  EXPECT_EQ(watch.refused(), 0u);
  b.instance.ms = UINT64_MAX >> 11;
  watch.hear(b);
  b.instance.ms = 0;
  b.cluster[0] = 'f';
  watch.hear(b);
  EXPECT_EQ(watch.refused(), 2u);
}

}  // namespace
}  // namespace weir::server
