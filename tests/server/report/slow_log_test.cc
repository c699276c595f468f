// SLOWLOG: what gets into it, cut and with its secrets left out, and what it costs to find that
// out.
#include "server/report/slow_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/command/redaction.h"
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using ::testing::ElementsAre;

TEST(SlowLog, CutsArgumentsAsRedisDoes) {
  SlowLog log;
  const std::string long_one(130, 'y');
  std::vector<std::string_view> args(40, "x");
  args[1] = long_one;
  log.add({}, args, args.size());
  const auto& kept = log.entries().front().args;
  ASSERT_EQ(kept.size(), 32u);
  EXPECT_EQ(kept[1], std::string(128, 'y') + "... (2 more bytes)");
  EXPECT_EQ(kept[30], "x");
  EXPECT_EQ(kept[31], "... (9 more arguments)");
  log.add({}, std::vector<std::string_view>(32, "x"), 32);
  EXPECT_EQ(log.entries().front().args.size(), 32u);
  EXPECT_EQ(log.entries().front().args.back(), "x");
}

TEST(SlowLog, KeepsATraceThatWouldBeCutOff) {
  SlowLog log;
  std::vector<std::string_view> args(40, "x");
  args[39] = "trace";
  log.add({}, std::span(args).first(34), args.size(), "trace");
  const auto& kept = log.entries().front().args;
  ASSERT_EQ(kept.size(), 32u);
  EXPECT_EQ(kept[29], "x");
  EXPECT_EQ(kept[30], "trace");
  EXPECT_EQ(kept[31], "... (9 more arguments)");
  args[3] = "trace";
  log.add({}, args, args.size(), "trace");
  EXPECT_EQ(log.entries().front().args[30], "x");
}

TEST(SlowLog, KeepsTheNewestAndNeverGivesAnIdAgain) {
  SlowLog log;
  log.set_rules({.slower_than_us = 0, .entries_max = 2});
  for (int i = 0; i < 3; ++i) log.add({}, {}, 0);
  ASSERT_EQ(log.entries().size(), 2u);
  EXPECT_EQ(log.entries()[0].id, 2u);
  EXPECT_EQ(log.entries()[1].id, 1u);
  log.clear();
  log.add({}, {}, 0);
  EXPECT_EQ(log.entries()[0].id, 3u);
}

