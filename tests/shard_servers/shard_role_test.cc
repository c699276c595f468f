// How a primary stays it while a script runs long, and gives the role away when its process is to
// end. Tests in small letters have the names of the protocol's traps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/shard_servers/stage.h"

namespace weir::server {
namespace {

using ::testing::StartsWith;

// 500 looks at the clock.
constexpr std::string_view kLongScript =
    "redis.call('INCR', KEYS[1]) for i = 1, 500000 do end return redis.call('INCR', KEYS[1])";
constexpr int64_t kLookNs = 8 * kMs;

MemberSettings fast() {
  MemberSettings settings;
  settings.times = {.lease_ns = 750 * kMs, .failover_after_ns = 1'000 * kMs};
  return settings;
}

TEST(ShardRole, ALongScriptKeepsIt) {
  ShardStage stage(fast());
  Node* const primary = stage.primary();
  Node* const standby = stage.standby();
  StageClient* const client = stage.connect(primary);
  bool was_lost = false;
  const auto look = [&] { was_lost = was_lost || standby->member->serves(); };
  EXPECT_GT(stage.run_long(client, {"EVAL", kLongScript, "1", "n"}, kLookNs, look), 3 * kSecond);
  EXPECT_FALSE(was_lost);
  stage.pass(200 * kMs);
  EXPECT_EQ(client->take(), ":2\r\n");
  EXPECT_EQ(stage.primary(), primary);
  EXPECT_EQ(stage.metric(primary, "shard_promotions"), 1);
  EXPECT_EQ(standby->server->keys().turn(), primary->server->keys().turn());
}

// What the log answers meanwhile is taken in when the turn has ended, however bad it is.
TEST(ShardRole, nothing_waits_inside_the_loop) {
  ShardStage stage(fast());
  Node* const primary = stage.primary();
  Node* const standby = stage.standby();
  StageClient* const client = stage.connect(primary);
  int looks = 0;
  const auto meanwhile = [&] {
    if (++looks == 150) {
      EXPECT_TRUE(standby->member->order({.kind = MemberOrder::Kind::kTakeOver}));
    }
    if (looks > 150) {
      EXPECT_TRUE(primary->member->serves()) << "until the turn ends";
    }
  };
  stage.run_long(client, {"EVAL", kLongScript, "1", "n"}, kLookNs, meanwhile);
  ASSERT_GT(looks, 400);
  stage.pass(kSecond);
  EXPECT_TRUE(client->closed());
  EXPECT_EQ(client->take(), "") << "its turn is lost, and nobody is told";
  EXPECT_EQ(stage.primary(), standby);
  EXPECT_EQ(stage.ask(standby, {"GET", "n"}), "$-1\r\n");
}

TEST(ShardRole, GoesToWhoHadItWhenTheProcessStops) {
  ShardStage stage;
  Node* const first = stage.primary();
  Node* const second = stage.standby();
  stage.meet();
  EXPECT_TRUE(first->member->order({.kind = MemberOrder::Kind::kSwitchover, .node = second->name}));
  stage.pass(300 * kMs);
  ASSERT_EQ(stage.primary(), second);
  stage.pass(3 * kSecond);  // until the registry shows what they have become
  StageClient* const client = stage.connect(second);
  client->send({"INCR", "n"});
  second->member->begin_to_leave();
  EXPECT_FALSE(second->member->has_left());
  stage.pass(300 * kMs);
  EXPECT_EQ(stage.primary(), second) << "the other one has not told of itself since";
  stage.pass(6 * kSecond);
  EXPECT_TRUE(second->member->has_left());
  EXPECT_EQ(stage.primary(), first);
  EXPECT_TRUE(client->closed()) << "after its answer";
  const std::string told = client->take();
  EXPECT_EQ(stage.ask(first, {"GET", "n"}), told == ":1\r\n" ? "$1\r\n1\r\n" : "$-1\r\n") << told;
}

// Who came to a standby asks anew, and so does who comes by what somebody said before. Subscribers
// stay to hear of it.
TEST(ShardRole, ClientsThatLookForThePrimaryAreSentAwayWhereItIsNot) {
  ShardStage stage({}, 3);
  stage.meet();
  Node* const first = stage.primary();
  Node* const second = stage.standby();
  StageClient* const here = stage.connect(first);
  StageClient* const there = stage.connect(second);
  StageClient* const listens = stage.connect(second);
  stage.call(listens, {"SUBSCRIBE", "+switch-master"});
  EXPECT_EQ(stage.call(here, {"WEIR", "SWITCHOVER", second->name}), "+OK\r\n");
  stage.pass(300 * kMs);
  ASSERT_EQ(stage.primary(), second);
  EXPECT_TRUE(here->closed());
  EXPECT_FALSE(there->closed()) << "it is where it wanted to be";
  EXPECT_FALSE(listens->closed());
  StageClient* const late = stage.connect(first);
  EXPECT_THAT(stage.call(late, {"GET", "n"}), StartsWith("-READONLY"));
  stage.pass(kSecond);
  EXPECT_TRUE(late->closed());
  StageClient* const later = stage.connect(first);
  stage.pass(5 * kSecond);
  EXPECT_FALSE(later->closed()) << "twice is enough";
}

// It stands in the registry with more turns than the others, and was killed.
TEST(ShardRole, DoesNotGoToAStandbyThatWasKilled) {
  ShardStage stage;
  stage.meet();
  Node* const primary = stage.primary();
  Node* const standby = stage.standby();
  storage::replication::MemberFacts killed;
  killed.author = {.node = std::string(40, 'f'), .address = "10.0.0.9:6379", .incarnation = {1, 2}};
  killed.role = storage::replication::Role::kFollowing;
  killed.applied_turn = 1000;
  for (int i = 0; i < 3; ++i) stage.forge_facts(killed.author.node, killed);
  stage.pass(3 * kSecond);
  ASSERT_EQ(primary->member->members().size(), 3u);
  primary->member->begin_to_leave();
  stage.pass(6'300 * kMs);
  EXPECT_EQ(stage.primary(), standby);
  EXPECT_EQ(primary->member->protocol().log_state().primary().node, standby->name);
  EXPECT_TRUE(primary->member->has_left());
}

TEST(ShardRole, WaitsForAStandbyThatStartsAnewAndServesMeanwhile) {
  ShardStage stage;
  stage.meet();
  Node* const primary = stage.primary();
  Node* const standby = stage.standby();
  standby->member->begin_to_leave();
  stage.pass(300 * kMs);
  EXPECT_TRUE(standby->member->has_left());
  stage.pass(2 * kSecond);
  for (const MemberSeen& seen : primary->member->members()) {
    if (seen.is_self) continue;
    EXPECT_EQ(seen.state, "leaving");
    EXPECT_FALSE(seen.is_standby);
  }
  primary->member->begin_to_leave();
  stage.pass(1 * kSecond);
  EXPECT_FALSE(primary->member->has_left());
  EXPECT_EQ(stage.ask(primary, {"INCR", "n"}), ":1\r\n");
  stage.restart(standby);
  stage.pass(5 * kSecond);
  EXPECT_TRUE(primary->member->has_left());
  EXPECT_EQ(stage.primary(), standby) << "it was given the role once it followed";
  EXPECT_EQ(stage.ask(standby, {"GET", "n"}), "$1\r\n1\r\n");
}

TEST(ShardRole, StopsWithWhatIsCommittedWhereNobodyIsKnown) {
  ShardStage stage;
  Node* const primary = stage.primary();
  StageClient* const client = stage.connect(primary);
  stage.call(client, {"INCR", "n"}, kMs);
  primary->member->begin_to_leave();
  stage.pass(50 * kMs);
  EXPECT_TRUE(primary->member->has_left());
  EXPECT_EQ(client->take(), ":1\r\n");
}

TEST(ShardRole, AStopWaitsForALogThatIsAwayAsLongAsForItsAnswer) {
  ShardStage stage;
  Node* const primary = stage.primary();
  stage.take_log_away(10 * kSecond);
  StageClient* const client = stage.connect(primary);
  stage.call(client, {"INCR", "n"}, kMs);
  primary->member->begin_to_leave();
  stage.pass(1'500 * kMs);
  EXPECT_FALSE(primary->member->has_left());
  stage.pass(kSecond);
  EXPECT_TRUE(primary->member->has_left());
}

TEST(ShardRole, wait_and_info_agree) {
  ShardStage stage;
  Node* const primary = stage.primary();
  EXPECT_EQ(stage.metric(primary, "connected_slaves"), 0);
  EXPECT_EQ(stage.ask(primary, {"WAIT", "1", "0"}), ":0\r\n");
  EXPECT_EQ(stage.ask(primary, {"WAITAOF", "1", "0", "0"}), "*2\r\n:1\r\n:0\r\n");
  EXPECT_THAT(stage.ask(stage.standby(), {"WAIT", "1", "0"}), StartsWith("-ERR WAIT cannot"));
}

// A take that has left early is told of, and WAIT says whether the log has it.
TEST(ShardRole, WaitWaitsForTheLog) {
  MemberSettings settings;
  settings.replies.early_wait_ns = 0;
  settings.replies.early.age_ns_max = 120 * kSecond;
  ShardStage stage(settings);
  StageClient* const client = stage.connect(stage.primary());
  StageClient* const other = stage.connect(stage.primary());
  stage.block_appends(kSecond);
  EXPECT_THAT(stage.call(client, {"RL.TAKE", "l", "5/1d"}), StartsWith("*6\r\n:1\r\n"));
  EXPECT_EQ(stage.call(client, {"WAIT", "1", "0"}), "");
  EXPECT_EQ(stage.call(other, {"WAITAOF", "1", "0", "0"}), "");
  stage.pass(3 * kSecond);
  EXPECT_EQ(client->take(), ":0\r\n");
  EXPECT_EQ(other->take(), "*2\r\n:1\r\n:0\r\n");
}

}  // namespace
}  // namespace weir::server
