// A plain socket as a stream: over 127.0.0.1, because only TCP can be reset.
#include "server/net/socket_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weir::server {
namespace {

class SocketStreamTest : public testing::Test {
 protected:
  SocketStreamTest() {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener, generic, size), 0);
    EXPECT_EQ(::listen(listener, 1), 0);
    EXPECT_EQ(::getsockname(listener, generic, &size), 0);
    peer_ = ::socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(::connect(peer_, generic, size), 0);
    stream_ = std::make_unique<SocketStream>(::accept(listener, nullptr, nullptr));
    ::close(listener);
  }
  ~SocketStreamTest() override { close_peer(); }

  void close_peer() {
    if (peer_ >= 0) ::close(std::exchange(peer_, -1));
  }
  // Closes the peer's end so that the system sends a reset.
  void reset_peer() {
    const linger now = {.l_onoff = 1, .l_linger = 0};
    EXPECT_EQ(::setsockopt(peer_, SOL_SOCKET, SO_LINGER, &now, sizeof now), 0);
    close_peer();
  }
  void wait_for(int16_t events) const {
    pollfd one = {.fd = stream_->descriptor(), .events = events, .revents = 0};
    EXPECT_EQ(::poll(&one, 1, 10'000), 1);
  }
  Transfer recv() { return stream_->recv(buffer_); }

  int peer_ = -1;
  std::unique_ptr<SocketStream> stream_;
  std::vector<char> buffer_ = std::vector<char>(16);
};

TEST_F(SocketStreamTest, MovesBytesBothWays) {
  EXPECT_EQ(recv().result, Transfer::Result::kWantsRead);
  EXPECT_EQ(::write(peer_, "hello", 5), 5);
  wait_for(POLLIN);
  const Transfer received = recv();
  EXPECT_EQ(received.result, Transfer::Result::kMoved);
  EXPECT_EQ(std::string_view(buffer_.data(), received.bytes), "hello");
  EXPECT_EQ(recv().result, Transfer::Result::kWantsRead);
  const Transfer sent = stream_->send("world");
  EXPECT_EQ(sent.result, Transfer::Result::kMoved);
  EXPECT_EQ(sent.bytes, 5u);
  char bytes[8];
  EXPECT_EQ(::read(peer_, bytes, sizeof bytes), 5);
  EXPECT_FALSE(stream_->holds_input());
}

TEST_F(SocketStreamTest, GivesNoMoreThanTheBufferHolds) {
  EXPECT_EQ(::write(peer_, "0123456789abcdefghij", 20), 20);
  wait_for(POLLIN);
  EXPECT_EQ(recv().bytes, 16u);
  EXPECT_EQ(recv().bytes, 4u);
}

TEST_F(SocketStreamTest, APeerThatDoesNotReadMakesItWait) {
  const std::string bytes(1 << 20, 'x');
  size_t sent = 0;
  Transfer transfer = stream_->send(bytes);
  while (transfer.result == Transfer::Result::kMoved && sent < (1u << 30)) {
    sent += transfer.bytes;
    transfer = stream_->send(bytes);
  }
  EXPECT_EQ(transfer.result, Transfer::Result::kWantsWrite);
  EXPECT_EQ(transfer.bytes, 0u);
  EXPECT_LT(sent, 100u << 20);
}

TEST_F(SocketStreamTest, APeerThatHasClosedItsHalfStillReceives) {
  EXPECT_EQ(::shutdown(peer_, SHUT_WR), 0);
  wait_for(POLLIN);
  EXPECT_EQ(recv().result, Transfer::Result::kEnded);
  EXPECT_EQ(stream_->send("bye").result, Transfer::Result::kMoved);
  char bytes[8];
  EXPECT_EQ(::read(peer_, bytes, sizeof bytes), 3);
}

TEST_F(SocketStreamTest, AResetBreaksIt) {
  reset_peer();
  wait_for(POLLIN);
  EXPECT_EQ(recv().result, Transfer::Result::kBroken);
  EXPECT_EQ(stream_->send("x").result, Transfer::Result::kBroken);  // and no SIGPIPE
}

TEST_F(SocketStreamTest, AResetWhileOutputWaitsBreaksIt) {
  const std::string bytes(1 << 20, 'x');
  while (stream_->send(bytes).result == Transfer::Result::kMoved) continue;
  reset_peer();
  wait_for(POLLIN);
  EXPECT_EQ(stream_->send(bytes).result, Transfer::Result::kBroken);
}

TEST_F(SocketStreamTest, ClosesItsDescriptor) {
  const int descriptor = stream_->descriptor();
  EXPECT_GE(::fcntl(descriptor, F_GETFD), 0);
  stream_.reset();
  EXPECT_EQ(::fcntl(descriptor, F_GETFD), -1);
}

}  // namespace
}  // namespace weir::server
