// Settings of a cluster of shards: told to any shard's primary, they come to all, whoever takes
// over meanwhile. Tests in small letters have the names of the protocol's traps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/shard_servers/shards.h"

namespace weir::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void wait_for_primaries(ClusterOfShards* cluster) {
  for (int64_t ms = 0; ms < 15'000; ++ms) {
    if (cluster->all_agree() && cluster->primaries().find("= ") == std::string::npos) return;
    cluster->pass(kMs);
  }
  ADD_FAILURE() << "they do not agree: " << cluster->primaries();
}

std::string library_of(uint64_t name, uint64_t answer) {
  const std::string number = std::to_string(name);
  return "#!lua name=lib" + number + "\nredis.register_function('f" + number +
         "', function() return " + std::to_string(answer) + " end)";
}

// What somebody tells a primary.
std::vector<std::string> any_change(simulation::Random* random) {
  const auto pick = [&](int64_t count) { return std::to_string(random->between(0, count - 1)); };
  const std::string policy = "p" + pick(4);
  switch (random->between(0, 7)) {
    case 0:
    case 1:
      return {"RL.POLICY", "SET", policy, "1" + pick(90) + "/1m"};
    case 2:
      return {"RL.POLICY", "OVERRIDE", policy, "KEY", "k" + pick(3), "2" + pick(90) + "/1m"};
    case 3:
      return {"RL.POLICY", "DEL", policy};
    case 4:
      return {"FUNCTION", "LOAD", "REPLACE",
              library_of(static_cast<uint64_t>(random->between(0, 2)),
                         static_cast<uint64_t>(random->between(0, 9)))};
    case 5:
      return {"FUNCTION", "DELETE", "lib" + pick(3)};
    case 6:
      return {"SCRIPT", "LOAD", "return " + pick(20)};
    default:
      return random->between(0, 9) == 0
                 ? std::vector<std::string>{"SCRIPT", "FLUSH"}
                 : std::vector<std::string>{"RL.POLICY", "OVERRIDE",    policy,
                                            "KEY",       "k" + pick(3), "DEL"};
  }
}

std::string digest_at(ClusterOfShards* cluster, size_t shard) {
  const Node* const primary = cluster->shard(shard).primary();
  return primary == nullptr ? "nobody"
                            : digest_text_of(primary->server->limiters().settings.head());
}

// The same, as clients see it.
std::string contents_at(ClusterOfShards* cluster, size_t shard) {
  Node* const primary = cluster->shard(shard).primary();
  std::string text = cluster->ask(shard, primary, {"FUNCTION", "LIST", "WITHCODE"});
  for (const char* policy : {"p0", "p1", "p2", "p3"})
    text += "\n" + cluster->ask(shard, primary, {"RL.POLICY", "GET", policy});
  return text;
}

void expect_all_have_the_same(ClusterOfShards* cluster) {
  for (size_t at = 1; at < cluster->count(); ++at) {
    EXPECT_EQ(digest_at(cluster, at), digest_at(cluster, 0));
    EXPECT_EQ(contents_at(cluster, at), contents_at(cluster, 0));
  }
}

void change_at_random_through_takeovers(uint64_t seed, size_t shards) {
  SCOPED_TRACE(seed);
  ClusterOfShards cluster(seed, shards, 2);
  simulation::Random random(seed);
  cluster.pass(4 * kSecond);
  wait_for_primaries(&cluster);
  for (int takeover = 0; takeover < 3; ++takeover) {
    const auto of = static_cast<size_t>(random.between(0, static_cast<int64_t>(shards) - 1));
    Node* const killed = cluster.shard(of).primary();
    for (int step = 0; step < 60; ++step) {
      const auto at = static_cast<size_t>(random.between(0, static_cast<int64_t>(shards) - 1));
      if (step == 20 && killed != nullptr) cluster.kill(of, killed);
      if (step == 40 && killed != nullptr) cluster.shard(of).start(killed);
      Node* const primary = cluster.shard(at).primary();
      if (primary != nullptr) (void)cluster.ask(at, primary, any_change(&random));
      cluster.pass(random.between(1, 150) * kMs);
    }
  }
  wait_for_primaries(&cluster);
  cluster.pass(2 * kSecond);  // what the others were told has come, so the next change is the last
  EXPECT_THAT(cluster.ask(0, cluster.shard(0).primary(), {"RL.POLICY", "SET", "p0", "999/1m"}),
              HasSubstr("OK"));
  cluster.pass(2 * kSecond);
  expect_all_have_the_same(&cluster);
  EXPECT_THAT(contents_at(&cluster, shards - 1), HasSubstr("999/1m"));
}

