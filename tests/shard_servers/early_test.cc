// What a primary answers while the log is slow or away. Tests in small letters have the names of
// the protocol's traps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/shard_servers/stage.h"

namespace weir::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kAway = "-MASTERDOWN the log does not answer\r\n";
constexpr std::string_view kGranted = "*6\r\n:1\r\n";

MemberSettings early(int64_t wait_ns) {
  MemberSettings settings;
  settings.replies.early_wait_ns = wait_ns;
  settings.replies.early.age_ns_max = 120 * kSecond;
  return settings;
}

std::string take(ShardStage* stage, StageClient* client, std::string_view key,
                 std::string_view cost = "1", int64_t ns = 50 * kMs) {
  return stage->call(client, {"RL.TAKE", key, "FIXED", "100/1d", "COST", cost}, ns);
}

int64_t left_of(ShardStage* stage, std::string_view key) {
  const std::string reply =
      stage->ask(stage->primary(), {"RL.PEEK", key, "FIXED", "100/1d", "COST", "0"});
  const size_t at = reply.find("\r\n:100\r\n:");
  EXPECT_NE(at, std::string::npos) << reply;
  return at == std::string::npos ? -1 : std::atoll(reply.c_str() + at + 9);
}

TEST(LogAway, StrictRepliesHaveAnEnd) {
  ShardStage stage;
  Node* const primary = stage.primary();
  StageClient* const waits = stage.connect(primary);
  StageClient* const other = stage.connect(primary);
  EXPECT_EQ(stage.call(waits, {"INCR", "n"}), ":1\r\n");
  stage.take_log_away(10 * kSecond);
  EXPECT_EQ(stage.call(waits, {"INCR", "n"}, 1'900 * kMs), "");
  EXPECT_FALSE(waits->closed());
  stage.pass(300 * kMs);
  EXPECT_TRUE(waits->closed());
  EXPECT_EQ(waits->take(), "") << "closed, not answered";
  EXPECT_EQ(stage.call(other, {"INCR", "n"}, 2 * kMs), kAway);
  EXPECT_EQ(stage.call(other, {"GET", "n"}, 2 * kMs), kAway);
  EXPECT_EQ(stage.call(other, {"RL.TAKE", "l", "5/1s"}, 2 * kMs), kAway);
  EXPECT_EQ(stage.call(other, {"EVAL", "return 1", "0"}, 2 * kMs), kAway);
  EXPECT_EQ(stage.call(other, {"MULTI"}, 2 * kMs), "+OK\r\n");
  EXPECT_EQ(stage.call(other, {"INCR", "n"}, 2 * kMs), kAway);
  EXPECT_THAT(stage.call(other, {"EXEC"}, 2 * kMs), StartsWith("-EXECABORT"));
  stage.pass(12 * kSecond);
  EXPECT_EQ(stage.primary(), primary);
  EXPECT_EQ(stage.call(other, {"INCR", "n"}), ":3\r\n") << "the same state goes on";
  EXPECT_EQ(stage.metric(primary, "shard_promotions"), 1);
}

TEST(LogAway, ping_is_not_held) {
  ShardStage stage;
  StageClient* const other = stage.connect(stage.primary());
  stage.take_log_away(10 * kSecond);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(stage.call(other, {"PING"}, 2 * kMs), "+PONG\r\n");
    EXPECT_THAT(stage.call(other, {"INFO", "replication"}, 2 * kMs), HasSubstr("role:master"));
    stage.pass(kSecond);
  }
  EXPECT_GT(stage.metric(stage.primary(), "log_away_ms"), 3'000);
}

TEST(LogAway, ThoseWhoAreToldOfChangesEndAfterTheLease) {
  ShardStage stage;
  StageClient* const listens = stage.connect(stage.primary());
  StageClient* const tracks = stage.connect(stage.primary());
  StageClient* const idle = stage.connect(stage.primary());
  stage.call(listens, {"SUBSCRIBE", "c"});
  stage.call(tracks, {"HELLO", "3"});
  stage.call(tracks, {"CLIENT", "TRACKING", "ON"});
  stage.call(idle, {"PING"});
  stage.take_log_away(10 * kSecond);
  stage.pass(2'800 * kMs);
  EXPECT_FALSE(listens->closed() || tracks->closed());
  stage.pass(kSecond);
  EXPECT_TRUE(listens->closed() && tracks->closed());
  EXPECT_FALSE(idle->closed());
}

TEST(LogAway, old_primaries_clients) {
  MemberSettings settings = early(20 * kMs);
  settings.replies.log_timeout_ns = 5 * kSecond;  // it is demoted before anybody is given up
  ShardStage stage(settings);
  Node* const primary = stage.primary();
  StageClient* const holds = stage.connect(primary);
  StageClient* const idle = stage.connect(primary);
  StageClient* const took = stage.connect(primary);
  StageClient* const listens = stage.connect(primary);
  StageClient* const blocks = stage.connect(primary);
  EXPECT_EQ(stage.call(idle, {"INCR", "n"}), ":1\r\n");
  stage.call(listens, {"SUBSCRIBE", "c"});
  stage.call(blocks, {"BLPOP", "list", "0"});
  stage.cut_off(primary, 3'200 * kMs);
  stage.pass(1'700 * kMs);
  EXPECT_EQ(stage.call(holds, {"INCR", "n"}), "");
  EXPECT_THAT(take(&stage, took, "l", "3"), StartsWith(kGranted));
  for (int i = 0; i < 60 && (primary->member->serves() || stage.primary() == nullptr); ++i)
    stage.pass(100 * kMs);
  ASSERT_FALSE(primary->member->serves());
  stage.pass(100 * kMs);
  EXPECT_TRUE(holds->closed());
  EXPECT_EQ(holds->take(), "");
  EXPECT_TRUE(listens->closed());
  EXPECT_TRUE(idle->closed() && took->closed()) << "they are to look for the primary";
  EXPECT_THAT(blocks->take(), StartsWith("-UNBLOCKED"));
  EXPECT_THAT(stage.ask(primary, {"GET", "n"}), StartsWith("-READONLY"));
  EXPECT_EQ(stage.metric(primary, "early_permits"), 0);
  EXPECT_EQ(stage.metric(primary, "early_permits_lost"), 3);
  EXPECT_EQ(left_of(&stage, "l"), 100);
}

TEST(EarlyRelease, TakesWaitForAWhileAndGoOn) {
  ShardStage stage(early(20 * kMs));
  Node* const primary = stage.primary();
  StageClient* const client = stage.connect(primary);
  stage.take_log_away(10 * kSecond);
  EXPECT_EQ(take(&stage, client, "l", "1", 15 * kMs), "");
  stage.pass(10 * kMs);
  EXPECT_THAT(client->take(), StartsWith(kGranted));
  stage.pass(3 * kSecond);
  EXPECT_THAT(take(&stage, client, "l", "2"), StartsWith(kGranted));
  EXPECT_THAT(take(&stage, client, "l", "98"), StartsWith("*6\r\n:0\r\n")) << "a denial, too";
  for (const auto& words : std::initializer_list<std::initializer_list<std::string_view>>{
           {"CL.THROTTLE", "t", "9", "10", "60"},
           {"RL.MTAKE", "2", "x", "y", "5/1d", "6/1d"},
           {"RL.RESERVE", "r", "5/1d"},
           {"RL.ACQUIRE", "a", "5/1d", "TIMEOUT", "1s"},
           {"INCREX", "i", "UBOUND", "9"}}) {
    const std::string reply = stage.call(client, words);
    EXPECT_THAT(reply, StartsWith("*")) << *words.begin();
  }
  EXPECT_EQ(stage.ask(primary, {"INCR", "n"}), kAway);
  EXPECT_GT(stage.metric(primary, "uncommitted_turns"), 0);
  EXPECT_GT(stage.metric(primary, "uncommitted_bytes"), 0);
  EXPECT_EQ(stage.metric(primary, "early_permits"), 3 + 1 + 2 + 1 + 1 + 1);
  stage.pass(10 * kSecond);
  EXPECT_EQ(stage.primary(), primary);
  EXPECT_EQ(stage.metric(primary, "uncommitted_bytes"), 0);
  EXPECT_EQ(stage.metric(primary, "early_permits"), 0);
  EXPECT_EQ(stage.metric(primary, "early_permits_lost"), 0);
  EXPECT_EQ(left_of(&stage, "l"), 97);
}

TEST(EarlyRelease, BoundedModeWaitsForNothing) {
  MemberSettings settings = early(0);
  settings.append_interval_ns = 20 * kMs;
  ShardStage stage(settings);
  StageClient* const client = stage.connect(stage.primary());
  for (int i = 0; i < 20; ++i)
    EXPECT_THAT(take(&stage, client, "l", "1", kMs), StartsWith(kGranted));
  stage.pass(100 * kMs);
  EXPECT_EQ(stage.metric(stage.primary(), "early_permits"), 0);
}

// Also: it never overtakes a pending reply, and never applies to locks, scripts or EXEC.
TEST(EarlyRelease, early_release_counts_permits) {
  MemberSettings settings = early(20 * kMs);
  settings.replies.early.permits_max = 5;
  ShardStage stage(settings);
  Node* const primary = stage.primary();
  StageClient* const client = stage.connect(primary);
  StageClient* const late = stage.connect(primary);
  stage.take_log_away(10 * kSecond);
  EXPECT_THAT(take(&stage, client, "l", "3"), StartsWith(kGranted));
  EXPECT_EQ(take(&stage, late, "l", "3"), "") << "six are more than five";
  EXPECT_THAT(take(&stage, client, "l", "2"), StartsWith(kGranted));
  EXPECT_EQ(stage.metric(primary, "early_permits"), 5);
  EXPECT_THAT(take(&stage, client, "l", "100"), StartsWith("*6\r\n:0\r\n")) << "takes nothing";
  stage.pass(2'500 * kMs);
  EXPECT_TRUE(late->closed());
  EXPECT_EQ(take(&stage, client, "m", "1"), kAway);
  EXPECT_EQ(stage.metric(primary, "early_permits"), 5);
  stage.pass(10 * kSecond);
  EXPECT_EQ(left_of(&stage, "l"), 92);
  EXPECT_EQ(left_of(&stage, "m"), 100) << "what was refused has taken nothing";
}

TEST(EarlyRelease, NeverOvertakesAPendingReply) {
  ShardStage stage(early(20 * kMs));
  StageClient* const mixed = stage.connect(stage.primary());
  StageClient* const turns = stage.connect(stage.primary());
  stage.block_appends(kSecond);
  mixed->send({"RL.TAKE", "l", "5/1d"});
  mixed->send({"PING"});
  mixed->send({"INCR", "n"});
  mixed->send({"RL.TAKE", "l", "5/1d"});
  turns->send({"INCR", "n"});
  stage.pass(5 * kMs);
  turns->send({"RL.TAKE", "l", "5/1d"});
  stage.pass(100 * kMs);
  const std::string first = mixed->take();
  EXPECT_THAT(first, StartsWith(kGranted));
  EXPECT_THAT(first, ::testing::EndsWith("+PONG\r\n")) << "up to the first that has to wait";
  EXPECT_EQ(turns->take(), "");
  stage.pass(3 * kSecond);
  EXPECT_THAT(mixed->take(), StartsWith(":"));
  EXPECT_THAT(turns->take(), StartsWith(":"));
}

TEST(EarlyRelease, IsNotForLocksScriptsAndTransactions) {
  ShardStage stage(early(0));
  Node* const primary = stage.primary();
  StageClient* const lock = stage.connect(primary);
  StageClient* const script = stage.connect(primary);
  StageClient* const transaction = stage.connect(primary);
  StageClient* const counter = stage.connect(primary);
  stage.call(transaction, {"MULTI"});
  stage.call(transaction, {"RL.TAKE", "l", "5/1d"});
  stage.take_log_away(10 * kSecond);
  EXPECT_EQ(stage.call(lock, {"RL.TAKE", "pool", "CONCURRENCY", "1", "LEASE", "1h"}), "");
  EXPECT_EQ(stage.call(script, {"EVAL", "return redis.call('RL.TAKE', KEYS[1], '5/1d')", "1", "l"}),
            "");
  EXPECT_EQ(stage.call(transaction, {"EXEC"}), "");
  EXPECT_EQ(stage.call(counter, {"INCR", "n"}), "");
  stage.pass(3 * kSecond);
  EXPECT_TRUE(lock->closed() && script->closed() && transaction->closed() && counter->closed());
  EXPECT_EQ(stage.ask(primary, {"RL.TAKE", "other", "CONCURRENCY", "1", "LEASE", "1h"}), kAway);
  EXPECT_THAT(stage.ask(primary, {"RL.TAKE", "l", "5/1d"}), StartsWith(kGranted));
  stage.pass(10 * kSecond);
  EXPECT_THAT(stage.ask(primary, {"RL.TAKE", "other", "CONCURRENCY", "1", "LEASE", "1h"}),
              HasSubstr(":1\r\n"));
}

TEST(EarlyRelease, EndsWithTheTimeThatIsAllowed) {
  MemberSettings settings = early(20 * kMs);
  settings.replies.early.age_ns_max = 4 * kSecond;
  ShardStage stage(settings);
  StageClient* const client = stage.connect(stage.primary());
  stage.take_log_away(10 * kSecond);
  EXPECT_THAT(take(&stage, client, "l"), StartsWith(kGranted));
  stage.pass(3 * kSecond);
  EXPECT_THAT(take(&stage, client, "l"), StartsWith(kGranted));
  stage.pass(kSecond);
  EXPECT_EQ(take(&stage, client, "l"), kAway);
  EXPECT_FALSE(client->closed());
}

TEST(EarlyRelease, CountersAreThereIfAskedFor) {
  MemberSettings settings = early(20 * kMs);
  settings.replies.counts_leave_early = true;
  ShardStage stage(settings);
  stage.take_log_away(10 * kSecond);
  EXPECT_EQ(stage.ask(stage.primary(), {"INCR", "n"}), ":1\r\n");
  EXPECT_EQ(stage.ask(stage.primary(), {"DECRBY", "n", "3"}), ":-2\r\n");
  EXPECT_EQ(stage.metric(stage.primary(), "early_permits"), 4);
  EXPECT_EQ(stage.ask(stage.primary(), {"INCRBYFLOAT", "f", "1"}), "");
}

TEST(EarlyRelease, WritesEndWhereTooManyBytesWait) {
  for (const int64_t wait_ns : {kNotDue, 20 * kMs}) {
    MemberSettings settings = early(wait_ns);
    settings.replies.early.uncommitted_bytes_max = 1'000;
    ShardStage stage(settings);
    StageClient* const client = stage.connect(stage.primary());
    stage.take_log_away(10 * kSecond);
    EXPECT_EQ(stage.call(client, {"SET", "k", std::string(1'000, 'v')}), "");
    EXPECT_THAT(stage.ask(stage.primary(), {"SET", "k", "v"}),
                StartsWith("-MASTERDOWN the log has"));
    EXPECT_THAT(stage.ask(stage.primary(), {"RL.TAKE", "l", "5/1d"}),
                StartsWith("-MASTERDOWN the log has"));
    EXPECT_EQ(stage.ask(stage.primary(), {"GET", "k"}), "") << "it waits";
    stage.pass(15 * kSecond);
    EXPECT_EQ(stage.ask(stage.primary(), {"SET", "k", "v"}), "+OK\r\n");
  }
}

}  // namespace
}  // namespace weir::server
