// The way to the keyspace: who is let in, what an error leaves behind, what is counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using testing::StartsWith;

class ExecutorTest : public testing::Test {
 protected:
  std::string call(std::initializer_list<std::string_view> words) { return client_->call(words); }
  const CommandMetrics& metrics(std::string_view name) {
    const Executor& executor = server_->executor();
    return executor.metrics(*executor.table().find(name));
  }

  FakeServer server_;
  std::unique_ptr<FakeClient> client_ = server_.connect();
};

TEST_F(ExecutorTest, UnknownCommandsAreQuotedInPart) {
  EXPECT_EQ(call({"nosuch"}), "-ERR unknown command 'nosuch', with args beginning with: \r\n");
  EXPECT_EQ(call({"NoSuch", "a", "b c"}),
            "-ERR unknown command 'NoSuch', with args beginning with: 'a' 'b c' \r\n");
  EXPECT_EQ(call({"x\r\ny"}), "-ERR unknown command 'x  y', with args beginning with: \r\n");
  const std::string reply = call({std::string(500, 'n'), std::string(500, 'a')});
  EXPECT_EQ(reply, "-ERR unknown command '" + std::string(128, 'n') +
                       "', with args beginning with: '" + std::string(128, 'a') + "' \r\n");
}

TEST_F(ExecutorTest, NamesAreInAnyCase) {
  EXPECT_EQ(call({"pInG"}), "+PONG\r\n");
  EXPECT_EQ(call({"cOnFiG", "gEt", "nosuch"}), "*0\r\n");
  // A subcommand's row is not a command.
  EXPECT_THAT(call({"config|get", "x"}), StartsWith("-ERR unknown command 'config|get'"));
}

TEST_F(ExecutorTest, ArityIsTheRows) {
  EXPECT_EQ(call({"GET"}), "-ERR wrong number of arguments for 'get' command\r\n");
  EXPECT_EQ(call({"GET", "a", "b"}), "-ERR wrong number of arguments for 'get' command\r\n");
  EXPECT_EQ(call({"CONFIG"}), "-ERR wrong number of arguments for 'config' command\r\n");
  EXPECT_EQ(call({"CONFIG", "GET"}), "-ERR wrong number of arguments for 'config|get' command\r\n");
  EXPECT_EQ(call({"CONFIG", "nosuch"}), "-ERR unknown subcommand 'nosuch'. Try CONFIG HELP.\r\n");
}

TEST_F(ExecutorTest, AnErrorLeavesNothingBehind) {
  call({"SET", "a", "text"});
  const uint64_t turn = server_->keys().turn();
  EXPECT_THAT(call({"INCR", "a"}), StartsWith("-ERR "));
  EXPECT_THAT(call({"CL.THROTTLE", "a", "1", "1", "1"}), StartsWith("-WRONGTYPE "));
  EXPECT_THAT(call({"SET", "a", "x", "EX", "0"}), StartsWith("-ERR "));
  EXPECT_EQ(server_->keys().turn(), turn);
  EXPECT_EQ(call({"GET", "a"}), bulk("text"));
}

// Written back and forgotten, so that it must be read from the disk.
TEST_F(ExecutorTest, AFailedReadIsNeverAnAbsence) {
  call({"SET", "a", "1"});
  for (int i = 0; i < 10; ++i) server_.advance(kSecond);
  FakeServer restarted({}, server_.disk().after_kill());
  auto client = restarted.connect();
  restarted.disk().faults.get = 1;
  EXPECT_EQ(client->call({"EXISTS", "a"}),
            "-MISCONF a record could not be read: injected failure of a read\r\n");
  restarted.disk().faults.get = 1;
  EXPECT_THAT(client->call({"SETNX", "a", "2"}), StartsWith("-MISCONF "));
  restarted.disk().faults.get = 2;
  EXPECT_THAT(client->call({"MSET", "b", "1", "a", "3"}), StartsWith("-MISCONF "));
  restarted.disk().faults.get = 1;
  EXPECT_THAT(client->call({"CL.THROTTLE", "l", "1", "1", "1"}), StartsWith("-MISCONF "));
  EXPECT_EQ(client->call({"MGET", "a", "b"}), "*2\r\n" + bulk("1") + "$-1\r\n");
}

TEST_F(ExecutorTest, CommandsOfATurnSeeTheirOwnInstants) {
  server_->config().enable_debug_command = DebugAccess::kYes;
  EXPECT_EQ(client_->send(request({"TIME"}) + request({"DEBUG", "SLEEP", "2"}) + request({"TIME"})),
            "*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n+OK\r\n*2\r\n$10\r\n1700000002\r\n$1\r\n0\r\n");
}

TEST_F(ExecutorTest, CountsCallsRejectionsAndFailures) {
  call({"SET", "a", "text"});
  call({"GET"});
  call({"GET", "a"});
  call({"INCR", "a"});
  EXPECT_EQ(metrics("get").calls, 1u);
  EXPECT_EQ(metrics("get").rejected, 1u);
  EXPECT_EQ(metrics("get").failed, 0u);
  EXPECT_EQ(metrics("incr").calls, 1u);
  EXPECT_EQ(metrics("incr").failed, 1u);
  EXPECT_EQ(server_->report().stats.commands, 4u);
  EXPECT_EQ(server_->report().stats.error_replies, 2u);
}

}  // namespace
}  // namespace weir::server
