// Publish and subscribe: who gets what, in which order, and only when it has happened.
#include <gtest/gtest.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

std::string array(std::initializer_list<std::string_view> words, char sign = '*') {
  std::string bytes = sign + std::to_string(words.size()) + "\r\n";
  for (const std::string_view word : words) bytes += bulk(word);
  return bytes;
}

std::string confirmation(std::string_view command, std::string_view name, int count) {
  return "*3\r\n" + bulk(command) + bulk(name) + ":" + std::to_string(count) + "\r\n";
}

class PubsubTest : public ::testing::Test {
 protected:
  FakeServer server_;
  std::unique_ptr<FakeClient> speaker_ = server_.connect();
  std::unique_ptr<FakeClient> listener_ = server_.connect();
};

TEST_F(PubsubTest, MessagesReachChannelsPatternsAndShards) {
  EXPECT_EQ(listener_->call({"SUBSCRIBE", "a", "b"}),
            confirmation("subscribe", "a", 1) + confirmation("subscribe", "b", 2));
  EXPECT_EQ(listener_->call({"PSUBSCRIBE", "a*"}), confirmation("psubscribe", "a*", 3));
  EXPECT_EQ(listener_->call({"SSUBSCRIBE", "a"}), confirmation("ssubscribe", "a", 1));
  EXPECT_EQ(speaker_->call({"PUBLISH", "a", "x"}), ":2\r\n");
  EXPECT_EQ(speaker_->call({"SPUBLISH", "a", "y"}), ":1\r\n");
  EXPECT_EQ(speaker_->call({"PUBLISH", "c", "z"}), ":0\r\n");
  EXPECT_EQ(listener_->take(), array({"message", "a", "x"}) + array({"pmessage", "a*", "a", "x"}) +
                                   array({"smessage", "a", "y"}));
}

TEST_F(PubsubTest, PushesInResp3) {
  listener_->call({"HELLO", "3"});
  listener_->call({"SUBSCRIBE", "a"});
  speaker_->call({"PUBLISH", "a", "x"});
  EXPECT_EQ(listener_->take(), array({"message", "a", "x"}, '>'));
  EXPECT_EQ(listener_->call({"GET", "k"}), "_\r\n");
  // Its own message stands after the reply.
  EXPECT_EQ(listener_->call({"PUBLISH", "a", "y"}), ":1\r\n" + array({"message", "a", "y"}, '>'));
}

TEST_F(PubsubTest, MessagesStandBetweenRepliesInTheOrderOfEvents) {
  listener_->call({"SUBSCRIBE", "a"});
  speaker_->push(request({"PUBLISH", "a", "1"}));
  listener_->push(request({"UNSUBSCRIBE", "a"}) + request({"GET", "k"}));
  speaker_->push(request({"PUBLISH", "a", "2"}));
  server_.run_turns();
  EXPECT_EQ(speaker_->take(), ":1\r\n:0\r\n");
  EXPECT_EQ(listener_->take(),
            array({"message", "a", "1"}) + confirmation("unsubscribe", "a", 0) + "$-1\r\n");
}

TEST_F(PubsubTest, SubscribedClientsOfResp2AreRestricted) {
  listener_->call({"SUBSCRIBE", "a"});
  EXPECT_EQ(listener_->call({"CLIENT", "ID"}),
            "-ERR Can't execute 'client|id': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT "
            "/ RESET are allowed in this context\r\n");
  EXPECT_EQ(listener_->call({"PING"}), array({"pong", ""}));
  EXPECT_EQ(listener_->call({"PING", "x"}), array({"pong", "x"}));
  EXPECT_EQ(listener_->call({"RESET"}), "+RESET\r\n");
  EXPECT_EQ(listener_->call({"PING"}), "+PONG\r\n");
  EXPECT_EQ(speaker_->call({"PUBLISH", "a", "x"}), ":0\r\n");
}

TEST_F(PubsubTest, PubsubTellsWhoListens) {
  listener_->call({"SUBSCRIBE", "a", "b"});
  listener_->call({"PSUBSCRIBE", "*"});
  EXPECT_EQ(speaker_->call({"PUBSUB", "CHANNELS", "a*"}), array({"a"}));
  EXPECT_EQ(speaker_->call({"PUBSUB", "NUMSUB", "a", "c"}),
            "*4\r\n$1\r\na\r\n:1\r\n$1\r\nc\r\n:0\r\n");
  EXPECT_EQ(speaker_->call({"PUBSUB", "NUMPAT"}), ":1\r\n");
  const std::string line = speaker_->call({"CLIENT", "LIST", "TYPE", "PUBSUB"});
  EXPECT_NE(line.find(" flags=P db=0 sub=2 psub=1 ssub=0 "), std::string::npos) << line;
  listener_->call({"QUIT"});
  EXPECT_EQ(speaker_->call({"PUBSUB", "CHANNELS"}), "*0\r\n");
}

TEST_F(PubsubTest, TransactionsAndScriptsSpeakToo) {
  listener_->call({"SUBSCRIBE", "a"});
  speaker_->call({"MULTI"});
  speaker_->call({"PUBLISH", "a", "1"});
  speaker_->call({"SET", "k", "v"});
  EXPECT_EQ(listener_->take(), "");
  EXPECT_EQ(speaker_->call({"EXEC"}), "*2\r\n:1\r\n+OK\r\n");
  speaker_->call({"EVAL", "return redis.call('PUBLISH', 'a', '2')", "0"});
  EXPECT_EQ(listener_->take(), array({"message", "a", "1"}) + array({"message", "a", "2"}));
}

