// How members of several shards learn of one another: facts over the client port, through kills,
// takeovers, restarts with old maps, clocks that differ, and links that are cut.
#include "tests/shard_servers/shards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/core/metrics/metrics.h"

namespace weir::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Until all agree. Answers how long that took; fails after `max_ns`.
int64_t wait_for_agreement(ClusterOfShards* cluster, int64_t max_ns) {
  const int64_t begin_ns = cluster->now_ns();
  while (!cluster->all_agree() || cluster->primaries().find("= ") != std::string::npos) {
    cluster->pass(kMs);
    if (cluster->now_ns() - begin_ns < max_ns) continue;
    ADD_FAILURE() << "they do not agree: " << cluster->primaries();
    for (size_t at = 0; at < cluster->count(); ++at) {
      for (const Node* node : cluster->shard(at).nodes())
        if (node->server) ADD_FAILURE() << node->name << ": " << cluster->primaries_at(node);
    }
    break;
  }
  return cluster->now_ns() - begin_ns;
}

KnownShard shown(const Node* node, size_t shard) {
  return ClusterOfShards::known(node).shards(node->clock->boot_ns())[shard];
}

Node* standby_of(ClusterOfShards* cluster, size_t shard) {
  for (Node* node : cluster->shard(shard).nodes())
    if (node != cluster->shard(shard).primary()) return node;
  return nullptr;
}

TEST(Shards, FactsComeToAll) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    ClusterOfShards cluster(seed, 2, 2);
    cluster.pass(4 * kSecond);
    wait_for_agreement(&cluster, 4 * kSecond);
    cluster.pass(3 * kSecond);
    for (size_t at = 0; at < 2; ++at) {
      for (const Node* node : cluster.shard(at).nodes()) {
        for (size_t of = 0; of < 2; ++of) {
          const KnownShard shard = shown(node, of);
          EXPECT_LT(shard.heard_ns, kSecond);
          EXPECT_LT(shard.served_ns, kSecond);
          ASSERT_EQ(shard.members.size(), 2u);
          for (const KnownMember& member : shard.members) {
            EXPECT_LT(member.age_ns, 5 * kSecond);
            EXPECT_EQ(member.told.hostname, "host-" + member.told.node.substr(39));
            EXPECT_EQ(member.told.tls_port, 7000);
            EXPECT_EQ(member.is_self, member.told.node == node->name);
          }
        }
        const std::string metrics = metrics_text(*node->server, MetricsFormat::kPrometheus);
        EXPECT_THAT(metrics, HasSubstr("\nweir_shard_heard_seconds{shard=\"b\"} 0."));
        EXPECT_THAT(metrics, HasSubstr("\nweir_shard_served_seconds{shard=\"b\"} 0."));
        EXPECT_THAT(metrics, HasSubstr("\nweir_slots_unowned 0\n"));
        EXPECT_THAT(metrics, HasSubstr("\nweir_loop_busy_ratio 0"));
        if (node != cluster.shard(at).primary()) {
          EXPECT_THAT(metrics, Not(HasSubstr("\nweir_clock_lead_seconds -"))) << "it is idle";
        }
        EXPECT_EQ(ClusterOfShards::known(node).shard_of(8191), "a");
        EXPECT_EQ(ClusterOfShards::known(node).shard_of(8192), "b");
      }
    }
  }
}

// Every slot is shown all the while, and within a second of its office the new primary.
TEST(Shards, ATakeoverIsKnownToTheOthers) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    ClusterOfShards cluster(seed, 2, 2);
    cluster.pass(8 * kSecond);
    wait_for_agreement(&cluster, 4 * kSecond);
    const Node* const watches = cluster.shard(0).primary();
    Node* const before = cluster.shard(1).primary();
    Node* const after = standby_of(&cluster, 1);
    const std::string last = cluster.primaries_at(watches);
    cluster.kill(1, before);
    while (cluster.shard(1).primary() == nullptr) {
      cluster.pass(kMs);
      ASSERT_EQ(cluster.primaries_at(watches), last) << "the last address";
      ASSERT_TRUE(ClusterOfShards::known(watches).is_whole());
    }
    EXPECT_EQ(cluster.shard(1).primary(), after);
    EXPECT_LE(wait_for_agreement(&cluster, 2 * kSecond), kSecond);
    cluster.shard(1).start(before);
    cluster.pass(5 * kSecond);
    wait_for_agreement(&cluster, kSecond);
  }
}

