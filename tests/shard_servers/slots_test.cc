// A shard whose members speak the cluster protocol: what each of them shows, and where it leads.
// Tests in small letters have the names of the protocol's traps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "server/cluster/slot_map.h"
#include "tests/shard_servers/stage.h"

namespace weir::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kNotServed = "-CLUSTERDOWN Hash slot not served\r\n";

MemberSettings in_cluster() {
  MemberSettings settings;
  settings.times = {.lease_ns = 750 * kMs, .failover_after_ns = 1'000 * kMs};
  settings.speaks_cluster = true;
  return settings;
}

std::string host_of(const Node* node) { return node->name.substr(39); }

// Slot 15495.
std::string moved_to(const Node* node) { return "-MOVED 15495 " + host_of(node) + ":6379\r\n"; }

size_t count_in(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::string entry_of(const Node* node) {
  return "*4\r\n$1\r\n" + host_of(node) + "\r\n:6379\r\n$40\r\n" + node->name + "\r\n*0\r\n";
}

// A shard of three, and a client at each member that asks for a key all the time.
class SlotsTest : public testing::Test {
 protected:
  static constexpr size_t kNodes = 3;

  SlotsTest() { stage_.meet(); }

  Node* other_standby(const Node* standby) {
    for (Node* node : nodes()) {
      if (node != standby && !node->member->serves()) return node;
    }
    return nullptr;
  }
  std::vector<Node*> nodes() { return stage_.nodes(); }

  // Each answers for the key; whoever leads on leads to somebody else, and nobody in a ring.
  void look(int64_t ns) {
    std::map<Node*, StageClient*> clients;
    std::map<std::string, std::string> leads_to;
    for (int64_t passed = 0; passed < ns; passed += kMs) {
      for (Node* node : nodes()) {
        StageClient*& client = clients[node];
        if (client == nullptr || client->closed()) client = stage_.connect(node);
        client->send({"GET", "a"});
      }
      stage_.pass(kMs);
      for (Node* node : nodes()) {
        const std::string told = clients[node]->take();
        std::string& to = leads_to[host_of(node)];
        if (!told.empty()) to.clear();
        constexpr std::string_view kMoved = "-MOVED 15495 ";
        if (told.starts_with(kMoved)) to = told.substr(kMoved.size(), 1);
        EXPECT_NE(to, host_of(node)) << "moved to itself";
        EXPECT_THAT(told, Not(StartsWith("-READONLY")));
      }
      for (const auto& [from, to] : leads_to) {
        EXPECT_FALSE(!to.empty() && leads_to[to] == from) << from << " and " << to;
      }
    }
  }
  void expect_all_lead_to(Node* primary) {
    for (Node* node : nodes()) {
      EXPECT_EQ(stage_.ask(node, {"GET", "a"}), node == primary ? "$-1\r\n" : moved_to(primary));
      const std::string slots = stage_.ask(node, {"CLUSTER", "SLOTS"});
      EXPECT_THAT(slots, StartsWith("*1\r\n*5\r\n:0\r\n:16383\r\n" + entry_of(primary)));
      for (Node* each : nodes()) EXPECT_THAT(slots, HasSubstr(entry_of(each)));
    }
  }

  ShardStage stage_{in_cluster(), kNodes};
};

TEST_F(SlotsTest, EveryMemberShowsAllSlots) {
  Node* const primary = stage_.primary();
  expect_all_lead_to(primary);
  for (Node* node : nodes()) {
    const std::string lines = stage_.ask(node, {"CLUSTER", "NODES"});
    EXPECT_EQ(count_in(lines, "myself,"), 1u);
    EXPECT_THAT(lines, HasSubstr(node->name + " " + host_of(node) + ":6379@16379 myself," +
                                 (node == primary ? "master -" : "slave " + primary->name) +
                                 " 0 0 1 connected"));
    EXPECT_EQ(count_in(lines, "slave " + primary->name + " 0 0 1 connected\n"), 2u);
    EXPECT_THAT(lines, HasSubstr("master - 0 0 1 connected 0-16383\n"));
    EXPECT_THAT(stage_.ask(node, {"CLUSTER", "MYID"}), HasSubstr(node->name));
    EXPECT_EQ(stage_.ask(node, {"CLUSTER", "MYSHARDID"}),
              "$40\r\n" + shard_id_of(std::string(32, 'c'), "main") + "\r\n");
    const std::string replicas = stage_.ask(node, {"CLUSTER", "REPLICAS", primary->name});
    EXPECT_THAT(replicas, StartsWith("*2\r\n"));
    EXPECT_THAT(replicas, Not(HasSubstr("master")));
    EXPECT_EQ(stage_.ask(node, {"CLUSTER", "REPLICAS", stage_.standby()->name}),
              "-ERR The specified node is not a master\r\n");
    EXPECT_EQ(stage_.ask(node, {"CLUSTER", "COUNT-FAILURE-REPORTS", primary->name}), ":0\r\n");
    EXPECT_EQ(stage_.ask(node, {"CLUSTER", "LINKS"}), "*0\r\n");
    const std::string shards = stage_.ask(node, {"CLUSTER", "SHARDS"});
    EXPECT_EQ(count_in(shards, "$7\r\nreplica\r\n"), 2u);
    EXPECT_EQ(count_in(shards, "$6\r\nonline\r\n"), 3u);
    EXPECT_THAT(stage_.ask(node, {"CLUSTER", "INFO"}),
                AllOf(HasSubstr("cluster_state:ok\r\ncluster_slots_assigned:16384\r\n"),
                      HasSubstr("cluster_known_nodes:3\r\ncluster_size:1\r\n"),
                      HasSubstr("cluster_current_epoch:1\r\ncluster_my_epoch:1\r\n"),
                      HasSubstr("cluster_id:cccccccccccccccccccccccccccccccc\r\n"),
                      HasSubstr("cluster_slots_unowned:0\r\ncluster_map_digest:")));
    EXPECT_THAT(
        stage_.ask(node, {"HELLO"}),
        AllOf(HasSubstr("$7\r\ncluster\r\n"), HasSubstr(node == primary ? "master" : "replica")));
    EXPECT_THAT(stage_.ask(node, {"CLUSTER", "MEET", "h", "1"}),
                HasSubstr("a shard has the slots that it was founded with"));
  }
}

TEST_F(SlotsTest, KeysAtAStandbyAreThePrimarys) {
  Node* const primary = stage_.primary();
  StageClient* const client = stage_.connect(stage_.standby());
  const std::string moved = moved_to(primary);
  EXPECT_EQ(stage_.call(client, {"SET", "a", "1"}), moved);
  EXPECT_EQ(stage_.call(client, {"READONLY"}), "+OK\r\n");
  EXPECT_EQ(stage_.call(client, {"GET", "a"}), moved);
  EXPECT_EQ(stage_.call(client, {"READWRITE"}), "+OK\r\n");
  EXPECT_EQ(stage_.call(client, {"ASKING"}), "+OK\r\n");
  EXPECT_EQ(stage_.call(client, {"RL.TAKE", "a", "5/1d"}), moved);
  EXPECT_EQ(stage_.call(client, {"EVAL", "return 1", "1", "a"}), moved);
  EXPECT_EQ(stage_.call(client, {"WATCH", "a"}), moved);
  EXPECT_EQ(stage_.call(client, {"SSUBSCRIBE", "a"}), moved) << "nobody would publish here";
  EXPECT_EQ(stage_.call(client, {"SPUBLISH", "a", "m"}), moved);
  EXPECT_THAT(stage_.call(client, {"MGET", "a", "b"}), StartsWith("-CROSSSLOT"));
  EXPECT_THAT(stage_.call(client, {"DBSIZE"}), StartsWith("-READONLY"));
  EXPECT_THAT(stage_.call(client, {"EVAL", "return 1", "0"}), StartsWith("-READONLY"));
  EXPECT_THAT(stage_.call(client, {"SELECT", "1"}), HasSubstr("not allowed in cluster mode"));
  EXPECT_EQ(stage_.call(client, {"MULTI"}), "+OK\r\n");
  EXPECT_EQ(stage_.call(client, {"GET", "a"}), moved);
  EXPECT_THAT(stage_.call(client, {"EXEC"}), StartsWith("-EXECABORT"));
  EXPECT_THAT(stage_.call(client, {"SCRIPT", "LOAD", "return 1"}), StartsWith("$40\r\n"));
  EXPECT_EQ(stage_.call(client, {"SUBSCRIBE", "+switch-master"}),
            "*3\r\n$9\r\nsubscribe\r\n$14\r\n+switch-master\r\n:1\r\n");
}

TEST_F(SlotsTest, ATransactionThatWasQueuedBeforeIsMovedAsAWhole) {
  Node* const primary = stage_.primary();
  Node* const standby = stage_.standby();
  StageClient* const client = stage_.connect(primary);
  EXPECT_EQ(stage_.call(client, {"WATCH", "a"}), "+OK\r\n");
  EXPECT_EQ(stage_.call(client, {"MULTI"}), "+OK\r\n");
  EXPECT_EQ(stage_.call(client, {"SET", "a", "1"}), "+QUEUED\r\n");
  EXPECT_TRUE(
      primary->member->order({.kind = MemberOrder::Kind::kSwitchover, .node = standby->name}));
  stage_.pass(300 * kMs);
  ASSERT_EQ(stage_.primary(), standby);
  EXPECT_EQ(stage_.call(client, {"EXEC"}), moved_to(standby));
  EXPECT_EQ(stage_.call(client, {"EXEC"}), "-ERR EXEC without MULTI\r\n");
}

// Who asks is told where to go, so nobody is sent away but those who would have waited in vain.
TEST_F(SlotsTest, SessionsStayUnlessTheyWouldWaitInVain) {
  Node* const first = stage_.primary();
  StageClient* const asks = stage_.connect(first);
  StageClient* const waits = stage_.connect(first);
  StageClient* const listens = stage_.connect(first);
  StageClient* const keeps = stage_.connect(first);
  StageClient* const writes = stage_.connect(first);
  stage_.call(asks, {"GET", "a"});
  stage_.call(waits, {"BLPOP", "{a}1", "{a}2", "0"});
  stage_.call(listens, {"SSUBSCRIBE", "a"});
  stage_.call(keeps, {"HELLO", "3"});
  stage_.call(keeps, {"CLIENT", "TRACKING", "ON"});
  stage_.cut_off(first, 5 * kSecond);
  EXPECT_EQ(stage_.call(writes, {"SET", "a", "1"}), "");
  look(10 * kSecond);
  ASSERT_NE(stage_.primary(), first);
  Node* const primary = stage_.primary();
  EXPECT_EQ(waits->take(), moved_to(primary));
  EXPECT_FALSE(waits->closed());
  EXPECT_TRUE(listens->closed());
  EXPECT_TRUE(keeps->closed());
  EXPECT_TRUE(writes->closed()) << "whether it was done is not known";
  EXPECT_FALSE(asks->closed());
  EXPECT_EQ(stage_.call(asks, {"GET", "a"}), moved_to(primary));
}

// One that found the primary by SENTINEL, say, and has to ask anew.
TEST_F(SlotsTest, WhoDoesNotGoWhereItIsLedHasToConnectAnew) {
  Node* const standby = stage_.standby();
  StageClient* const stays = stage_.connect(standby);
  StageClient* const reads = stage_.connect(standby);
  StageClient* const went = stage_.connect(standby);
  const std::string moved = moved_to(stage_.primary());
  stage_.call(reads, {"READONLY"});
  for (StageClient* client : {stays, reads, went}) {
    EXPECT_EQ(stage_.call(client, {"GET", "a"}), moved);
    EXPECT_EQ(stage_.call(client, {"GET", "a"}), moved);
    EXPECT_FALSE(client->closed());
  }
  stage_.pass(kSecond);
  for (StageClient* client : {stays, reads}) EXPECT_EQ(stage_.call(client, {"GET", "a"}), moved);
  EXPECT_TRUE(stays->closed());
  EXPECT_FALSE(reads->closed());
  Node* const first = stage_.primary();
  EXPECT_TRUE(first->member->order(
      {.kind = MemberOrder::Kind::kSwitchover, .node = other_standby(standby)->name}));
  stage_.pass(kSecond);
  EXPECT_EQ(stage_.call(went, {"GET", "a"}), moved_to(stage_.primary()));
  EXPECT_FALSE(went->closed()) << "it is another primary";
}

TEST_F(SlotsTest, moved_to_oneself) {
  Node* const first = stage_.primary();
  Node* const second = stage_.standby();
  EXPECT_TRUE(first->member->order({.kind = MemberOrder::Kind::kSwitchover, .node = second->name}));
  look(2 * kSecond);
  ASSERT_EQ(stage_.primary(), second);
  expect_all_lead_to(second);
  EXPECT_TRUE(first->member->order({.kind = MemberOrder::Kind::kTakeOver}));
  look(2 * kSecond);
  ASSERT_EQ(stage_.primary(), first);
  expect_all_lead_to(first);
  stage_.cut_off(first, 4 * kSecond);
  look(12 * kSecond);
  Node* const third = stage_.primary();
  ASSERT_NE(third, nullptr);
  ASSERT_NE(third, first);
  expect_all_lead_to(third);
}

// Its log still names it when it comes back, and nobody else for a while.
TEST_F(SlotsTest, moved_to_oneself_after_a_restart) {
  Node* const first = stage_.primary();
  for (Node* node : nodes()) {
    if (node != first) stage_.cut_off(node, 2 * kSecond);
  }
  stage_.restart(first);
  EXPECT_EQ(stage_.ask(first, {"GET", "a"}), kNotServed);
  EXPECT_THAT(stage_.ask(first, {"CLUSTER", "NODES"}), HasSubstr(" myself,"));
  look(8 * kSecond);
  expect_all_lead_to(stage_.primary());
}

}  // namespace
}  // namespace weir::server
