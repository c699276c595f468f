// Requests that are parsed before they run: they are answered as if they were not.
#include "server/session/requests_ahead.h"

#include <gtest/gtest.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

std::vector<std::string> words_of(const RequestsAhead& ahead, size_t at) {
  return {ahead.args(at).begin(), ahead.args(at).end()};
}

TEST(RequestsAhead, AreThoseThatAreThereAndPlain) {
  RequestsAhead ahead;
  const std::string get = request({"GET", "some key"});
  for (const std::string rest : {"", "*1\r\n$4\r\nPIN", "PING\r\n", "*0\r\n", "*1\r\n$x\r\n"}) {
    const std::string bytes = kPing + get + (rest.empty() ? kPing : rest);
    ASSERT_EQ(ahead.fill(bytes, {}, 9), rest.empty() ? 3u : 2u) << rest;
    EXPECT_EQ(words_of(ahead, 0), std::vector<std::string>{"PING"});
    EXPECT_EQ(words_of(ahead, 1), (std::vector<std::string>{"GET", "some key"}));
    EXPECT_EQ(ahead.next({})->bytes, kPing.size());
    EXPECT_EQ(ahead.next({})->bytes, get.size());
    EXPECT_EQ(ahead.at_end(), !rest.empty());
  }
}

TEST(RequestsAhead, AreFewShortOnes) {
  RequestsAhead ahead;
  std::string pings;
  for (int i = 0; i < 100; ++i) pings += kPing;
  EXPECT_EQ(ahead.fill(pings, {}, 99), RequestsAhead::kRequestsMax);
  EXPECT_EQ(ahead.fill(pings, {}, 3), 3u);
  const std::string large = request({"SET", "k", std::string(RequestsAhead::kBytesMax, 'x')});
  EXPECT_EQ(ahead.fill(kPing + large + kPing, {}, 9), 1u);
  std::string many = "*33\r\n";
  for (int i = 0; i < 33; ++i) many += bulk("x");
  EXPECT_EQ(ahead.fill(kPing + many + kPing, {}, 9), 1u);
}

TEST(RequestsAhead, AreGivenUpUnderOtherLimits) {
  RequestsAhead ahead;
  EXPECT_EQ(ahead.fill(kPing + kPing, {}, 9), 2u);
  EXPECT_NE(ahead.next({}), nullptr);
  EXPECT_EQ(ahead.next({.authenticated = false}), nullptr);
  EXPECT_EQ(ahead.next({}), nullptr);
  EXPECT_TRUE(ahead.at_end());
  EXPECT_EQ(ahead.fill(kPing, {.authenticated = false}, 9), 0u);
}

// A session that runs what it has parsed ahead.
class Ahead : public testing::Test {
 protected:
  std::string send(const std::string& bytes) { return client_->send(bytes); }

  FakeServer server_;
  std::unique_ptr<FakeClient> client_ = server_.connect();
  std::unique_ptr<FakeClient> other_ = server_.connect();
};

