// What Redis 7.2 added to 7.0, which is what weir is compared with: its replies, recorded.
#include <gtest/gtest.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

class Redis72 : public ::testing::Test {
 protected:
  std::string ask(std::initializer_list<std::string_view> words) { return client_->call(words); }

  FakeServer server_;
  std::unique_ptr<FakeClient> client_ = server_.connect();
};

TEST_F(Redis72, RanksWithScores) {
  ask({"ZADD", "z", "1", "a", "2.5", "b"});
  EXPECT_EQ(ask({"ZRANK", "z", "b", "WITHSCORE"}), "*2\r\n:1\r\n$3\r\n2.5\r\n");
  EXPECT_EQ(ask({"ZREVRANK", "z", "b", "withscore"}), "*2\r\n:0\r\n$3\r\n2.5\r\n");
  EXPECT_EQ(ask({"ZRANK", "z", "x", "WITHSCORE"}), "*-1\r\n");
  EXPECT_EQ(ask({"ZRANK", "nosuch", "x", "WITHSCORE"}), "*-1\r\n");
  EXPECT_EQ(ask({"ZRANK", "z", "b"}), ":1\r\n");
  EXPECT_EQ(ask({"ZRANK", "z", "b", "WITHSCORES"}), "-ERR syntax error\r\n");
  EXPECT_EQ(ask({"ZRANK", "z", "b", "WITHSCORE", "x"}),
            "-ERR wrong number of arguments for 'zrank' command\r\n");
  ask({"HELLO", "3"});
  EXPECT_EQ(ask({"ZRANK", "z", "b", "WITHSCORE"}), "*2\r\n:1\r\n,2.5\r\n");
  EXPECT_EQ(ask({"ZREVRANK", "z", "x", "WITHSCORE"}), "_\r\n");
}

TEST_F(Redis72, ClientsTellTheirLibrary) {
  EXPECT_EQ(ask({"CLIENT", "SETINFO", "LIB-NAME", "lib"}), "+OK\r\n");
  EXPECT_EQ(ask({"CLIENT", "SETINFO", "lib-ver", "1.2"}), "+OK\r\n");
  const std::string info = ask({"CLIENT", "INFO"});
  EXPECT_NE(info.find(" lib-name=lib lib-ver=1.2"), info.npos) << info;
  EXPECT_EQ(ask({"CLIENT", "SETINFO", "LIB-NAME", "with space"})[0], '-');
  EXPECT_EQ(ask({"CLIENT", "SETINFO", "nosuch", "x"})[0], '-');
  EXPECT_EQ(ask({"CLIENT", "SETINFO", "LIB-NAME", ""}), "+OK\r\n");  // forgets it
}

TEST_F(Redis72, ClientsThatDoNotTouch) {
  EXPECT_EQ(ask({"CLIENT", "NO-TOUCH", "ON"}), "+OK\r\n");
  const std::string info = ask({"CLIENT", "INFO"});
  EXPECT_NE(info.find(" flags=T "), info.npos) << info;
  EXPECT_EQ(ask({"CLIENT", "NO-TOUCH", "off"}), "+OK\r\n");
  EXPECT_EQ(ask({"CLIENT", "NO-TOUCH", "x"}), "-ERR syntax error\r\n");
}

TEST_F(Redis72, HelloSaysSo) {
  const std::string hello = ask({"HELLO"});
  EXPECT_NE(hello.find(bulk("version") + bulk("7.2.0")), hello.npos) << hello;
}

TEST_F(Redis72, WaitingForTheDisk) {
  server_.disk().deferred = true;
  ask({"SET", "k", "v"});
  EXPECT_EQ(ask({"WAITAOF", "0", "0", "0"}), "*2\r\n:0\r\n:0\r\n");
  EXPECT_EQ(ask({"WAITAOF", "1", "0", "0"}), "");
  server_.advance(2 * kSecond);
  for (int i = 0; i < 20 && server_.step_disk(); ++i) server_.advance(10 * kMs);
  EXPECT_EQ(client_->take(), "*2\r\n:1\r\n:0\r\n");
  EXPECT_EQ(ask({"WAITAOF", "0", "0", "0"}), "*2\r\n:1\r\n:0\r\n");
  EXPECT_EQ(ask({"WAITAOF", "1", "0", "0"}), "*2\r\n:1\r\n:0\r\n");
  server_.disk().deferred = false;
  EXPECT_EQ(ask({"WAITAOF", "2", "0", "0"}),
            "-ERR value is out of range, value must between 0 and 1\r\n");
  EXPECT_EQ(ask({"WAITAOF", "1", "-1", "0"}), "-ERR value is out of range, must be positive\r\n");
  EXPECT_EQ(ask({"WAITAOF", "1", "0", "-1"}), "-ERR timeout is negative\r\n");
  EXPECT_EQ(ask({"WAITAOF", "1", "0", "x"}), "-ERR timeout is not an integer or out of range\r\n");
}

TEST_F(Redis72, NotWaitingForTheDiskForLonger) {
  server_.disk().deferred = true;
  ask({"SET", "k", "v"});
  EXPECT_EQ(ask({"WAITAOF", "1", "0", "20"}), "");
  server_.advance(15 * kMs);
  EXPECT_EQ(client_->take(), "");
  server_.advance(10 * kMs);
  EXPECT_EQ(client_->take(), "*2\r\n:0\r\n:0\r\n");
}

// Before 7.2 the push came first.
TEST_F(Redis72, PushesStandAfterTheReply) {
  ask({"HELLO", "3"});
  ask({"SUBSCRIBE", "c"});
  EXPECT_EQ(ask({"PUBLISH", "c", "x"}), ":1\r\n>3\r\n" + bulk("message") + bulk("c") + bulk("x"));
}

// One instant for a whole script, and for a transaction too.
TEST_F(Redis72, TimeStandsStillInScripts) {
  server_.clock.tick_per_look_ns = 1000;
  EXPECT_EQ(ask({"EVAL",
                 "local a = redis.call('TIME') for i = 1, 100 do redis.call('PING') end "
                 "local b = redis.call('TIME') return a[1] == b[1] and a[2] == b[2] and 1 or 0",
                 "0"}),
            ":1\r\n");
}

// A blocked client is served as if its command came anew: another type makes it wait on.
TEST_F(Redis72, KeysOfAnotherTypeDoNotEndAWait) {
  auto other = server_.connect();
  EXPECT_EQ(ask({"BLPOP", "l", "0"}), "");
  other->call({"SET", "l", "x"});
  EXPECT_EQ(client_->take(), "");
  other->call({"DEL", "l"});
  other->call({"RPUSH", "l", "y"});
  EXPECT_EQ(client_->take(), "*2\r\n" + bulk("l") + bulk("y"));
}

}  // namespace
}  // namespace weir::server
