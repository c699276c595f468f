// Commands that a session is handed parsed: when and by whom their replies are taken.
#include <gtest/gtest.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

class Submit : public testing::Test {
 protected:
  // Its reply goes to replies_, with its name before it.
  void submit(FakeClient& client, const std::string& name, std::vector<std::string_view> words) {
    client.session().submit(words, [this, name](std::string_view reply) {
      replies_ += name + ":" + std::string(reply);
    });
    client.session().resume(1);
  }
  std::string after_turns() {
    server_.run_turns();
    return std::exchange(replies_, {});
  }

  static Config config() {
    Config config;
    config.durability = DurabilityLevel::kAlways;
    return config;
  }

  std::string replies_;
  FakeServer server_{config()};
  std::unique_ptr<FakeClient> client_ = server_.connect();
};

TEST_F(Submit, AValueAndAnErrorAreRepliedWhenTheTurnHasEnded) {
  submit(*client_, "a", {"SET", "k", "v"});
  submit(*client_, "b", {"GET", "k"});
  submit(*client_, "c", {"INCR", "k"});
  submit(*client_, "d", {"NOSUCH"});
  EXPECT_EQ(replies_, "");
  EXPECT_EQ(after_turns(),
            "a:+OK\r\nb:$1\r\nv\r\nc:-ERR value is not an integer or out of range\r\n"
            "d:-ERR unknown command 'NOSUCH', with args beginning with: \r\n");
  EXPECT_EQ(client_->take(), "");
  EXPECT_EQ(client_->session().replies().unsent_bytes(), 0u);
}

TEST_F(Submit, ACommandThatBlocksRepliesLaterAndThoseAfterItWait) {
  auto other = server_.connect();
  submit(*client_, "a", {"BLPOP", "list", "0"});
  submit(*client_, "b", {"ECHO", "x"});
  EXPECT_EQ(after_turns(), "");
  other->call({"RPUSH", "list", "1"});
  EXPECT_EQ(after_turns(), "a:*2\r\n$4\r\nlist\r\n$1\r\n1\r\nb:$1\r\nx\r\n");
}

TEST_F(Submit, ATransactionRepliesCommandByCommand) {
  submit(*client_, "a", {"MULTI"});
  submit(*client_, "b", {"INCR", "n"});
  submit(*client_, "c", {"INCR", "n"});
  submit(*client_, "d", {"EXEC"});
  EXPECT_EQ(after_turns(), "a:+OK\r\nb:+QUEUED\r\nc:+QUEUED\r\nd:*2\r\n:1\r\n:2\r\n");
}

TEST_F(Submit, AReplyOfATurnThatFailsIsTheError) {
  server_.disk().faults.disk_full = true;
  submit(*client_, "a", {"ECHO", "x"});
  submit(*client_, "b", {"SET", "k", "v"});
  submit(*client_, "c", {"PING"});
  const std::string replies = after_turns();
  EXPECT_TRUE(replies.starts_with("a:$1\r\nx\r\nb:-MISCONF ")) << replies;
  EXPECT_TRUE(replies.ends_with("\r\nc:+PONG\r\n")) << replies;
}

TEST_F(Submit, AReplyWaitsForTheSyncAndForThoseBeforeIt) {
  server_.disk().deferred = true;
  submit(*client_, "a", {"SET", "k", "v"});
  EXPECT_EQ(after_turns(), "");
  submit(*client_, "b", {"PING"});
  EXPECT_EQ(after_turns(), "");
  while (server_.step_disk()) continue;
  EXPECT_EQ(after_turns(), "a:+OK\r\nb:+PONG\r\n");
}

TEST_F(Submit, AnUnwantedReplyIsEmptyAndOneOfASessionThatEndsIsNone) {
  submit(*client_, "a", {"CLIENT", "REPLY", "SKIP"});
  submit(*client_, "b", {"PING"});
  submit(*client_, "c", {"PING"});
  EXPECT_EQ(after_turns(), "a:b:c:+PONG\r\n");
  submit(*client_, "d", {"PING"});
  client_->session().kill();
  EXPECT_EQ(after_turns(), "");
}

TEST_F(Submit, ALargeReplyAndAMessageKeepTheirPlaces) {
  auto other = server_.connect();
  submit(*client_, "a", {"HELLO", "3"});
  submit(*client_, "b", {"SUBSCRIBE", "news"});
  after_turns();
  const std::string large(300'000, 'x');
  submit(*client_, "c", {"ECHO", large});
  other->call({"PUBLISH", "news", "1"});
  submit(*client_, "d", {"ECHO", "y"});
  EXPECT_EQ(after_turns(), "c:" + bulk(large) + "d:" + bulk("y"));
  EXPECT_EQ(client_->take(), ">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$1\r\n1\r\n");
}

TEST_F(Submit, WhatIsHeldRunsWhenThePauseEnds) {
  auto other = server_.connect();
  other->call({"CLIENT", "PAUSE", "1000"});
  submit(*client_, "a", {"SET", "k", "v"});
  submit(*client_, "b", {"GET", "k"});
  server_.end_turn();
  EXPECT_EQ(replies_, "");
  server_.advance(2 * kSecond);
  EXPECT_EQ(after_turns(), "a:+OK\r\nb:$1\r\nv\r\n");
}

}  // namespace
}  // namespace weir::server