TEST_F(Ahead, WhoIsLoggedOutIsBoundAgainAtOnce) {
  send(request({"CONFIG", "SET", "requirepass", "secret"}));
  const std::string pipeline = request({"AUTH", "secret"}) + kPing + request({"RESET"});
  EXPECT_EQ(send(pipeline + request({"MSET", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5"})),
            kOk + kPong + "+RESET\r\n-ERR Protocol error: unauthenticated multibulk length\r\n");
  EXPECT_TRUE(client_->closed());
}

TEST_F(Ahead, ASliceMayEndInTheMiddle) {
  std::string pipeline, expected;
  for (int i = 0; i < 100; ++i) {
    pipeline += request({"ECHO", std::to_string(i)});
    expected += bulk(std::to_string(i));
  }
  for (const size_t most : {1u, 3u, 15u, 16u, 17u, 50u}) {
    server_.commands_max = most;
    EXPECT_EQ(send(pipeline), expected) << most;
  }
}

TEST_F(Ahead, WhatIsHeldUpRunsOnceAndInOrder) {
  client_->push(request({"SET", "n", "0"}) + request({"CLIENT", "PAUSE", "1000", "WRITE"}) +
                request({"GET", "n"}) + request({"INCR", "n"}) + request({"INCR", "n"}) +
                request({"GET", "n"}));
  server_.run_turns();
  EXPECT_EQ(client_->take(), kOk + kOk + bulk("0"));
  other_->call({"CLIENT", "UNPAUSE"});
  server_.run_turns();
  EXPECT_EQ(client_->take(), ":1\r\n:2\r\n" + bulk("2"));
}

TEST_F(Ahead, WhoWaitsGoesOnAfterThat) {
  client_->push(kPing + request({"BLPOP", "list", "0"}) + kPing + request({"LLEN", "list"}));
  server_.run_turns();
  EXPECT_EQ(client_->take(), kPong);
  other_->call({"RPUSH", "list", "a", "b"});
  server_.run_turns();
  EXPECT_EQ(client_->take(), "*2\r\n" + bulk("list") + bulk("a") + kPong + ":1\r\n");
}

TEST_F(Ahead, WhatComesAfterQuitIsNotRun) {
  EXPECT_EQ(send(request({"SET", "a", "1"}) + request({"QUIT"}) + request({"SET", "a", "2"})),
            kOk + kOk);
  EXPECT_TRUE(client_->closed());
  EXPECT_EQ(other_->call({"GET", "a"}), bulk("1"));
}

// The others' requests, and its own after it, are what they were.
TEST_F(Ahead, OthersAreServedWhileOneOfThemIsAScriptThatRunsLong) {
  send(request({"CONFIG", "SET", "busy-reply-threshold", "1000", "script-time-limit-ms", "0"}));
  server_.clock.tick_per_look_ns = kSecond;
  bool is_ended = false;
  server_->scripting().busy.set_poll([&] {
    if (std::exchange(is_ended, true)) return;
    other_->push(kPing + request({"NOPE", "x"}) + request({"SCRIPT", "KILL"}) + kPing);
    server_->turn().end_busy_round();
  });
  const std::string answer =
      send(request({"ECHO", "before"}) + request({"EVAL", "while true do end", "0"}) +
           request({"ECHO", "after"}) + request({"EXISTS", "nothing"}));
  EXPECT_TRUE(answer.starts_with(bulk("before") + "-ERR Script killed by user")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n" + bulk("after") + ":0\r\n")) << answer;
  server_.clock.tick_per_look_ns = 0;
  server_.flush(&other_->session());
  const std::string others = other_->take();
  EXPECT_TRUE(others.starts_with("-BUSY ")) << others;
  EXPECT_NE(others.find("-ERR unknown command 'NOPE'"), others.npos) << others;
  EXPECT_NE(others.find("+OK\r\n-BUSY "), others.npos) << others;
}

// Keys of all sorts of requests are sought, and that changes nothing.
TEST_F(Ahead, KeysOfEveryKindAreSought) {
  const std::string pipeline =
      request({"MSET", "a", "1", "b", "2"}) + request({"MGET", "a", "b", "c"}) +
      request({"EVAL", "return redis.call('GET', KEYS[2])", "2", "a", "b"}) +
      request({"EVAL", "return 7", "99", "a"}) + request({"SELECT", "1"}) + request({"GET", "a"}) +
      request({"GET"}) + request({"NOSUCH", "a"}) + request({"SINTERCARD", "1", "none"}) +
      request({"FLUSHALL"}) + request({"DBSIZE"});
  EXPECT_EQ(send(pipeline),
            kOk + "*3\r\n" + bulk("1") + bulk("2") + "$-1\r\n" + bulk("2") +
                "-ERR Number of keys can't be greater than number of args\r\n" + kOk + "$-1\r\n" +
                "-ERR wrong number of arguments for 'get' command\r\n" +
                "-ERR unknown command 'NOSUCH', with args beginning with: 'a' \r\n:0\r\n" + kOk +
                ":0\r\n");
}

}  // namespace
}  // namespace weir::server
