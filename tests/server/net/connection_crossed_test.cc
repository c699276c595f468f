// A connection over a stream with a protocol of its own, as TLS will be: it wants to write while it
// receives, to read while it sends, and holds bytes that the descriptor no longer has.
#include <gtest/gtest.h>

#include "tests/server/connection_fixture.h"

namespace weir::server {
namespace {

class CrossedConnection : public testing::Test {
 protected:
  CrossedConnection() { one_.open(); }

  // Fills the session's output, so that no more is read from the peer.
  void stop_reading() {
    const std::string pipeline = request({"ECHO", std::string(1 << 20, 'x')});
    for (size_t at = 0; at < pipeline.size(); at += 60'000) {
      one_.receives(pipeline.substr(at, 60'000));
    }
    recv_calls_ = stream_.recv_calls;
  }

  OneConnection one_;
  StreamScript& stream_ = one_.stream;
  FakeWatcher& watcher_ = one_.watcher;
  size_t recv_calls_ = 0;
};

TEST_F(CrossedConnection, AHandshakeGoesBothWaysBeforeTheFirstRequest) {
  stream_.recv_says(Transfer::Result::kWantsRead);
  one_.ready(kRead);
  EXPECT_EQ(watcher_.interest, kRead);
  stream_.recv_says(Transfer::Result::kWantsWrite);
  one_.ready(kRead);
  EXPECT_EQ(watcher_.interest, kWrite);
  stream_.recv_says(Transfer::Result::kWantsRead);
  one_.ready(kWrite);
  EXPECT_EQ(watcher_.interest, kRead);
  EXPECT_EQ(stream_.send_calls, 0u);
  one_.receives(kPing);
  EXPECT_EQ(stream_.sent, kPong);
  EXPECT_EQ(watcher_.interest, kRead);
}

TEST_F(CrossedConnection, AReceiverThatMustWriteIsRepeatedWhenThereIsRoom) {
  stream_.recv_says(Transfer::Result::kWantsWrite);
  one_.ready(kRead);
  EXPECT_EQ(watcher_.interest, kWrite);
  stream_.arrives(kPing);
  one_.ready(kWrite);
  EXPECT_EQ(stream_.recv_calls, 2u);
  EXPECT_EQ(stream_.sent, kPong);
  EXPECT_EQ(watcher_.interest, kRead);
}

TEST_F(CrossedConnection, ASenderThatMustReadIsRepeatedWhenBytesArrive) {
  stream_.send_says(Transfer::Result::kWantsRead);
  one_.receives(kPing);
  EXPECT_EQ(stream_.sent, "");
  EXPECT_EQ(watcher_.interest, kRead);
  one_.call(kRead);
  EXPECT_EQ(stream_.sent, kPong);
  EXPECT_EQ(watcher_.interest, kRead);
}

// What arrives may be for either call, and the receiver takes it from the descriptor: no event is
// going to tell the sender.
TEST_F(CrossedConnection, ASenderIsRepeatedEvenIfTheReceiverHasTakenWhatArrived) {
  stream_.send_says(Transfer::Result::kWantsRead);
  one_.receives(kPing);
  stream_.recv_says(Transfer::Result::kWantsRead);
  one_.call(kRead);
  EXPECT_EQ(stream_.recv_calls, 2u);
  EXPECT_EQ(stream_.sent, kPong);
}

TEST_F(CrossedConnection, AReceiverIsRepeatedEvenIfTheSenderIsTheOneThatIsReady) {
  stream_.send_says(Transfer::Result::kWantsWrite);
  one_.receives(kPing);
  stream_.recv_says(Transfer::Result::kWantsWrite);
  stream_.send_says(Transfer::Result::kWantsWrite);
  one_.ready(kRead);
  EXPECT_EQ(watcher_.interest, kWrite);
  stream_.arrives(kPing);
  one_.ready(kWrite);
  EXPECT_EQ(stream_.sent, std::string(kPong) + kPong);
  EXPECT_EQ(watcher_.interest, kRead);
}

TEST_F(CrossedConnection, BothMayWaitForTheOthersDirection) {
  stream_.send_says(Transfer::Result::kWantsRead);
  one_.receives(kPing);
  stream_.recv_says(Transfer::Result::kWantsWrite);
  stream_.send_says(Transfer::Result::kWantsRead);
  one_.ready(kRead);
  EXPECT_EQ(watcher_.interest, kReadOrWrite);
  one_.ready(kWrite);
  EXPECT_EQ(stream_.sent, kPong);
  EXPECT_EQ(watcher_.interest, kRead);
}

TEST_F(CrossedConnection, ASenderThatMustReadGoesOnWhileNoRequestsAreTaken) {
  stream_.send_says(Transfer::Result::kWantsRead);
  stop_reading();
  EXPECT_EQ(watcher_.interest, kRead);
  stream_.arrives(kPing);
  stream_.send_takes(1000);
  stream_.send_says(Transfer::Result::kWantsRead);
  one_.call(kRead);
  EXPECT_EQ(stream_.recv_calls, recv_calls_);
  EXPECT_EQ(stream_.sent.size(), 1000u);
  EXPECT_EQ(watcher_.interest, kRead);
  while (one_.session->replies().unsent_bytes() > 0) one_.ready(kRead);
  one_.ready(kRead);
  EXPECT_TRUE(stream_.sent.ends_with("x\r\n+PONG\r\n"));
}

TEST_F(CrossedConnection, ASenderThatMustReadGoesOnWhileTheServerIsStalled) {
  stream_.send_says(Transfer::Result::kWantsRead);
  one_.receives(kPing);
  one_.call_stalled(kRead);
  EXPECT_EQ(stream_.recv_calls, 1u);
  EXPECT_EQ(stream_.sent, kPong);
}

TEST_F(CrossedConnection, ARepeatedSendBeginsWithTheSameBytes) {
  stream_.send_says(Transfer::Result::kWantsRead);
  one_.receives(kPing);
  for (int i = 0; i < 10; ++i) {
    stream_.send_says(i % 2 == 0 ? Transfer::Result::kWantsWrite : Transfer::Result::kWantsRead);
    stream_.send_says(i % 2 == 0 ? Transfer::Result::kWantsWrite : Transfer::Result::kWantsRead);
    one_.receives(kPing);  // the stream compares
  }
  while (one_.session->replies().unsent_bytes() > 0) one_.ready(kReadOrWrite);
  std::string expected;
  for (int i = 0; i < 11; ++i) expected += kPong;
  EXPECT_EQ(stream_.sent, expected);
}

TEST_F(CrossedConnection, ARepeatedSendHasNoFewerBytesThoughTheShareShrinks) {
  one_.bytes_max = 1000;
  stream_.send_says(Transfer::Result::kWantsRead);
  one_.receives(request({"ECHO", std::string(2000, 'x')}));
  one_.bytes_max = 10;
  one_.call(kRead);  // the stream compares
  EXPECT_EQ(stream_.sent.size(), 1000u);
  one_.call(kWrite);
  EXPECT_EQ(stream_.sent.size(), 1010u);
}

TEST_F(CrossedConnection, TheLastReplyLeavesBeforeAClosingConnectionEnds) {
  stream_.send_says(Transfer::Result::kWantsRead);
  one_.receives("QUIT\r\n");
  EXPECT_FALSE(one_.closed);
  EXPECT_EQ(watcher_.interest, kRead);
  one_.ready(kRead);
  EXPECT_EQ(stream_.recv_calls, 1u);
  EXPECT_EQ(stream_.sent, "+OK\r\n");
  EXPECT_TRUE(one_.closed);
}

TEST_F(CrossedConnection, ItBreaksInTheMiddleOfACrossedWait) {
  stream_.send_says(Transfer::Result::kWantsRead);
  one_.receives(kPing);
  stream_.recv_says(Transfer::Result::kBroken);
  one_.ready(kReadOrWrite);
  EXPECT_TRUE(one_.closed);
  EXPECT_EQ(stream_.sent, "");
}

TEST_F(CrossedConnection, WhatTheStreamHoldsIsReadInTheNextTurn) {
  stream_.holds_input = true;
  one_.receives(kPing);
  EXPECT_TRUE(watcher_.interest.at_once);
  stream_.holds_input = false;
  one_.receives(kPing);
  EXPECT_FALSE(watcher_.interest.at_once);
  EXPECT_EQ(stream_.sent, std::string(kPong) + kPong);
}

// The first request may have come with the last word of a handshake.
TEST(OpenedConnection, AsksAtOnceForWhatItsStreamHolds) {
  OneConnection one;
  one.stream.holds_input = true;
  one.open();
  EXPECT_TRUE(one.watcher.interest.at_once);
}

TEST_F(CrossedConnection, WhatTheStreamHoldsWaitsWhileNoRequestsAreTaken) {
  stream_.holds_input = true;
  stream_.send_says(Transfer::Result::kWantsWrite);
  stop_reading();
  EXPECT_EQ(watcher_.interest, kWrite);
  while (one_.session->replies().unsent_bytes() > 0) one_.ready(kWrite);
  EXPECT_TRUE(watcher_.interest.at_once);
}

TEST_F(CrossedConnection, WhatTheStreamHoldsIsNotForgottenByAStalledServer) {
  stream_.holds_input = true;
  one_.receives(kPing);
  one_.call_stalled(kRead);
  EXPECT_TRUE(watcher_.interest.at_once);
  EXPECT_EQ(stream_.recv_calls, 1u);
}

}  // namespace
}  // namespace weir::server