TEST(ShardSettings, ComeToBothShardsThroughTakeovers) {
  for (uint64_t seed = 1; seed <= 6; ++seed) change_at_random_through_takeovers(seed, 2);
}

TEST(ShardSettings, ComeToThreeShardsThroughTakeovers) {
  for (uint64_t seed = 11; seed <= 16; ++seed) change_at_random_through_takeovers(seed, 3);
}

// A shard that cannot be heard has what it had, and all of it when it is heard again.
TEST(ShardSettings, AShardThatWasCutOffCatchesUp) {
  ClusterOfShards cluster(21, 3, 2);
  cluster.pass(4 * kSecond);
  wait_for_primaries(&cluster);
  cluster.cut(0, 2);
  cluster.cut(1, 2);
  for (const size_t at : {0, 1, 2}) {
    Node* const primary = cluster.shard(at).primary();
    for (int policy = 0; policy < 200; ++policy) {
      (void)cluster.ask(at, primary, {"RL.POLICY", "SET", "q" + std::to_string(policy), "9/1m"});
    }
  }
  cluster.pass(2 * kSecond);
  EXPECT_EQ(digest_at(&cluster, 0), digest_at(&cluster, 1));
  EXPECT_NE(digest_at(&cluster, 0), digest_at(&cluster, 2));
  Node* const first = cluster.shard(0).primary();
  EXPECT_THAT(cluster.ask(0, first, {"WEIR", "SETTINGS"}), HasSubstr("\"has_all\", 0"));
  cluster.cut(0, 2, false);
  cluster.cut(1, 2, false);
  cluster.pass(3 * kSecond);
  expect_all_have_the_same(&cluster);
  EXPECT_THAT(cluster.ask(0, first, {"WEIR", "SETTINGS"}), Not(HasSubstr("\"has_all\", 0")));
}

TEST(ShardSettings, WhoseUsersDifferIsListed) {
  ClusterOfShards cluster(41, 2, 2);
  cluster.pass(4 * kSecond);
  wait_for_primaries(&cluster);
  cluster.pass(5 * kSecond);
  Node* const first = cluster.shard(0).primary();
  const std::string acl_differs = "\"acl\", \"differs\"";
  EXPECT_THAT(cluster.ask(0, first, {"WEIR", "CHECK", "CLUSTER"}), Not(HasSubstr(acl_differs)));
  Node* const other = cluster.shard(1).primary();
  EXPECT_EQ(cluster.ask(1, other, {"ACL", "SETUSER", "bob"}), "OK");
  cluster.pass(5 * kSecond);
  const std::string told = cluster.ask(0, first, {"WEIR", "CHECK", "CLUSTER"});
  const std::string entry =
      told.substr(std::min(told.find("\"node\", \"" + other->name), told.size()));
  EXPECT_THAT(entry.substr(0, entry.find(']')), HasSubstr(acl_differs));
  EXPECT_EQ(told.find(acl_differs), told.rfind(acl_differs)) << "it alone";
  EXPECT_THAT(cluster.ask(0, first, {"WEIR", "CHECK", "all"}), HasSubstr("takes CLUSTER"));
}

// 1000 tries.
TEST(ShardSettings, met_its_own_change) {
  ClusterOfShards cluster(31, 3, 2);
  simulation::Random random(31);
  cluster.pass(4 * kSecond);
  wait_for_primaries(&cluster);
  for (uint64_t at = 0; at < 1000; ++at) {
    const std::string name = "lib" + std::to_string(at);
    const int64_t gap_ms = random.between(0, 9) == 0 ? random.between(300, 900) : 1;
    for (size_t shard = 0; shard < cluster.count(); ++shard) {
      Node* const primary = cluster.shard(shard).primary();
      ASSERT_EQ(cluster.ask(shard, primary, {"FUNCTION", "LOAD", library_of(at, 1)}),
                "\"" + name + "\"");
      ASSERT_EQ(
          cluster.ask(shard, primary, {"SCRIPT", "LOAD", "return " + std::to_string(at)}).size(),
          42u);
      cluster.pass(gap_ms * kMs);
    }
  }
  cluster.pass(2 * kSecond);
  expect_all_have_the_same(&cluster);
}

}  // namespace
}  // namespace weir::server
