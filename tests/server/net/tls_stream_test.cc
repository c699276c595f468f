// TLS over a pair of sockets, with OpenSSL's client at the other end, or somebody who is none.
#include "server/net/tls_stream.h"

#include <fcntl.h>
#include <openssl/err.h>

#include <random>
#include <tuple>

#include "server/net/socket_stream.h"
#include "tests/server/net/tls_peer.h"

namespace weir::server {
namespace {

using Progress = TlsStream::Progress;

class TlsStreamTest : public testing::Test {
 protected:
  TlsStreamTest() {
    config_.tls_cert_file = files_.path("server.pem");
    config_.tls_key_file = files_.path("server.key");
    config_.tls_ca_cert_file = files_.path("ca.pem");
    config_.tls_auth_clients = TlsAuthClients::kOptional;
  }
  ~TlsStreamTest() override { close_peer(); }

  void close_peer() {
    if (end_ >= 0) ::close(std::exchange(end_, -1));
  }
  void open() {
    close_peer();
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    end_ = ends[1];
    const auto context = TlsContext::make(config_);
    ASSERT_TRUE(context) << context.error();
    stream_ = std::make_unique<TlsStream>(std::make_unique<SocketStream>(ends[0]), **context);
  }
  // Both sides in turn, until ours is over.
  Progress shake_hands(TlsPeer* peer) {
    open();
    peer->attach(end_);
    auto progress = Progress::kWantsRead;
    for (int i = 0; i < 20 && progress == Progress::kWantsRead; ++i) {
      (void)peer->handshake();
      progress = stream_->handshake();
      EXPECT_EQ(ERR_peek_error(), 0u);
    }
    (void)peer->handshake();
    return progress;
  }
  Transfer recv() {
    const Transfer transfer = stream_->recv(buffer_);
    EXPECT_EQ(ERR_peek_error(), 0u);
    return transfer;
  }
  std::string recv_text() {
    const Transfer transfer = recv();
    return transfer.result == Transfer::Result::kMoved ? std::string(buffer_.data(), transfer.bytes)
                                                       : "";
  }
  void write_raw(const std::string& bytes) const {
    (void)::send(end_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  std::string read_raw() const {
    std::string bytes(1 << 16, '\0');
    const ssize_t size = ::recv(end_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    bytes.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
    return bytes;
  }

  Certificates files_;
  Config config_;
  int end_ = -1;
  std::unique_ptr<TlsStream> stream_;
  std::vector<char> buffer_ = std::vector<char>(64 << 10);
};

TEST_F(TlsStreamTest, ShakesHandsAndMovesBytesBothWays) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsPeer peer(nullptr, version);
    ASSERT_EQ(shake_hands(&peer), Progress::kDone);
    EXPECT_EQ(SSL_version(peer.ssl()), version);
    EXPECT_FALSE(stream_->is_resumed());
    EXPECT_EQ(recv().result, Transfer::Result::kWantsRead);
    EXPECT_TRUE(peer.write("hello"));
    EXPECT_EQ(recv_text(), "hello");
    EXPECT_EQ(recv().result, Transfer::Result::kWantsRead);
    EXPECT_EQ(stream_->send("world").bytes, 5u);
    EXPECT_EQ(peer.read(), "world");
    EXPECT_FALSE(stream_->holds_input());
  }
}

TEST_F(TlsStreamTest, KnowsTheNameThatACertificateHasProved) {
  TlsPeer nobody;
  ASSERT_EQ(shake_hands(&nobody), Progress::kDone);
  EXPECT_EQ(stream_->peer_name(), "");
  TlsPeer shop(&files_.client);
  ASSERT_EQ(shake_hands(&shop), Progress::kDone);
  EXPECT_EQ(stream_->peer_name(), "shop");
  config_.tls_auth_clients = TlsAuthClients::kNo;
  ASSERT_EQ(shake_hands(&shop), Progress::kDone);
  EXPECT_EQ(stream_->peer_name(), "");
}

TEST_F(TlsStreamTest, RefusesCertificatesThatProveNothing) {
  const Certificate forged = make_certificate("shop", nullptr);
  TlsPeer liar(&forged);
  ASSERT_EQ(shake_hands(&liar), Progress::kFailed);
  EXPECT_EQ(stream_->failure(), "certificate verify failed: self-signed certificate");
  const Certificate old = make_certificate("shop", &files_.authority, -60);
  TlsPeer late(&old);
  ASSERT_EQ(shake_hands(&late), Progress::kFailed);
  EXPECT_EQ(stream_->failure(), "certificate verify failed: certificate has expired");
  config_.tls_auth_clients = TlsAuthClients::kYes;
  TlsPeer nobody;
  ASSERT_EQ(shake_hands(&nobody), Progress::kFailed);
  EXPECT_EQ(stream_->failure(), "peer did not return a certificate");
}

TEST_F(TlsStreamTest, ATooOldClientIsRefusedByName) {
  config_.tls_protocols = "TLSv1.3";
  TlsPeer old(nullptr, TLS1_2_VERSION);
  ASSERT_EQ(shake_hands(&old), Progress::kFailed);
  EXPECT_EQ(stream_->failure(), "unsupported protocol");
}

TEST_F(TlsStreamTest, ASessionIsResumedUnlessThatIsOff) {
  for (const bool caching : {true, false}) {
    config_.tls_session_caching = caching;
    TlsPeer peer(&files_.client, TLS1_2_VERSION);
    open();
    const auto context = TlsContext::make(config_);
    ASSERT_TRUE(context);
    SSL_SESSION* session = nullptr;
    for (const bool again : {false, true}) {
      int ends[2];
      ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
      TlsStream stream(std::make_unique<SocketStream>(ends[0]), **context);
      peer.attach(ends[1]);
      if (again) SSL_set_session(peer.ssl(), session);
      auto progress = Progress::kWantsRead;
      for (int i = 0; i < 20 && progress == Progress::kWantsRead; ++i) {
        (void)peer.handshake();
        progress = stream.handshake();
      }
      (void)peer.handshake();
      ASSERT_EQ(progress, Progress::kDone);
      EXPECT_EQ(stream.is_resumed(), again && caching);
      EXPECT_EQ(stream.peer_name(), "shop");  // also of one whose certificate was not shown again
      if (!again) session = SSL_get1_session(peer.ssl());
      (void)SSL_shutdown(peer.ssl());  // else it takes the session for a bad one
      ::close(ends[1]);
    }
    SSL_SESSION_free(session);
  }
}

// Else who comes by a port that asks nobody would have a key to the one that does.
TEST_F(TlsStreamTest, TheSessionOfOneWhoWasNotAskedIsNotResumedByOneWhoIs) {
  config_.tls_auth_clients = TlsAuthClients::kYes;
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const auto context = TlsContext::make(config_);
    ASSERT_TRUE(context);
    TlsPeer nobody(nullptr, version);
    SSL_SESSION* session = nullptr;
    for (const auto& [is_asked, is_resumed, wanted] :
         {std::tuple(false, false, Progress::kDone), std::tuple(false, true, Progress::kDone),
          std::tuple(true, false, Progress::kFailed)}) {
      int ends[2];
      ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
      TlsStream stream(std::make_unique<SocketStream>(ends[0]), **context);
      if (!is_asked) stream.ask_no_certificate();
      nobody.attach(ends[1]);
      if (session != nullptr) SSL_set_session(nobody.ssl(), session);
      auto progress = Progress::kWantsRead;
      for (int i = 0; i < 20 && progress == Progress::kWantsRead; ++i) {
        (void)nobody.handshake();
        progress = stream.handshake();
      }
      (void)nobody.handshake();
      (void)nobody.read();  // with TLS 1.3 a session comes after the handshake
      EXPECT_EQ(progress, wanted);
      EXPECT_EQ(stream.is_resumed(), is_resumed);
      EXPECT_EQ(stream.peer_name(), "");
      if (session == nullptr) session = SSL_get1_session(nobody.ssl());
      (void)SSL_shutdown(nobody.ssl());
      ::close(ends[1]);
    }
    SSL_SESSION_free(session);
  }
}

TEST_F(TlsStreamTest, SeveralRecordsComeTogether) {
  TlsPeer peer;
  ASSERT_EQ(shake_hands(&peer), Progress::kDone);
  std::string all;
  for (int i = 0; i < 100; ++i) {
    all += "record " + std::to_string(i);
    EXPECT_TRUE(peer.write("record " + std::to_string(i)));
  }
  EXPECT_EQ(recv_text(), all);
  EXPECT_FALSE(stream_->holds_input());
}

TEST_F(TlsStreamTest, WhatIsLeftInsideIsSaidToBeThere) {
  TlsPeer peer;
  ASSERT_EQ(shake_hands(&peer), Progress::kDone);
  EXPECT_TRUE(peer.write("0123456789"));
  EXPECT_TRUE(peer.write("abcde"));
  buffer_.resize(4);
  std::string all;
  for (const bool holds : {true, true, true}) {
    all += recv_text();
    EXPECT_EQ(stream_->holds_input(), holds);
  }
  all += recv_text();
  EXPECT_FALSE(stream_->holds_input());
  EXPECT_EQ(all, "0123456789abcde");
}

// Whoever asks in a loop as long as there seems to be input would not sleep any more.
TEST_F(TlsStreamTest, APartOfARecordIsNoInput) {
  TlsPeer peer;
  ASSERT_EQ(shake_hands(&peer), Progress::kDone);
  (void)peer.read();
  int ends[2];  // a place to take a record from
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  SSL_set_fd(peer.ssl(), ends[0]);
  EXPECT_TRUE(peer.write("hello"));
  char record[256];
  const ssize_t size = ::read(ends[1], record, sizeof record);
  ASSERT_GT(size, 10);
  for (ssize_t i = 0; i < size - 1; ++i) {
    write_raw(std::string(record + i, 1));
    EXPECT_EQ(recv().result, Transfer::Result::kWantsRead);
    EXPECT_FALSE(stream_->holds_input());
  }
  write_raw(std::string(record + size - 1, 1));
  EXPECT_EQ(recv_text(), "hello");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(TlsStreamTest, APeerThatDoesNotReadMakesItWaitAndLosesNothing) {
  TlsPeer peer;
  ASSERT_EQ(shake_hands(&peer), Progress::kDone);
  std::string all;
  for (int i = 0; all.size() < (4u << 20); ++i) all += std::to_string(i) + ' ';
  size_t sent = 0;
  std::string came;
  bool waited = false;
  while (sent < all.size()) {
    const Transfer transfer = stream_->send(std::string_view(all).substr(sent));
    ASSERT_EQ(ERR_peek_error(), 0u);
    if (transfer.result == Transfer::Result::kMoved) {
      sent += transfer.bytes;
      continue;
    }
    ASSERT_EQ(transfer.result, Transfer::Result::kWantsWrite);
    waited = true;
    came += peer.read();
  }
  came += peer.read(all.size());
  EXPECT_TRUE(waited);
  EXPECT_EQ(came, all);
}

TEST_F(TlsStreamTest, WhatCameBeforeTheEndIsHandedOutBeforeIt) {
  TlsPeer peer;
  ASSERT_EQ(shake_hands(&peer), Progress::kDone);
  EXPECT_TRUE(peer.write("QUIT"));
  (void)SSL_shutdown(peer.ssl());
  EXPECT_EQ(recv_text(), "QUIT");
  EXPECT_TRUE(stream_->holds_input());  // the end was taken from the descriptor
  EXPECT_EQ(recv().result, Transfer::Result::kEnded);
  EXPECT_EQ(stream_->send("+OK").result, Transfer::Result::kMoved);
  EXPECT_EQ(recv().result, Transfer::Result::kEnded);
}

TEST_F(TlsStreamTest, AnEndWithoutAWordIsAnEnd) {
  TlsPeer peer;
  ASSERT_EQ(shake_hands(&peer), Progress::kDone);
  (void)peer.read();  // the tickets, so that the close is no reset
  ASSERT_EQ(::shutdown(end_, SHUT_WR), 0);
  EXPECT_EQ(recv().result, Transfer::Result::kEnded);
  EXPECT_EQ(stream_->send("bye").result, Transfer::Result::kMoved);
  EXPECT_EQ(peer.read(), "bye");
}

TEST_F(TlsStreamTest, SaysThatItEnds) {
  TlsPeer peer;
  ASSERT_EQ(shake_hands(&peer), Progress::kDone);
  EXPECT_EQ(stream_->send("last").bytes, 4u);
  stream_.reset();
  EXPECT_EQ(peer.read(), "last");
  EXPECT_TRUE(peer.has_close_notify());
}

TEST_F(TlsStreamTest, APeerThatIsGoneBreaksIt) {
  TlsPeer peer;
  ASSERT_EQ(shake_hands(&peer), Progress::kDone);
  close_peer();
  Transfer transfer = stream_->send("x");
  EXPECT_EQ(transfer.result, Transfer::Result::kBroken);  // and no SIGPIPE
  EXPECT_EQ(stream_->send("x").result, Transfer::Result::kBroken);
  EXPECT_EQ(recv().result, Transfer::Result::kBroken);
}

TEST_F(TlsStreamTest, RenegotiationIsRefused) {
  TlsPeer peer(nullptr, TLS1_2_VERSION);
  ASSERT_EQ(shake_hands(&peer), Progress::kDone);
  ASSERT_EQ(SSL_renegotiate(peer.ssl()), 1);
  (void)peer.handshake();  // sends the request
  const Transfer transfer = recv();
  EXPECT_NE(transfer.result, Transfer::Result::kMoved);
  EXPECT_FALSE(peer.handshake());
  EXPECT_EQ(SSL_get_error(peer.ssl(), -1), SSL_ERROR_SSL);  // the alert no_renegotiation
  ERR_clear_error();
}

// A key update holds no bytes for us, and OpenSSL would read on and on.
TEST_F(TlsStreamTest, KeyUpdatesDoNotKeepItBusy) {
  TlsPeer peer(nullptr, TLS1_3_VERSION);
  ASSERT_EQ(shake_hands(&peer), Progress::kDone);
  BIO* records = BIO_new(BIO_s_mem());
  SSL_set0_wbio(peer.ssl(), records);
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(SSL_key_update(peer.ssl(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
    ASSERT_TRUE(peer.handshake());
  }
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(records, &bytes);
  write_raw({bytes, static_cast<size_t>(size)});
  EXPECT_EQ(recv().result, Transfer::Result::kWantsRead);
  std::string left(1 << 20, '\0');
  const ssize_t unread =
      ::recv(stream_->descriptor(), left.data(), left.size(), MSG_PEEK | MSG_DONTWAIT);
  EXPECT_GT(unread, size / 2) << "of " << size;
}

TEST_F(TlsStreamTest, APlainClientIsToldFromABrokenOne) {
  for (const char* const words :
       {"PING\r\n", "*1\r\n$4\r\nPING\r\n", "GET / HTTP/1.1\r\n\r\n", "P"}) {
    open();
    write_raw(words);
    EXPECT_EQ(stream_->handshake(), Progress::kPlain) << words;
    EXPECT_EQ(read_raw(), "");
  }
  open();
  write_raw("\x16\x03\x01\x40\x01 no hello");
  EXPECT_NE(stream_->handshake(), Progress::kPlain);
}

TEST_F(TlsStreamTest, AClientThatGoesIsNoMystery) {
  open();
  close_peer();
  EXPECT_EQ(stream_->handshake(), Progress::kFailed);
  EXPECT_EQ(stream_->failure(), "the client has closed the connection");
}

TEST_F(TlsStreamTest, GarbageInPlaceOfAHandshakeEndsIt) {
  std::mt19937 random(15);
  for (int round = 0; round < 300; ++round) {
    open();
    std::string bytes = "\x16\x03\x01";
    for (int i = 0; i < 400; ++i) bytes += static_cast<char>(random());
    bytes[3] = 1;  // a record of some hundred bytes
    write_raw(bytes);
    auto progress = stream_->handshake();
    EXPECT_EQ(ERR_peek_error(), 0u);
    if (progress != Progress::kWantsRead) continue;
    close_peer();
    progress = stream_->handshake();
    EXPECT_EQ(progress, Progress::kFailed);
  }
}

TEST_F(TlsStreamTest, GarbageAfterTheHandshakeBreaksIt) {
  std::mt19937 random(16);
  for (int round = 0; round < 50; ++round) {
    TlsPeer peer;
    ASSERT_EQ(shake_hands(&peer), Progress::kDone);
    std::string bytes = round % 2 == 0 ? "" : std::string("\x17\x03\x03\x00\x20", 5);
    for (int i = 0; i < 400; ++i) bytes += static_cast<char>(random());
    write_raw(bytes);
    Transfer transfer = recv();
    if (transfer.result == Transfer::Result::kWantsRead)
      continue;  // a long record that has not come whole
    EXPECT_EQ(transfer.result, Transfer::Result::kBroken);
    EXPECT_EQ(recv().result, Transfer::Result::kBroken);
    EXPECT_EQ(stream_->send("x").result, Transfer::Result::kBroken);
  }
}

}  // namespace
}  // namespace weir::server
