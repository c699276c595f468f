// Transactions: what is queued, what ends them, what WATCH sees, and that they are one thing.
#include <gtest/gtest.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

const std::string kQueued = "+QUEUED\r\n";
const std::string kAborted = "-EXECABORT Transaction discarded because of previous errors.\r\n";

class MultiTest : public ::testing::Test {
 protected:
  // Whether a WATCH of `key` is spoiled by what the other client does.
  bool spoils(std::string_view key, const std::vector<std::string>& requests) {
    client_->call({"WATCH", key});
    for (const std::string& bytes : requests) other_->send(bytes);
    client_->call({"MULTI"});
    client_->call({"PING"});
    const std::string reply = client_->call({"EXEC"});
    EXPECT_TRUE(reply == "*-1\r\n" || reply == "*1\r\n+PONG\r\n") << reply;
    return reply == "*-1\r\n";
  }

  FakeServer server_;
  std::unique_ptr<FakeClient> client_ = server_.connect();
  std::unique_ptr<FakeClient> other_ = server_.connect();
};

TEST_F(MultiTest, RunsWhatWasQueuedInOrder) {
  EXPECT_EQ(client_->call({"MULTI"}), kOk);
  EXPECT_EQ(client_->call({"SET", "a", "1"}), kQueued);
  EXPECT_EQ(client_->call({"INCR", "a"}), kQueued);
  EXPECT_EQ(other_->call({"GET", "a"}), "$-1\r\n");
  EXPECT_EQ(client_->call({"EXEC"}), "*2\r\n+OK\r\n:2\r\n");
  EXPECT_EQ(client_->call({"EXEC"}), "-ERR EXEC without MULTI\r\n");
}

TEST_F(MultiTest, AFailingCommandIsTakenBackAlone) {
  const std::string reply =
      client_->send(request({"MULTI"}) + request({"SET", "a", "x"}) + request({"INCR", "a"}) +
                    request({"SET", "b", "1"}) + request({"EXEC"}));
  EXPECT_TRUE(
      reply.ends_with("*3\r\n+OK\r\n-ERR value is not an integer or out of range\r\n+OK\r\n"))
      << reply;
  EXPECT_EQ(client_->call({"MGET", "a", "b"}), "*2\r\n$1\r\nx\r\n$1\r\n1\r\n");
}

TEST_F(MultiTest, ARefusedCommandRefusesTheWhole) {
  for (const std::string& refused :
       {request({"NOSUCH"}), request({"GET"}), request({"SAVE"}), request({"MULTI", "x"})}) {
    client_->call({"MULTI"});
    client_->call({"SET", "a", "1"});
    EXPECT_EQ(client_->send(refused)[0], '-');
    EXPECT_EQ(client_->call({"EXEC"}), kAborted);
  }
  EXPECT_EQ(client_->call({"EXISTS", "a"}), ":0\r\n");
  client_->call({"MULTI"});
  EXPECT_EQ(client_->call({"MULTI"}), "-ERR MULTI calls can not be nested\r\n");
  EXPECT_EQ(client_->call({"WATCH", "a"}), "-ERR WATCH inside MULTI is not allowed\r\n");
  EXPECT_EQ(client_->call({"EXEC"}), "*0\r\n");
}

TEST_F(MultiTest, ARefusedExecEndsTheTransaction) {
  const std::string refusal =
      "-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' "
      "command\r\n";
  EXPECT_EQ(client_->call({"EXEC", "x"}), refusal);
  client_->call({"MULTI"});
  EXPECT_EQ(client_->call({"EXEC", "x"}), refusal);
  EXPECT_EQ(client_->call({"EXEC"}), "-ERR EXEC without MULTI\r\n");
}

TEST_F(MultiTest, DiscardAndResetForgetAll) {
  EXPECT_EQ(client_->call({"DISCARD"}), "-ERR DISCARD without MULTI\r\n");
  for (const char* ending : {"DISCARD", "RESET"}) {
    client_->call({"WATCH", "a"});
    client_->call({"MULTI"});
    client_->call({"SET", "b", "1"});
    other_->call({"APPEND", "a", "x"});
    client_->call({ending});
    EXPECT_EQ(client_->call({"EXEC"}), "-ERR EXEC without MULTI\r\n");
    client_->call({"MULTI"});
    EXPECT_EQ(client_->call({"EXEC"}), "*0\r\n");
  }
  EXPECT_EQ(client_->call({"EXISTS", "b"}), ":0\r\n");
}

TEST_F(MultiTest, WatchSeesEveryChangeAndNothingElse) {
  EXPECT_TRUE(spoils("a", {request({"SET", "a", "1"})}));
  EXPECT_FALSE(spoils("a", {request({"SET", "b", "1"}), request({"GET", "a"})}));
  EXPECT_FALSE(spoils("a", {request({"SETNX", "a", "2"}), request({"PERSIST", "a"})}));
  EXPECT_FALSE(spoils("nokey", {request({"DEL", "nokey"}), request({"EXPIRE", "nokey", "9"})}));
  EXPECT_TRUE(spoils("a", {request({"EXPIRE", "a", "100"})}));
  EXPECT_FALSE(spoils(
      "a", {request({"SELECT", "1"}), request({"SET", "a", "1"}), request({"SELECT", "0"})}));
  EXPECT_TRUE(spoils("a", {request({"EVAL", "return redis.call('DEL', KEYS[1])", "1", "a"})}));
  EXPECT_TRUE(spoils("a", {request({"MULTI"}), request({"INCR", "a"}), request({"EXEC"})}));
  EXPECT_TRUE(spoils("l", {request({"CL.THROTTLE", "l", "1", "1", "1"})}));
}

