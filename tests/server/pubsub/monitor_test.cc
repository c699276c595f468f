// MONITOR: every command as it was sent, in order, after whatever else the monitor is told.
#include <gtest/gtest.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

const std::string kFrom = "+1700000000.000000 [0 127.0.0.1:50001] ";
const std::string kFromLua = "+1700000000.000000 [0 lua] ";

class MonitorTest : public ::testing::Test {
 protected:
  void watch() { ASSERT_EQ(monitor_->call({"MONITOR"}), "+OK\r\n"); }
  std::string seen(std::initializer_list<std::string_view> words) {
    client_->call(words);
    return monitor_->take();
  }

  FakeServer server_;
  std::unique_ptr<FakeClient> client_ = server_.connect();
  std::unique_ptr<FakeClient> monitor_ = server_.connect();
};

TEST_F(MonitorTest, LinesAreRedis) {
  watch();
  EXPECT_EQ(seen({"SET", "k", "a\"\n\x01"}), kFrom + R"("SET" "k" "a\"\n\x01")" + "\r\n");
  EXPECT_EQ(seen({"get", "k"}), kFrom + "\"get\" \"k\"\r\n");
  EXPECT_EQ(seen({"SELECT", "1"}), "+1700000000.000000 [1 127.0.0.1:50001] \"SELECT\" \"1\"\r\n");
}

TEST_F(MonitorTest, WhatIsRefusedOrForAdministratorsIsNotShown) {
  watch();
  EXPECT_EQ(seen({"NOSUCH"}), "");
  EXPECT_EQ(seen({"GET"}), "");
  EXPECT_EQ(seen({"CONFIG", "GET", "port"}), "");
  EXPECT_EQ(seen({"SLOWLOG", "LEN"}), "");
  EXPECT_EQ(seen({"INCR", "k", "x"}), "");
  client_->call({"SET", "k", "x"});
  monitor_->take();
  EXPECT_EQ(seen({"INCR", "k"}), kFrom + "\"INCR\" \"k\"\r\n");  // although it fails
}

TEST_F(MonitorTest, SecretsAreLeftOut) {
  watch();
  EXPECT_EQ(seen({"AUTH", "secret"}), kFrom + "\"AUTH\" \"(redacted)\"\r\n");
  EXPECT_EQ(seen({"HELLO", "2", "auth", "u", "secret"}),
            kFrom + "\"HELLO\" \"2\" \"auth\" \"(redacted)\" \"(redacted)\"\r\n");
}

TEST_F(MonitorTest, TransactionsWhenTheyRunAndScriptsBeforeWhatTheyCall) {
  watch();
  EXPECT_EQ(seen({"MULTI"}), kFrom + "\"MULTI\"\r\n");
  EXPECT_EQ(seen({"PING"}), "");
  EXPECT_EQ(seen({"EXEC"}), kFrom + "\"PING\"\r\n" + kFrom + "\"EXEC\"\r\n");
  EXPECT_EQ(seen({"EVAL", "return redis.call('GET', KEYS[1])", "1", "k"}),
            kFrom + "\"EVAL\" \"return redis.call('GET', KEYS[1])\" \"1\" \"k\"\r\n" + kFromLua +
                "\"GET\" \"k\"\r\n");
}

TEST_F(MonitorTest, ItsOwnCommandsStandAfterTheirReplies) {
  watch();
  EXPECT_EQ(monitor_->call({"PING"}), "+PONG\r\n" + kFrom + "\"PING\"\r\n");
  EXPECT_EQ(monitor_->call({"MONITOR"}), "");
  EXPECT_EQ(monitor_->call({"GET", "k"}), "-ERR Replica can't interact with the keyspace\r\n");
  monitor_->call({"HELLO", "3"});
  EXPECT_EQ(seen({"PING"}), kFrom + "\"PING\"\r\n");  // no push in RESP3 either
}

TEST_F(MonitorTest, NeverInsideTransactionsOrScripts) {
  client_->send(request({"MULTI"}) + request({"MONITOR"}));
  EXPECT_EQ(client_->call({"EXEC"}),
            "*1\r\n-ERR MONITOR isn't allowed for DENY BLOCKING client\r\n");
  EXPECT_FALSE(server_->messages().monitors().any());
}

TEST_F(MonitorTest, ResetAndLeavingEndIt) {
  watch();
  EXPECT_EQ(monitor_->call({"RESET"}), "+RESET\r\n");
  EXPECT_EQ(seen({"PING"}), "");
  EXPECT_FALSE(server_->messages().monitors().any());
  watch();
  monitor_->leave();
  EXPECT_FALSE(server_->messages().monitors().any());
  EXPECT_EQ(client_->call({"PING"}), "+PONG\r\n");
}

TEST_F(MonitorTest, WhoDoesNotReadIsDisconnected) {
  server_->config().client_output_buffer_limit.pubsub = {.hard_bytes = 100'000};
  watch();
  monitor_->reads = false;
  const std::string value(10'000, 'x');
  for (int i = 0; i < 20 && !monitor_->closed(); ++i) client_->call({"SET", "k", value});
  EXPECT_TRUE(monitor_->closed());
  EXPECT_FALSE(server_->messages().monitors().any());
}

TEST_F(MonitorTest, OneScriptThatMakesTooManyLinesEndsWhoWatches) {
  server_->config().client_output_buffer_limit.pubsub = {.hard_bytes = 100'000};
  watch();
  const std::string_view script =
      "local x = string.rep('x', 60000) redis.call('ECHO', x) redis.call('ECHO', x)"
      " redis.call('SET', 'k', 'v') return 1";
  EXPECT_EQ(client_->call({"EVAL", script, "0"}), ":1\r\n");
  EXPECT_TRUE(monitor_->closed());
  EXPECT_EQ(monitor_->take().find("ECHO"), std::string::npos);
  EXPECT_FALSE(server_->messages().monitors().any());
  monitor_ = server_.connect();
  watch();
  EXPECT_EQ(seen({"GET", "k"}), kFrom + "\"GET\" \"k\"\r\n");
}

}  // namespace
}  // namespace weir::server