// A coarse clock may have stood still for a step, and a late one, before it moved.
TEST(SlowLog, SuspectsWhatTheCoarseClockCannotRuleOut) {
  SlowLog log;
  log.set_rules({.slower_than_us = 10'000, .coarse_step_ns = 4 * kMs});
  EXPECT_FALSE(log.may_be_slow(2 * kMs - 1));
  EXPECT_TRUE(log.may_be_slow(2 * kMs));
  EXPECT_FALSE(log.wants_exact_begin());
  EXPECT_FALSE(log.is_slow(10 * kMs - 1));
  EXPECT_TRUE(log.is_slow(10 * kMs));
  log.set_rules({.slower_than_us = 5'000, .coarse_step_ns = 4 * kMs});
  EXPECT_TRUE(log.wants_exact_begin());
  EXPECT_TRUE(log.may_be_slow(-100 * kMs));
}

TEST(SlowLog, OffIsOff) {
  SlowLog log;
  for (const auto& rules :
       {SlowLog::Rules{.slower_than_us = -1}, SlowLog::Rules{.slower_than_us = 0, .entries_max = 0},
        SlowLog::Rules{.slower_than_us = INT64_MAX}}) {
    log.set_rules(rules);
    EXPECT_FALSE(log.may_be_slow(INT64_MAX - 1));
    EXPECT_FALSE(log.is_slow(INT64_MAX));
  }
}

class SlowCommands : public ::testing::Test {
 protected:
  explicit SlowCommands(int64_t slower_than_us = 10'000) : server_(config(slower_than_us)) {}

  static Config config(int64_t slower_than_us) {
    Config config;
    config.slowlog_log_slower_than = slower_than_us;
    return config;
  }
  const std::deque<SlowLog::Entry>& entries() { return server_->report().slow_log.entries(); }

  FakeServer server_;
  std::unique_ptr<FakeClient> client_ = server_.connect();
};

class AllCommands : public SlowCommands {
 protected:
  AllCommands() : SlowCommands(0) {}
};

TEST_F(SlowCommands, OnlyWhatTakesLongIsLogged) {
  client_->call({"SET", "k", "v"});
  EXPECT_TRUE(entries().empty());
  server_.clock.tick_per_look_ns = 11 * kMs;
  client_->call({"CLIENT", "SETNAME", "me"});
  client_->call({"GET", "k"});
  server_.clock.tick_per_look_ns = 0;
  ASSERT_EQ(entries().size(), 2u);
  EXPECT_THAT(entries()[0].args, ElementsAre("GET", "k"));
  EXPECT_GE(entries()[0].duration_us, 11'000);
  EXPECT_EQ(entries()[0].address, "127.0.0.1:50001");
  EXPECT_EQ(entries()[0].client_name, "me");
  EXPECT_EQ(entries()[0].unix_s, 1'700'000'000);
}

TEST_F(AllCommands, RepliesHaveSixParts) {
  client_->call({"ECHO", "x"});
  EXPECT_EQ(client_->call({"SLOWLOG", "GET", "1"}),
            "*1\r\n*6\r\n:0\r\n:1700000000\r\n:0\r\n*2\r\n" + bulk("ECHO") + bulk("x") +
                bulk("127.0.0.1:50001") + bulk(""));
  EXPECT_EQ(client_->call({"SLOWLOG", "LEN"}), ":2\r\n");
  EXPECT_EQ(client_->call({"SLOWLOG", "RESET"}), "+OK\r\n");
  EXPECT_EQ(client_->call({"SLOWLOG", "LEN"}), ":1\r\n");
  EXPECT_EQ(client_->call({"SLOWLOG", "GET", "-2"}),
            "-ERR count should be greater than or equal to -1\r\n");
}

TEST_F(AllCommands, SecretsAreLeftOut) {
  client_->call({"AUTH", "me", "secret"});
  client_->call({"HELLO", "3", "AUTH", "me", "secret", "SETNAME", "n"});
  client_->call({"CONFIG", "SET", "timeout", "0", "requirepass", "secret"});
  ASSERT_EQ(entries().size(), 3u);
  EXPECT_THAT(entries()[2].args, ElementsAre("AUTH", "(redacted)", "(redacted)"));
  EXPECT_THAT(entries()[1].args,
              ElementsAre("HELLO", "3", "AUTH", "(redacted)", "(redacted)", "SETNAME", "n"));
  EXPECT_THAT(entries()[0].args,
              ElementsAre("CONFIG", "SET", "timeout", "0", "requirepass", "(redacted)"));
}

// Redis has these options and weir has not: the request is refused, and shown all the same.
TEST_F(AllCommands, SecretsOfUnknownOptionsAreLeftOut) {
  client_->call({"CONFIG", "SET", "masterauth", "secret", "TLS-key-file-pass", "secret", "x", "1"});
  EXPECT_THAT(entries()[0].args, ElementsAre("CONFIG", "SET", "masterauth", "(redacted)",
                                             "TLS-key-file-pass", "(redacted)", "x", "1"));
}

TEST_F(AllCommands, InsideTransactionsAndScripts) {
  client_->send(request({"MULTI"}) + request({"PING"}) + request({"EXEC"}));
  client_->call({"EVAL", "return redis.call('GET', 'k')", "0"});
  ASSERT_EQ(entries().size(), 4u);
  EXPECT_THAT(entries()[3].args, ElementsAre("MULTI"));
  EXPECT_THAT(entries()[2].args, ElementsAre("PING"));  // and no EXEC
  EXPECT_EQ(entries()[2].address, "127.0.0.1:50001");
  EXPECT_THAT(entries()[1].args, ElementsAre("GET", "k"));
  EXPECT_EQ(entries()[1].address, "?:0");
  EXPECT_EQ(entries()[0].args[0], "EVAL");
}

TEST_F(AllCommands, RefusedAndWaitingOnesAreNot) {
  client_->call({"NOSUCH"});
  client_->call({"GET"});
  client_->call({"BLPOP", "l", "0"});
  EXPECT_TRUE(entries().empty());
}

TEST_F(SlowCommands, OptionsTakeEffectAtOnce) {
  client_->call({"CONFIG", "SET", "slowlog-log-slower-than", "0", "slowlog-max-len", "1"});
  client_->call({"PING"});
  EXPECT_EQ(entries().size(), 1u);
  client_->call({"CONFIG", "SET", "slowlog-log-slower-than", "-1"});
  client_->call({"SLOWLOG", "RESET"});
  client_->call({"PING"});
  EXPECT_TRUE(entries().empty());
}

}  // namespace
}  // namespace weir::server
