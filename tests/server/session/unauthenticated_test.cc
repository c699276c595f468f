// Clients that have not logged in although they must: how long and how much they may hold.
#include <gtest/gtest.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

const std::string kHalf = "*2\r\n$4\r\nAUTH\r\n$100\r\n";

class UnauthenticatedTest : public testing::Test {
 protected:
  static Config config() {
    Config config;
    config.requirepass = "secret";
    return config;
  }
  void pass(int seconds) {
    for (int i = 0; i < seconds; ++i) server_.advance(kSecond);
  }

  FakeServer server_{config()};
  std::unique_ptr<FakeClient> client_ = server_.connect();
};

TEST_F(UnauthenticatedTest, WhoSaysNothingIsClosed) {
  pass(9);
  EXPECT_FALSE(client_->closed());
  pass(4);
  EXPECT_TRUE(client_->closed());
}

TEST_F(UnauthenticatedTest, WhoNeverEndsARequestIsClosed) {
  client_->send(kHalf);
  for (int i = 0; i < 13; ++i) {
    if (!client_->closed()) client_->send("x");
    pass(1);
  }
  EXPECT_TRUE(client_->closed());
}

TEST_F(UnauthenticatedTest, EmptyLinesAreNoRequests) {
  for (int i = 0; i < 13; ++i) {
    if (!client_->closed()) client_->send("\r\n");
    pass(1);
  }
  EXPECT_TRUE(client_->closed());
}

TEST_F(UnauthenticatedTest, WhoSendsRequestsStays) {
  for (int i = 0; i < 10; ++i) {
    pass(8);
    EXPECT_EQ(client_->send(kPing), "-NOAUTH Authentication required.\r\n");
  }
}

TEST_F(UnauthenticatedTest, WhoLogsInStays) {
  pass(8);
  EXPECT_EQ(client_->call({"AUTH", "secret"}), "+OK\r\n");
  client_->send("*2\r\n$4\r\nECHO\r\n$1");
  pass(1000);
  EXPECT_EQ(client_->send("\r\nx\r\n"), bulk("x"));
}

TEST_F(UnauthenticatedTest, WhoLogsOutHasTheSameTime) {
  EXPECT_EQ(client_->call({"AUTH", "secret"}), "+OK\r\n");
  pass(1000);
  EXPECT_EQ(client_->call({"RESET"}), "+RESET\r\n");
  pass(9);
  EXPECT_FALSE(client_->closed());
  pass(4);
  EXPECT_TRUE(client_->closed());
}

TEST_F(UnauthenticatedTest, WithoutAPasswordNobodyIsOne) {
  server_->config().requirepass = "";
  server_->apply_config({"requirepass"});
  pass(1000);
  EXPECT_EQ(client_->send(kPing), "+PONG\r\n");
}

TEST_F(UnauthenticatedTest, ZeroSecondsAreForEver) {
  server_->config().authentication_timeout = 0;
  client_->send(kHalf);
  pass(1000);
  EXPECT_FALSE(client_->closed());
}

TEST_F(UnauthenticatedTest, AListenerOfBeforeThePasswordStays) {
  server_->config().requirepass = "";
  server_->apply_config({"requirepass"});
  client_->call({"SUBSCRIBE", "news"});
  server_->config().requirepass = "secret";
  server_->apply_config({"requirepass"});
  pass(1000);
  EXPECT_FALSE(client_->closed());
}

TEST_F(UnauthenticatedTest, ARequestOfManyArgumentsIsBoundedAsAWhole) {
  std::string request = "*10\r\n";
  for (int i = 0; i < 9; ++i) request += bulk(std::string(16'000, 'x'));
  EXPECT_EQ(client_->send(request.substr(0, 30'000)), "");
  EXPECT_LE(client_->session().input().capacity(), 32u << 10);
  EXPECT_EQ(client_->send(request.substr(30'000, 5'000)),
            "-ERR Protocol error: unauthenticated request too large\r\n");
  EXPECT_TRUE(client_->closed());
}

TEST_F(UnauthenticatedTest, WhatFollowsAnAuthIsNotBounded) {
  const std::string large = request({"ECHO", std::string(100'000, 'x')});
  EXPECT_EQ(client_->send(request({"AUTH", "secret"}) + large.substr(0, 90'000)), "+OK\r\n");
  EXPECT_EQ(client_->send(large.substr(90'000)), bulk(std::string(100'000, 'x')));
}

TEST_F(UnauthenticatedTest, ALongPasswordFits) {
  EXPECT_EQ(client_->call({"AUTH", std::string(16'000, 'x')}),
            "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
  EXPECT_EQ(
      client_->call({"HELLO", "3", "AUTH", std::string(8'000, 'x'), std::string(16'000, 'x')}),
      "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
}

TEST_F(UnauthenticatedTest, RepliesThatItDoesNotReadCloseIt) {
  client_->reads = false;
  for (int i = 0; i < 1'000; ++i) client_->push(kPing);
  server_.run_turns();
  EXPECT_FALSE(client_->closed());
  for (int i = 0; i < 1'000; ++i) client_->push(kPing);
  server_.run_turns();
  EXPECT_TRUE(client_->closed());
}

}  // namespace
}  // namespace weir::server