// WEIR SHARDS, which the page draws: any member tells of all, and of a shard that is gone for how
// long it has been so.
TEST(Shards, AreToldOfByAnyMember) {
  ClusterOfShards cluster(9, 2, 2);
  cluster.pass(8 * kSecond);
  wait_for_agreement(&cluster, 4 * kSecond);
  Node* const standby = standby_of(&cluster, 0);
  const std::string well = cluster.ask(0, standby, {"WEIR", "SHARDS"});
  EXPECT_THAT(well, StartsWith("[[\"shard\", \"a\", \"own\", 1, \"slots\", \"0-8191\", "));
  EXPECT_THAT(well, HasSubstr("[\"shard\", \"b\", \"own\", 0, \"slots\", \"8192-16383\", "));
  for (size_t at = 0; at < 2; ++at)
    for (const Node* node : cluster.shard(at).nodes()) EXPECT_THAT(well, HasSubstr(node->name));
  for (Node* node : cluster.shard(1).nodes()) cluster.kill(1, node);
  cluster.pass(20 * kSecond);
  const std::string gone = cluster.ask(0, standby, {"WEIR", "SHARDS"});
  const std::string after_b = gone.substr(gone.find("8192-16383"));
  EXPECT_THAT(after_b, HasSubstr("\"heard_ms\", 20"));
  EXPECT_THAT(after_b, HasSubstr("\"served_ms\", 20"));
  const std::string metrics = metrics_text(*standby->server, MetricsFormat::kPrometheus);
  EXPECT_THAT(metrics, HasSubstr("\nweir_shard_served_seconds{shard=\"b\"} 20."));
  EXPECT_THAT(metrics, HasSubstr("\nweir_slots_unowned 0\n")) << "they keep their last address";
}

// A process that is stopped answers nobody, and hangs whoever waits for it.
TEST(Shards, one_silent_peer) {
  ClusterOfShards cluster(3, 3, 2);
  cluster.pass(8 * kSecond);
  wait_for_agreement(&cluster, 4 * kSecond);
  Node* const before = cluster.shard(1).primary();
  cluster.shard(1).stop_for(before, 20 * kSecond);
  for (int64_t ms = 0; ms < 15'000; ++ms) {
    cluster.pass(kMs);
    for (const size_t at : {0, 2}) {
      for (const Node* node : cluster.shard(at).nodes())
        ASSERT_LT(shown(node, at == 0 ? 2 : 0).heard_ns, kSecond);
    }
  }
  wait_for_agreement(&cluster, kMs);
  EXPECT_NE(cluster.shard(1).primary(), before);
  cluster.pass(10 * kSecond);
  wait_for_agreement(&cluster, kSecond);
}

// Nobody knows a seed any more, and what the file says is old.
TEST(Shards, ARestartBeginsWithTheMapThatWasKept) {
  ClusterOfShards cluster(4, 2, 2);
  cluster.pass(8 * kSecond);
  wait_for_agreement(&cluster, 4 * kSecond);
  cluster.pass(2 * kSecond);
  const std::string before = cluster.primaries();
  const std::vector<Node*> all = cluster.shard(0).nodes();
  for (Node* node : all) cluster.kill(0, node);
  for (Node* node : all) EXPECT_THAT(cluster.kept(node), StartsWith("cluster cccc"));
  Node* const first = cluster.shard(1).primary();
  cluster.kill(1, first);
  cluster.pass(5 * kSecond);
  cluster.shard(1).start(first);
  cluster.take_seeds_away();
  cluster.cut(0, 1);
  for (Node* node : all) cluster.shard(0).start(node);
  for (const Node* node : all) {
    EXPECT_TRUE(ClusterOfShards::known(node).is_whole()) << "at once";
    EXPECT_EQ(cluster.primaries_at(node), before);
    EXPECT_EQ(shown(node, 1).heard_ns, KnownShard::kNeverHeard);
  }
  cluster.pass(8 * kSecond);
  cluster.cut(0, 1, false);
  wait_for_agreement(&cluster, 2 * kSecond);
  EXPECT_NE(cluster.primaries(), before);
}

TEST(Shards, AFileThatIsNoneIsWrittenAnew) {
  ClusterOfShards cluster(5, 2, 2);
  cluster.pass(8 * kSecond);
  Node* const node = standby_of(&cluster, 0);
  cluster.kill(0, node);
  const std::string whole = cluster.kept(node);
  const_cast<std::string&>(cluster.kept(node)) = whole.substr(0, whole.size() / 2);
  cluster.shard(0).start(node);
  EXPECT_FALSE(ClusterOfShards::known(node).is_whole());
  cluster.pass(5 * kSecond);
  wait_for_agreement(&cluster, kSecond);
  EXPECT_TRUE(parse_cluster_file(cluster.kept(node)));
}

