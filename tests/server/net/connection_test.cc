// A connection over a stream that moves what the test lets it: order, bounds, and how it ends.
#include "server/net/connection.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/server/connection_fixture.h"

namespace weir::server {
namespace {

class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest() { one_.open(); }

  OneConnection one_;
  StreamScript& stream_ = one_.stream;
  FakeWatcher& watcher_ = one_.watcher;
};

TEST_F(ConnectionTest, ReadsWhenReadyAndAnswersAtTheTurnsEnd) {
  EXPECT_EQ(watcher_.interest, kRead);
  EXPECT_EQ(stream_.recv_calls, 0u);
  stream_.arrives(kPing);
  one_.call(kRead);
  EXPECT_EQ(stream_.sent, "");
  one_.end_turn();
  EXPECT_EQ(stream_.sent, kPong);
  EXPECT_EQ(stream_.recv_calls, 1u);
  EXPECT_EQ(watcher_.interest, kRead);
  EXPECT_EQ(watcher_.changes, 1u);
}

TEST_F(ConnectionTest, ARequestMayArriveByteByByte) {
  for (const char byte : request({"ECHO", "hello"})) {
    EXPECT_EQ(stream_.sent, "");
    one_.receives(std::string(1, byte));
  }
  EXPECT_EQ(stream_.sent, bulk("hello"));
}

TEST_F(ConnectionTest, ShortWritesSendEverythingInOrder) {
  for (int i = 0; i < 20; ++i) stream_.send_takes(1);
  one_.receives(request({"ECHO", "0123456789"}) + kPing);
  EXPECT_EQ(stream_.sent, bulk("0123456789") + kPong);
  EXPECT_EQ(stream_.send_calls, 21u);
  EXPECT_EQ(watcher_.interest, kRead);
}

TEST_F(ConnectionTest, WhatDoesNotFitIsSentWhenThereIsRoom) {
  stream_.send_takes(4);
  stream_.send_says(Transfer::Result::kWantsWrite);
  one_.receives(kPing);
  EXPECT_EQ(stream_.sent, "+PON");
  EXPECT_EQ(watcher_.interest, kReadOrWrite);
  stream_.send_says(Transfer::Result::kWantsWrite);
  one_.receives(kPing);
  EXPECT_EQ(stream_.sent, "+PON");
  one_.ready(kWrite);
  EXPECT_EQ(stream_.sent, std::string(kPong) + kPong);
  EXPECT_EQ(watcher_.interest, kRead);
}

TEST_F(ConnectionTest, AStreamThatIsReadyForNothingCostsNoChange) {
  for (int i = 0; i < 100; ++i) one_.ready(kRead);
  EXPECT_EQ(stream_.recv_calls, 100u);
  EXPECT_EQ(stream_.send_calls, 0u);
  EXPECT_EQ(watcher_.changes, 1u);
  one_.receives(kPing);
  EXPECT_EQ(stream_.sent, kPong);
}

TEST_F(ConnectionTest, ManyRefusalsToSendLoseNothing) {
  stream_.send_says(Transfer::Result::kWantsWrite);
  one_.receives(kPing);
  for (int i = 0; i < 100; ++i) {
    stream_.send_says(Transfer::Result::kWantsWrite);
    one_.ready(kWrite);
    EXPECT_EQ(watcher_.interest, kReadOrWrite);
  }
  EXPECT_EQ(watcher_.changes, 2u);
  one_.ready(kWrite);
  EXPECT_EQ(stream_.sent, kPong);
}

TEST_F(ConnectionTest, WhoClosesItsHalfIsAnsweredWhatItAsked) {
  stream_.arrives(kPing + "*1\r\n$4\r\nPI");
  one_.call(kRead);
  stream_.recv_says(Transfer::Result::kEnded);
  one_.call(kRead);
  EXPECT_FALSE(one_.closed);
  one_.end_turn();
  EXPECT_EQ(stream_.sent, kPong);
  EXPECT_TRUE(one_.closed);
  EXPECT_TRUE(stream_.destroyed);
  EXPECT_EQ(watcher_.interest, kNothing);
}

TEST_F(ConnectionTest, WhoClosesItsHalfInTheMiddleOfARequestIsGone) {
  one_.receives("*1\r\n$4\r\nPI");
  stream_.recv_says(Transfer::Result::kEnded);
  one_.ready(kRead);
  EXPECT_TRUE(one_.closed);
  EXPECT_EQ(stream_.send_calls, 0u);
}

// A pause is long, and nobody should count as waiting for its end who has gone.
TEST_F(ConnectionTest, WhoLeavesWhileAPauseHoldsItIsGone) {
  const auto admin = one_.server.connect();
  admin->call({"CLIENT", "PAUSE", "1000000", "WRITE"});
  one_.receives(request({"SET", "a", "1"}));
  EXPECT_NE(admin->call({"INFO", "clients"}).find("blocked_clients:1\r\n"), std::string::npos);
  EXPECT_EQ(watcher_.interest, kRead);
  stream_.recv_says(Transfer::Result::kEnded);
  one_.ready(kRead);
  EXPECT_TRUE(one_.closed);
  EXPECT_NE(admin->call({"INFO", "clients"}).find("blocked_clients:0\r\n"), std::string::npos);
}

TEST_F(ConnectionTest, OfWhomAPauseHoldsALittleIsRead) {
  const auto admin = one_.server.connect();
  admin->call({"CLIENT", "PAUSE", "1000000", "WRITE"});
  int requests = 0;
  for (; watcher_.interest == kRead && requests < 1000; requests += 2) {
    one_.receives(request({"SET", "a", std::string(900, 'x')}) + kPing);
  }
  EXPECT_LT(requests, 200);
  EXPECT_EQ(stream_.sent, "");
  one_.server->sessions().holds().unpause();
  while (one_.server->sessions().holds().has_runnable()) {
    for (Session* session : one_.server->sessions().holds().take_runnable()) session->resume(1024);
    one_.end_turn();
  }
  EXPECT_EQ(std::count(stream_.sent.begin(), stream_.sent.end(), '+'), requests);
  EXPECT_EQ(watcher_.interest, kRead);
}

TEST_F(ConnectionTest, AClosedHalfIsNotReadAgainWhileRepliesWait) {
  stream_.send_says(Transfer::Result::kWantsWrite);
  one_.receives(kPing);
  stream_.recv_says(Transfer::Result::kEnded);
  stream_.send_says(Transfer::Result::kWantsWrite);
  one_.ready(kRead);
  EXPECT_EQ(watcher_.interest, kWrite);
  stream_.send_takes(3);
  stream_.send_says(Transfer::Result::kWantsWrite);
  one_.ready(kWrite);
  EXPECT_FALSE(one_.closed);
  one_.ready(kWrite);
  EXPECT_EQ(stream_.sent, kPong);
  EXPECT_TRUE(one_.closed);
}

TEST_F(ConnectionTest, AResetWhileOutputWaitsEndsItAtOnce) {
  stream_.send_says(Transfer::Result::kWantsWrite);
  one_.receives(kPing);
  stream_.recv_says(Transfer::Result::kBroken);
  one_.ready(kReadOrWrite);
  EXPECT_TRUE(one_.closed);
  EXPECT_EQ(stream_.send_calls, 1u);
}

TEST_F(ConnectionTest, AStreamThatBreaksWhileItSendsEndsIt) {
  stream_.send_takes(2);
  stream_.send_says(Transfer::Result::kBroken);
  one_.receives(kPing);
  EXPECT_TRUE(one_.closed);
  EXPECT_EQ(stream_.sent, "+P");
}

TEST_F(ConnectionTest, QuitClosesAfterTheLastByteOfItsReply) {
  stream_.send_takes(4);
  stream_.send_says(Transfer::Result::kWantsWrite);
  one_.receives("QUIT\r\n" + kPing);
  EXPECT_FALSE(one_.closed);
  EXPECT_EQ(watcher_.interest, kWrite);
  one_.ready(kWrite);
  EXPECT_EQ(stream_.sent, "+OK\r\n");
  EXPECT_TRUE(one_.closed);
}

TEST_F(ConnectionTest, AnErrorOfTheProtocolIsToldBeforeTheEnd) {
  one_.receives("*1\r\n$x\r\n");
  EXPECT_EQ(stream_.sent, "-ERR Protocol error: invalid bulk length\r\n");
  EXPECT_TRUE(one_.closed);
}

TEST_F(ConnectionTest, WhoDoesNotReadIsNotReadFrom) {
  stream_.send_says(Transfer::Result::kWantsWrite);
  const std::string megabyte(1 << 20, 'x');
  one_.server->config().proto_inline_max_bytes = 4 << 20;
  std::string pipeline = request({"ECHO", megabyte});
  for (size_t at = 0; at < pipeline.size(); at += 60'000) {
    one_.receives(pipeline.substr(at, 60'000));
  }
  EXPECT_EQ(stream_.sent, "");
  EXPECT_EQ(watcher_.interest, kWrite);
  stream_.send_takes(100);
  stream_.send_says(Transfer::Result::kWantsWrite);
  one_.ready(kWrite);
  EXPECT_EQ(watcher_.interest, kReadOrWrite);
  while (one_.session->replies().unsent_bytes() > 0) one_.ready(kWrite);
  EXPECT_EQ(stream_.sent, bulk(megabyte));
  EXPECT_EQ(watcher_.interest, kRead);
}

TEST_F(ConnectionTest, AFlushSendsNoMoreThanItsShare) {
  one_.bytes_max = 1000;
  one_.receives(request({"ECHO", std::string(2490, 'x')}));
  EXPECT_EQ(stream_.sent.size(), 1000u);
  EXPECT_EQ(watcher_.interest, kReadOrWrite);
  one_.ready(kWrite);
  EXPECT_EQ(stream_.sent.size(), 2000u);
  one_.ready(kWrite);
  EXPECT_EQ(stream_.sent, bulk(std::string(2490, 'x')));
  EXPECT_EQ(watcher_.interest, kRead);
}

TEST_F(ConnectionTest, QuitWaitsForAllShares) {
  one_.bytes_max = 1000;
  one_.receives(request({"ECHO", std::string(1490, 'x')}) + request({"QUIT"}));
  EXPECT_FALSE(one_.closed);
  EXPECT_EQ(watcher_.interest, kWrite);
  one_.ready(kWrite);
  EXPECT_EQ(stream_.sent, bulk(std::string(1490, 'x')) + "+OK\r\n");
  EXPECT_TRUE(one_.closed);
}

TEST_F(ConnectionTest, WhileTheServerIsStalledItSendsAndDoesNotRead) {
  stream_.send_says(Transfer::Result::kWantsWrite);
  one_.receives(kPing);
  stream_.arrives(kPing);
  one_.call_stalled(kReadOrWrite);
  EXPECT_EQ(stream_.sent, kPong);
  EXPECT_EQ(stream_.recv_calls, 1u);
  EXPECT_EQ(watcher_.interest, kRead);
}

// They are work also where they end no request.
TEST_F(ConnectionTest, TellsItsOwnerOfAllBytes) {
  one_.receives("*1\r\n$1000000\r\n");
  EXPECT_EQ(one_.received_bytes, 14u);
  one_.receives(std::string(500, 'x'));
  EXPECT_EQ(one_.received_bytes, 514u);
}

TEST_F(ConnectionTest, AbandonedItIsGoneWithWhatItHadToSend) {
  stream_.send_says(Transfer::Result::kWantsWrite);
  one_.receives(kPing);
  one_.connection->abandon();
  EXPECT_TRUE(one_.closed);
  EXPECT_TRUE(stream_.destroyed);
  EXPECT_EQ(stream_.sent, "");
}

TEST(ConnectionBounds, TheOutputLimitClosesAReaderThatDoesNotRead) {
  Config config;
  config.client_output_buffer_limit.normal = {.hard_bytes = 1000};
  OneConnection one(config);
  one.open();
  one.stream.send_says(Transfer::Result::kWantsWrite);
  one.receives(request({"ECHO", std::string(900, 'x')}));
  EXPECT_FALSE(one.closed);
  one.stream.send_says(Transfer::Result::kWantsWrite);
  one.receives(request({"ECHO", std::string(100, 'x')}));
  EXPECT_TRUE(one.closed);
  EXPECT_EQ(one.stream.sent, "");
}

TEST(ConnectionBounds, WhomTheSystemDoesNotWatchIsClosedAndForgotten) {
  OneConnection one;
  one.watcher.refuses = true;
  one.open();
  EXPECT_TRUE(one.closed);
  EXPECT_TRUE(one.stream.destroyed);
  EXPECT_EQ(one.server->sessions().all().size(), 0u);
}

TEST(ConnectionBounds, WhomTheSystemCannotWatchForMoreIsClosed) {
  OneConnection one;
  one.open();
  one.watcher.refuses = true;
  one.stream.send_says(Transfer::Result::kWantsWrite);
  one.receives(kPing);
  EXPECT_TRUE(one.closed);
}

}  // namespace
}  // namespace weir::server
