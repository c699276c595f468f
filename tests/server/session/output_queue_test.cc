// The queue of replies alone: what is offered when, what a failed turn leaves, and that sending
// moves nothing.
#include "server/session/output_queue.h"

#include <gtest/gtest.h>

#include <random>

#include "server/session/input_buffer.h"

namespace weir::server {
namespace {

constexpr size_t kKb = 1 << 10;

// Appends a reply as a turn of its own, and releases it.
void reply(OutputQueue* queue, std::string_view bytes) {
  queue->begin_turn();
  queue->append(bytes);
  queue->mark(ReplyKind::kPlain);
  queue->release(queue->end());
  queue->end_turn();
}

// Sends what is offered, at most so many bytes.
std::string send(OutputQueue* queue, size_t bytes_max = SIZE_MAX) {
  std::string sent;
  while (!queue->to_send().empty() && sent.size() < bytes_max) {
    const std::string_view piece = queue->to_send().substr(0, bytes_max - sent.size());
    sent.append(piece);
    queue->sent(piece.size());
  }
  return sent;
}

TEST(OutputQueue, OffersNothingBeforeItsRelease) {
  OutputQueue queue;
  queue.begin_turn();
  queue.append("+OK\r\n");
  EXPECT_EQ(queue.to_send(), "");
  EXPECT_EQ(queue.unsent_bytes(), 5u);
  queue.release(3);
  EXPECT_EQ(send(&queue), "+OK");
  queue.release(2);  // what is released stays so
  queue.append("+PONG\r\n");
  queue.release(queue.end());
  EXPECT_EQ(send(&queue), "\r\n+PONG\r\n");
  EXPECT_EQ(queue.unsent_bytes(), 0u);
  EXPECT_EQ(queue.end(), 12u);
}

TEST(OutputQueue, SendsShortPiecesInOrder) {
  OutputQueue queue;
  reply(&queue, "hello");
  EXPECT_EQ(send(&queue, 2), "he");
  reply(&queue, "world");
  EXPECT_EQ(send(&queue, 4), "llow");
  EXPECT_EQ(send(&queue), "orld");
  EXPECT_EQ(queue.to_send(), "");
}

TEST(OutputQueue, SendingMovesNothing) {
  OutputQueue queue;
  reply(&queue, std::string(1000 * kKb, 'x'));
  const char* begin = queue.to_send().data();
  for (size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(queue.to_send().data(), begin + i * kKb);
    queue.sent(kKb);
  }
  EXPECT_EQ(queue.unsent_bytes(), 0u);
}

TEST(OutputQueue, LaterRepliesDoNotMoveEarlierOnes) {
  OutputQueue queue;
  reply(&queue, std::string(100 * kKb, 'a'));
  const char* begin = queue.to_send().data();
  for (int i = 0; i < 100; ++i) reply(&queue, std::string(100 * kKb, 'b'));
  EXPECT_EQ(queue.to_send().data(), begin);
  EXPECT_EQ(queue.to_send(), std::string(100 * kKb, 'a'));
  EXPECT_EQ(send(&queue), std::string(100 * kKb, 'a') + std::string(10'000 * kKb, 'b'));
}

TEST(OutputQueue, WhatIsSentIsGivenBackPieceByPiece) {
  OutputQueue queue;
  for (int i = 0; i < 10; ++i) reply(&queue, std::string(100 * kKb, 'x'));
  EXPECT_GE(queue.capacity(), 1000 * kKb);
  send(&queue, 500 * kKb);
  EXPECT_LE(queue.capacity(), 600 * kKb);
  send(&queue);
  EXPECT_LE(queue.capacity(), 64 * kKb);
}

TEST(OutputQueue, ACommandCutsItsReplyOff) {
  OutputQueue queue;
  reply(&queue, std::string(100 * kKb, 'x'));
  queue.begin_turn();
  queue.append("kept");
  queue.mark(ReplyKind::kPlain);
  const size_t begin = queue.end();
  queue.append("cut off");
  queue.cut(begin);
  queue.mark(ReplyKind::kPlain);
  queue.release(queue.end());
  EXPECT_EQ(send(&queue), std::string(100 * kKb, 'x') + "kept");
}

TEST(OutputQueue, AFailedTurnReplacesWhatIsOfDataAndDropsMessages) {
  OutputQueue queue;
  reply(&queue, "before;");
  send(&queue, 3);
  queue.begin_turn();
  const std::pair<std::string, ReplyKind> replies[] = {
      {"PONG;", ReplyKind::kPlain}, {"value;", ReplyKind::kOfData}, {"word;", ReplyKind::kMessage},
      {"", ReplyKind::kOfData},     {"OK;", ReplyKind::kPlain},     {"5;", ReplyKind::kOfData}};
  for (const auto& [bytes, kind] : replies) {
    queue.append(bytes);
    queue.mark(kind);
  }
  EXPECT_TRUE(queue.turn_touched_data());
  queue.fail("error;");
  EXPECT_EQ(queue.turn_bytes(), std::string("PONG;error;OK;error;").size());
  queue.release(queue.end());
  queue.end_turn();
  EXPECT_FALSE(queue.turn_touched_data());
  EXPECT_EQ(send(&queue), "ore;PONG;error;OK;error;");
}

TEST(OutputQueue, ATurnMayFailTwice) {
  OutputQueue queue;
  queue.begin_turn();
  queue.append("value;");
  queue.mark(ReplyKind::kOfData);
  queue.fail("a longer error;");
  queue.append("PONG;");
  queue.mark(ReplyKind::kPlain);
  queue.fail("error;");
  queue.release(queue.end());
  EXPECT_EQ(send(&queue), "error;PONG;");
}

TEST(OutputQueue, ATurnThatHasRunNothingFailsWithoutATrace) {
  OutputQueue queue;
  reply(&queue, "before;");
  queue.fail("error;");
  EXPECT_EQ(send(&queue), "before;");
}

TEST(OutputQueue, GivesUpWhatIsUnsentAndGoesOnCounting) {
  OutputQueue queue;
  reply(&queue, std::string(100 * kKb, 'x'));
  queue.begin_turn();
  queue.append("unreleased");
  const size_t end = queue.end();
  send(&queue, 10);
  queue.give_up();
  EXPECT_EQ(queue.unsent_bytes(), 0u);
  EXPECT_EQ(queue.turn_bytes(), 0u);
  EXPECT_EQ(queue.end(), end);
  EXPECT_EQ(queue.to_send(), "");
  EXPECT_LT(queue.capacity(), 100u);
  reply(&queue, "after");
  EXPECT_EQ(send(&queue), "after");
}

TEST(OutputQueue, TellsHowLongTheTailMayBecome) {
  OutputQueue queue;
  EXPECT_EQ(queue.tail_bytes_max(1000), 1000u);
  reply(&queue, "0123456789");
  send(&queue, 4);
  EXPECT_EQ(queue.tail_bytes_max(1000), 1004u);
  reply(&queue, std::string(100 * kKb, 'x'));
  const size_t unsent = queue.unsent_bytes();
  EXPECT_EQ(queue.tail_bytes_max(unsent + 7), 7u);
  EXPECT_EQ(queue.tail_bytes_max(unsent - 1), 0u);
}

// Random turns, releases and sends beside a plain string.
TEST(OutputQueue, IsAStringOfWhichTheFrontLeaves) {
  std::mt19937_64 rng(7);
  const auto below = [&rng](size_t bound) { return rng() % bound; };
  for (int life = 0; life < 50; ++life) {
    OutputQueue queue;
    std::string all;
    std::string sent;
    size_t released = 0;
    for (int turn = 0; turn < 60; ++turn) {
      queue.begin_turn();
      for (size_t n = below(4); n > 0; --n) {
        const std::string bytes(below(below(5) == 0 ? 200 * kKb : 50), char('a' + below(26)));
        queue.append(bytes);
        queue.mark(ReplyKind::kPlain);
        all += bytes;
      }
      ASSERT_EQ(queue.end(), all.size());
      ASSERT_EQ(queue.unsent_bytes(), all.size() - sent.size());
      if (below(2) == 0) queue.release(released = all.size());
      queue.end_turn();
      sent += send(&queue, below(150 * kKb));
      ASSERT_LE(sent.size(), released);
    }
    queue.release(all.size());
    sent += send(&queue);
    ASSERT_EQ(sent, all);
  }
}

TEST(InputBuffer, UsingBytesMovesNothing) {
  InputBuffer buffer;
  buffer.append(std::string(1000 * kKb, 'x'));
  const char* begin = buffer.unused().data();
  for (size_t i = 0; i < 999; ++i) {
    buffer.use(kKb);
    EXPECT_EQ(buffer.unused().data(), begin + (i + 1) * kKb);
    EXPECT_EQ(buffer.size(), (999 - i) * kKb);
  }
  EXPECT_FALSE(buffer.empty());
  buffer.use(kKb);
  EXPECT_TRUE(buffer.empty());
  EXPECT_LE(buffer.capacity(), 64 * kKb);
}

TEST(InputBuffer, DoesNotGrowWithWhatHasPassedThrough) {
  InputBuffer buffer;
  buffer.append("x");
  for (int i = 0; i < 10'000; ++i) {
    buffer.append(std::string(kKb, 'a' + i % 26));
    buffer.use(kKb);
    ASSERT_EQ(buffer.size(), 1u);
  }
  EXPECT_LE(buffer.capacity(), 8 * kKb);
  EXPECT_EQ(buffer.unused(), std::string(1, 'a' + 9'999 % 26));
}

TEST(InputBuffer, IsAStringOfWhichTheFrontIsUsed) {
  std::mt19937_64 rng(7);
  InputBuffer buffer;
  std::string expected;
  for (int i = 0; i < 10'000; ++i) {
    const std::string bytes(rng() % 100, char('a' + rng() % 26));
    buffer.append(bytes);
    expected += bytes;
    const size_t used = rng() % 3 == 0 ? expected.size() : rng() % (expected.size() + 1) / 2;
    if (used > 0) buffer.use(used);
    expected.erase(0, used);
    ASSERT_EQ(buffer.unused(), expected);
  }
}

// What may leave before its turn is committed ends before the first reply that may not.
TEST(OutputQueue, TellsWhichTakesLead) {
  OutputQueue queue;
  queue.begin_turn();
  EXPECT_FALSE(queue.leading_takes());
  queue.append("+PONG");
  queue.mark(ReplyKind::kPlain);
  EXPECT_FALSE(queue.leading_takes()) << "no reply of data";
  queue.append(":1");
  queue.mark_take(2);
  queue.append(":1");
  queue.mark_take(3);
  queue.append("+PONG");
  queue.mark(ReplyKind::kPlain);
  const size_t end = queue.end();
  queue.append(":7");
  queue.mark(ReplyKind::kOfData);
  queue.append(":1");
  queue.mark_take(1);
  ASSERT_TRUE(queue.leading_takes());
  EXPECT_EQ(queue.leading_takes()->end, end);
  EXPECT_EQ(queue.leading_takes()->permits, 5u);
  EXPECT_TRUE(queue.turn_touched_data());
}

TEST(OutputQueue, AMessageKeepsTheTakesAfterItBack) {
  OutputQueue queue;
  queue.begin_turn();
  queue.append(">1");
  queue.mark(ReplyKind::kMessage);
  queue.append(":1");
  queue.mark_take(1);
  EXPECT_FALSE(queue.leading_takes());
}

TEST(OutputQueue, ATakeOfAFailedTurnIsAnError) {
  OutputQueue queue;
  queue.begin_turn();
  queue.append(":1");
  queue.mark_take(1);
  queue.fail("-E");
  queue.release(queue.end());
  EXPECT_EQ(send(&queue), "-E");
}

}  // namespace
}  // namespace weir::server