TEST_F(MultiTest, WatchSeesAnElementOfACollection) {
  other_->call({"HSET", "h", "f", "1"});
  EXPECT_TRUE(spoils("h", {request({"HINCRBY", "h", "f", "1"})}));
  EXPECT_TRUE(spoils("h", {request({"HSET", "h", "g", "1"})}));
  EXPECT_FALSE(spoils("h", {request({"HGET", "h", "g"}), request({"HDEL", "h", "nosuch"})}));
  other_->call({"SADD", "s", "x"});
  EXPECT_FALSE(spoils("s", {request({"SADD", "s", "x"}), request({"HSET", "h", "i", "1"})}));
  EXPECT_TRUE(spoils("s", {request({"SADD", "s", "y"})}));
  EXPECT_FALSE(spoils("no", {request({"SINTERSTORE", "no", "nosuch"}),
                             request({"ZUNIONSTORE", "no", "1", "nosuch"}),
                             request({"ZRANGESTORE", "no", "nosuch", "0", "1"})}));
  EXPECT_TRUE(spoils("s", {request({"SINTERSTORE", "s", "nosuch"})}));
}

TEST_F(MultiTest, WatchSeesWholeDatabasesChange) {
  EXPECT_FALSE(spoils("a", {request({"FLUSHALL"})}));
  EXPECT_FALSE(spoils("a", {request({"SWAPDB", "0", "1"})}));
  other_->call({"SET", "a", "1"});
  EXPECT_TRUE(spoils("a", {request({"SWAPDB", "0", "1"})}));  // it leaves
  EXPECT_TRUE(spoils("a", {request({"SWAPDB", "1", "0"})}));  // it comes
  EXPECT_FALSE(
      spoils("a", {request({"SELECT", "1"}), request({"FLUSHDB"}), request({"SELECT", "0"})}));
  EXPECT_TRUE(spoils("a", {request({"FLUSHDB"})}));
}

TEST_F(MultiTest, WatchSeesAKeyEndInTime) {
  client_->call({"SET", "a", "1", "PX", "1000"});
  client_->call({"WATCH", "a"});
  client_->call({"MULTI"});
  server_.advance(1'001 * kMs);
  EXPECT_EQ(client_->call({"EXEC"}), "*-1\r\n");
  EXPECT_FALSE(spoils("a", {request({"GET", "a"})}));  // it was gone before
}

TEST_F(MultiTest, ItsOwnChangeSpoilsAWatchToo) {
  client_->call({"WATCH", "a"});
  client_->call({"SET", "a", "1"});
  client_->call({"MULTI"});
  EXPECT_EQ(client_->call({"EXEC"}), "*-1\r\n");
  client_->call({"HELLO", "3"});
  client_->call({"WATCH", "a"});
  client_->call({"SET", "a", "1"});
  client_->call({"MULTI"});
  EXPECT_EQ(client_->call({"EXEC"}), "_\r\n");
}

TEST_F(MultiTest, ClientListShowsIt) {
  const auto line = [&] { return other_->call({"CLIENT", "LIST", "ID", "1"}); };
  client_->call({"WATCH", "a"});
  EXPECT_NE(line().find(" flags=N "), std::string::npos) << line();
  other_->call({"SET", "a", "1"});
  EXPECT_NE(line().find(" flags=d "), std::string::npos) << line();
  EXPECT_NE(line().find(" multi=-1 "), std::string::npos) << line();
  client_->call({"UNWATCH"});
  client_->call({"MULTI"});
  client_->call({"PING"});
  EXPECT_NE(line().find(" flags=x "), std::string::npos) << line();
  EXPECT_NE(line().find(" multi=1 "), std::string::npos) << line();
}

TEST_F(MultiTest, TheQueueIsBounded) {
  Config config;
  config.client_query_buffer_limit = 1 << 20;
  FakeServer server(config);
  auto client = server.connect();
  client->call({"MULTI"});
  const std::string large(300'000, 'x');
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client->call({"SET", "a", large}), kQueued);
  client->call({"SET", "a", large});
  EXPECT_TRUE(client->closed());
}

TEST_F(MultiTest, NothingWaitsInside) {
  const auto acquire = {"RL.ACQUIRE", "l", "GCRA", "1/60s", "BURST", "0", "TIMEOUT", "0"};
  std::string bytes = "*8\r\n";
  for (const std::string_view word : acquire) bytes += bulk(word);
  client_->send(bytes);
  client_->call({"MULTI"});
  client_->send(bytes);
  client_->call({"SET", "a", "1"});
  const std::string reply = client_->call({"EXEC"});
  EXPECT_TRUE(reply.starts_with("*2\r\n*6\r\n:0\r\n") && reply.ends_with("+OK\r\n")) << reply;
}

TEST_F(MultiTest, ATransactionStandsOrFallsWithItsTurn) {
  client_->call({"SET", "a", "0"});
  client_->push(request({"MULTI"}) + request({"SET", "a", "1"}) + request({"SET", "b", "1"}) +
                request({"EXEC"}));
  server_.disk().faults.append_lost = 1;
  server_.run_turns();
  const std::string reply = client_->take();
  EXPECT_TRUE(reply.starts_with("+OK\r\n+QUEUED\r\n+QUEUED\r\n-MISCONF ")) << reply;
  for (int i = 0; i < 3; ++i) server_.advance(kSecond);
  EXPECT_EQ(client_->call({"MGET", "a", "b"}), "*2\r\n$1\r\n0\r\n$-1\r\n");
}

}  // namespace
}  // namespace weir::server