TEST(Shards, ClocksThatDifferDoNotMatter) {
  ClusterOfShards cluster(6, 2, 2);
  for (size_t at = 0; at < 2; ++at) {
    int64_t step_ns = -3'600 * kSecond;
    for (Node* node : cluster.shard(at).nodes()) node->clock->step_wall(step_ns += 2'400 * kSecond);
  }
  cluster.pass(8 * kSecond);
  wait_for_agreement(&cluster, 4 * kSecond);
  for (int round = 0; round < 20; ++round) {
    Node* const node = cluster.shard(1).nodes()[static_cast<size_t>(round % 2)];
    node->clock->step_wall((round % 3 - 1) * 3'000 * kSecond);
    cluster.pass(300 * kMs);
    EXPECT_LT(shown(cluster.shard(0).nodes()[0], 1).heard_ns, kSecond);
    EXPECT_LT(shown(node, 0).heard_ns, kSecond);
  }
}

// Whoever cannot be reached keeps an old map of that one, and of nobody else.
TEST(Shards, ALinkThatIsCutLeavesTheRestAlone) {
  ClusterOfShards cluster(7, 3, 2);
  cluster.pass(8 * kSecond);
  wait_for_agreement(&cluster, 4 * kSecond);
  cluster.cut(0, 1);
  cluster.pass(6 * kSecond);
  for (const Node* node : cluster.shard(0).nodes()) {
    EXPECT_GT(shown(node, 1).heard_ns, 5 * kSecond);
    EXPECT_LT(shown(node, 2).heard_ns, kSecond);
    EXPECT_TRUE(ClusterOfShards::known(node).is_whole());
  }
  for (const Node* node : cluster.shard(2).nodes()) {
    EXPECT_LT(shown(node, 0).heard_ns, kSecond);
    EXPECT_LT(shown(node, 1).heard_ns, kSecond);
  }
  cluster.kill(1, cluster.shard(1).primary());
  cluster.pass(5 * kSecond);
  const Node* const far = cluster.shard(0).primary();
  EXPECT_NE(cluster.primaries_at(far), cluster.primaries());
  EXPECT_EQ(cluster.primaries_at(cluster.shard(2).primary()), cluster.primaries());
  cluster.cut(0, 1, false);
  wait_for_agreement(&cluster, 2 * kSecond);
}

TEST(Shards, WeirFactsIsForMembersAndPeople) {
  ClusterOfShards cluster(8, 2, 2);
  cluster.pass(8 * kSecond);
  Node* const node = cluster.shard(0).nodes()[0];
  const std::string told = cluster.ask(0, node, {"WEIR", "FACTS"});
  EXPECT_THAT(told, HasSubstr("\"shard\", \"a\""));
  EXPECT_THAT(told, HasSubstr("\"slots\", \"0-8191:1\""));
  EXPECT_THAT(told, HasSubstr("[\"b\", ["));
  EXPECT_THAT(cluster.ask(0, node, {"WEIR", "FACTS", "hello"}),
              StartsWith("ERR these are no facts"));
  EXPECT_THAT(cluster.ask(0, node, {"WEIR", "FACTS", "", ""}), StartsWith("ERR syntax error"));
  // Who tells in the name of the member that it tells is not heard.
  ShardFacts facts;
  facts.cluster = std::string(32, 'c');
  facts.shard = "b";
  facts.node = node->name;
  facts.claim = 1'000'000;
  facts.members = {{.node = node->name, .host = "6.6.6.6", .port = 6, .is_primary = true}};
  EXPECT_THAT(cluster.ask(0, node, {"WEIR", "FACTS", shard_facts_bytes(facts)}), StartsWith("["));
  EXPECT_EQ(cluster.primaries_at(node), cluster.primaries());
  // A shard that joins tells of itself by asking.
  facts.shard = "d";
  facts.node = facts.members[0].node = std::string(40, 'd');
  EXPECT_THAT(cluster.ask(0, node, {"WEIR", "FACTS", shard_facts_bytes(facts)}), StartsWith("["));
  EXPECT_THAT(cluster.primaries_at(node), HasSubstr("d=6.6.6.6:6 "));
}

}  // namespace
}  // namespace weir::server
