// What is read from connections before they are served: it stays theirs, and in order.
#include <gtest/gtest.h>

#include "server/net/read_batch.h"
#include "tests/server/connection_fixture.h"

namespace weir::server {
namespace {

class ReadAhead : public testing::Test {
 protected:
  ReadAhead() {
    one_.open();
    batch_.set_read_bytes_max(256);
  }
  void add() { batch_.add(one_.connection, kRead); }
  // The connection is served as the first of the batch.
  void serve() { batch_.take().connection->on_ready(kRead, {}, 1024); }

  OneConnection one_;
  StreamScript& stream_ = one_.stream;
  ReadBatch batch_;
};

TEST_F(ReadAhead, IsRunWhenTheConnectionIsServedAndNotBefore) {
  stream_.arrives(kPing + kPing);
  add();
  EXPECT_EQ(stream_.recv_calls, 1u);
  EXPECT_EQ(one_.received_bytes, 0u);
  one_.end_turn();
  EXPECT_EQ(stream_.sent, "");
  stream_.arrives(request({"ECHO", "later"}));
  EXPECT_TRUE(one_.connection->has_read_ahead());
  serve();
  EXPECT_FALSE(one_.connection->has_read_ahead());
  EXPECT_EQ(stream_.recv_calls, 1u);  // once in a turn
  EXPECT_EQ(one_.received_bytes, 2 * kPing.size());
  one_.end_turn();
  EXPECT_EQ(stream_.sent, kPong + kPong);
  one_.ready(kRead);
  EXPECT_EQ(stream_.sent, kPong + kPong + bulk("later"));
}

TEST_F(ReadAhead, TheEndAndAFaultAreSeenWhenItIsServed) {
  for (const auto result : {Transfer::Result::kEnded, Transfer::Result::kBroken}) {
    if (one_.closed) one_.open();
    stream_.recv_says(result);
    add();
    EXPECT_FALSE(one_.session->closing());
    serve();
    EXPECT_TRUE(one_.closed);
  }
}

TEST_F(ReadAhead, NothingToReadIsNoHarm) {
  add();
  serve();
  one_.receives(kPing);
  EXPECT_EQ(stream_.sent, kPong);
}

TEST_F(ReadAhead, WhoIsKilledMeanwhileRunsNothing) {
  stream_.arrives(request({"SET", "a", "1"}));
  add();
  one_.server->sessions().kill(one_.session);
  serve();
  one_.end_turn();
  EXPECT_TRUE(one_.closed);
  auto other = one_.server.connect();
  EXPECT_EQ(other->call({"GET", "a"}), "$-1\r\n");
}

TEST_F(ReadAhead, WhoEndsLeavesTheBatch) {
  stream_.arrives(kPing);
  add();
  Connection* const ended = one_.connection;
  batch_.forget(ended);
  EXPECT_TRUE(batch_.is_empty());
  ended->abandon();
}

// An adapter's bytes are read late, and those of a stream whose calls wait for one another.
TEST_F(ReadAhead, IsForPlainRequestsAlone) {
  EXPECT_TRUE(one_.connection->can_read_ahead(kRead));
  EXPECT_FALSE(one_.connection->can_read_ahead(kWrite));
  stream_.recv_says(Transfer::Result::kWantsWrite);
  one_.ready(kRead);
  EXPECT_FALSE(one_.connection->can_read_ahead(kReadOrWrite));
  one_.ready(kWrite);
  EXPECT_TRUE(one_.connection->can_read_ahead(kRead));
  OneConnection http;
  http.open_http();
  EXPECT_FALSE(http.connection->can_read_ahead(kRead));
}

TEST_F(ReadAhead, TheBytesOfManyDoNotTouchOneAnother) {
  std::vector<std::unique_ptr<OneConnection>> many;
  while (!batch_.is_full()) {
    many.push_back(std::make_unique<OneConnection>());
    many.back()->open();
    many.back()->stream.arrives(request({"ECHO", std::to_string(many.size())}));
    batch_.add(many.back()->connection, kRead);
  }
  EXPECT_GT(many.size(), 3u);
  EXPECT_EQ(batch_.rest().size(), many.size());
  for (size_t i = 0; i < many.size(); ++i) {
    batch_.expect(&many.front()->server->sessions().host());
    EXPECT_EQ(batch_.take().connection, many[i]->connection);
    many[i]->connection->on_ready(kRead, {}, 1024);
    many[i]->end_turn();
    EXPECT_EQ(many[i]->stream.sent, bulk(std::to_string(i + 1)));
  }
  EXPECT_TRUE(batch_.is_empty());
}

TEST_F(ReadAhead, WhoSendsMuchFillsTheBatch) {
  batch_.set_read_bytes_max(256 << 10);
  stream_.arrives(std::string(100 << 10, '\n'));
  add();
  EXPECT_TRUE(batch_.is_full());
  EXPECT_EQ(batch_.room().size(), size_t{256 << 10});
  std::fill(batch_.room().begin(), batch_.room().end(), 'x');  // as another one's bytes would
  batch_.set_read_bytes_max(1 << 20);                          // not now
  serve();
  EXPECT_EQ(one_.received_bytes, size_t{100 << 10});
  one_.receives(kPing);
  EXPECT_EQ(stream_.sent, kPong);
}

}  // namespace
}  // namespace weir::server