TEST_F(PubsubTest, AStoppedScriptHasSaidNothing) {
  listener_->call({"SUBSCRIBE", "a"});
  server_.clock.tick_per_look_ns = kSecond;
  const std::string reply =
      speaker_->call({"EVAL", "redis.call('PUBLISH', 'a', 'x') while true do end", "0"});
  EXPECT_NE(reply.find("was stopped"), std::string::npos) << reply;
  EXPECT_EQ(listener_->take(), "");
}

// Inside an array that is being replied a push would be taken for an element.
TEST_F(PubsubTest, ATransactionsOwnMessagesStandAfterItsReply) {
  listener_->call({"HELLO", "3"});
  listener_->call({"SUBSCRIBE", "a"});
  const std::string reply =
      listener_->send(request({"MULTI"}) + request({"PUBLISH", "a", "x"}) + request({"EXEC"}));
  EXPECT_EQ(reply, "+OK\r\n+QUEUED\r\n*1\r\n:1\r\n" + array({"message", "a", "x"}, '>'));
}

TEST_F(PubsubTest, NothingIsToldOfATurnThatFailed) {
  speaker_->call({"CONFIG", "SET", "notify-keyspace-events", "KEA"});
  listener_->call({"PSUBSCRIBE", "*"});
  speaker_->push(request({"SET", "a", "1"}));
  server_.disk().faults.append_lost = 1;
  server_.run_turns();
  EXPECT_TRUE(speaker_->take().starts_with("-MISCONF "));
  EXPECT_EQ(listener_->take(), "");
}

TEST_F(PubsubTest, WhoDoesNotReadIsCutOff) {
  Config config;
  config.client_output_buffer_limit.pubsub = {.hard_bytes = 1 << 20};
  FakeServer server(config);
  auto speaker = server.connect();
  auto listener = server.connect();
  listener->call({"SUBSCRIBE", "a"});
  listener->reads = false;
  const std::string large(300'000, 'x');
  for (int i = 0; i < 3; ++i) EXPECT_EQ(speaker->call({"PUBLISH", "a", large}), ":1\r\n");
  speaker->call({"PUBLISH", "a", large});
  EXPECT_TRUE(listener->closed());
  EXPECT_EQ(speaker->call({"PUBLISH", "a", large}), ":0\r\n");
}

class KeyEventsTest : public PubsubTest {
 protected:
  void SetUp() override { listener_->call({"PSUBSCRIBE", "__key*__:*"}); }

  void want(std::string_view classes) {
    EXPECT_EQ(speaker_->call({"CONFIG", "SET", "notify-keyspace-events", classes}), "+OK\r\n");
  }
  static std::string event(std::string_view name, std::string_view key) {
    return array({"pmessage", "__key*__:*", "__keyevent@0__:" + std::string(name), key});
  }
};

TEST_F(KeyEventsTest, AreSilentUntilAskedFor) {
  speaker_->call({"SET", "a", "1"});
  EXPECT_EQ(listener_->take(), "");
  want("E$");
  speaker_->call({"SET", "a", "1"});
  speaker_->call({"DEL", "a"});
  EXPECT_EQ(listener_->take(), event("set", "a"));
}

TEST_F(KeyEventsTest, ComeOnBothChannels) {
  want("KEA");
  speaker_->call({"SET", "a", "1", "EX", "100"});
  EXPECT_EQ(listener_->take(), array({"pmessage", "__key*__:*", "__keyspace@0__:a", "set"}) +
                                   event("set", "a") +
                                   array({"pmessage", "__key*__:*", "__keyspace@0__:a", "expire"}) +
                                   event("expire", "a"));
}

TEST_F(KeyEventsTest, TellOfTheEndInTime) {
  want("Ex");
  speaker_->call({"SET", "a", "1", "PX", "100"});
  server_.advance(50 * kMs);
  EXPECT_EQ(listener_->take(), "");
  server_.clock.advance(60 * kMs);
  speaker_->call({"GET", "a"});
  EXPECT_EQ(listener_->take(), event("expired", "a"));
}

TEST_F(KeyEventsTest, TellOfTheEndInTimeWithoutALook) {
  want("Ex");
  speaker_->call({"SET", "a", "1", "PX", "100"});
  for (int i = 0; i < 100; ++i) server_.advance(100 * kMs);
  EXPECT_EQ(listener_->take(), event("expired", "a"));
}

TEST_F(KeyEventsTest, TellOfMissesAndNewKeys) {
  want("Emn");
  speaker_->call({"GET", "a"});
  speaker_->call({"SET", "a", "1"});
  speaker_->call({"SET", "a", "2"});
  EXPECT_EQ(listener_->take(), event("keymiss", "a") + event("new", "a"));
}

TEST_F(KeyEventsTest, TellWhatLimitersDecided) {
  want("Er");
  speaker_->call({"CL.THROTTLE", "l", "0", "1", "60"});
  speaker_->call({"CL.THROTTLE", "l", "0", "1", "60"});
  EXPECT_EQ(listener_->take(), event("allowed", "l") + event("limited", "l"));
}

TEST_F(KeyEventsTest, ACommandThatFailsTellsNothing) {
  want("KEA");
  speaker_->call({"SET", "a", "x"});
  listener_->take();
  speaker_->send(request({"MULTI"}) + request({"INCR", "a"}) + request({"SET", "b", "1"}) +
                 request({"EXEC"}));
  EXPECT_EQ(listener_->take(),
            array({"pmessage", "__key*__:*", "__keyspace@0__:b", "set"}) + event("set", "b"));
}

}  // namespace
}  // namespace weir::server
