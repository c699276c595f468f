// Handshakes over pairs of sockets, on a clock of the test's own.
#include "server/net/handshakes.h"

#include "server/net/socket_stream.h"
#include "server/os/log.h"
#include "tests/server/net/tls_peer.h"

namespace weir::server {
namespace {

class LookedClock : public Clock {
 public:
  int64_t wall_ns() override { return now_ns; }
  int64_t steady_ns() override { return now_ns += per_look_ns; }
  void sleep_ns(int64_t) override {}

  int64_t now_ns = 1'000 * kNsPerS;
  int64_t per_look_ns = 0;
};

class HandshakesTest : public testing::Test {
 protected:
  // A client, and what the server's side has made of it.
  struct Client {
    int end = -1;
    TlsPeer peer;

    ~Client() { ::close(end); }
    bool has_answer() const {
      char byte = 0;
      return ::recv(end, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
    }
    std::string read_raw() const {
      std::string bytes(1 << 12, '\0');
      const ssize_t size = ::recv(end, bytes.data(), bytes.size(), MSG_DONTWAIT);
      bytes.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
      return bytes;
    }
    bool is_closed() const {
      char byte = 0;
      return ::recv(end, &byte, 1, MSG_DONTWAIT) == 0;
    }
  };

  HandshakesTest() {
    set_log_level(LogLevel::kNothing);
    Config config;
    config.tls_cert_file = files_.path("server.pem");
    config.tls_key_file = files_.path("server.key");
    config.tls_auth_clients = TlsAuthClients::kNo;
    EXPECT_TRUE(tls_.load(config));
  }

  std::unique_ptr<Client> begin() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    auto client = std::make_unique<Client>();
    client->end = ends[1];
    client->peer.attach(client->end);
    handshakes_.begin(std::make_unique<SocketStream>(ends[0]),
                      {.address = std::to_string(++begun_), .type = ConnectionType::kTls});
    return client;
  }

  Certificates files_;
  LookedClock clock_;
  Tls tls_;
  boost::asio::io_context io_;
  std::vector<std::string> done_;
  std::vector<std::unique_ptr<ByteStream>> streams_;
  int begun_ = 0;
  Handshakes handshakes_{&io_, &clock_, &tls_,
                         [this](std::unique_ptr<ByteStream> stream, Peer peer) {
                           streams_.push_back(std::move(stream));
                           done_.push_back(peer.address);
                         }};
};

TEST_F(HandshakesTest, HandsOverWhoIsDone) {
  const auto client = begin();
  EXPECT_EQ(tls_.metrics.pending, 1u);
  for (int i = 0; i < 5 && done_.empty(); ++i) {
    (void)client->peer.handshake();
    handshakes_.step();
  }
  EXPECT_EQ(done_, std::vector<std::string>{"1"});
  EXPECT_TRUE(handshakes_.empty());
  EXPECT_EQ(tls_.metrics.handshakes, 1u);
  EXPECT_EQ(tls_.metrics.failed, 0u);
  EXPECT_EQ(tls_.metrics.pending, 0u);
  EXPECT_EQ(streams_[0]->send("hello").bytes, 5u);
  EXPECT_EQ(client->peer.read(), "hello");
}

TEST_F(HandshakesTest, ATurnHasTimeForTheOldestThatCanGoOn) {
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(begin());
  for (const int late : {3, 1, 2}) (void)clients[late]->peer.handshake();
  clock_.per_look_ns = 2 * Handshakes::kTurnNs;
  const auto answered = [&] {
    std::string numbers;
    for (const auto& client : clients) numbers += client->has_answer() ? '1' : '0';
    return numbers;
  };
  handshakes_.step();
  EXPECT_EQ(answered(), "0100");
  handshakes_.step();
  EXPECT_EQ(answered(), "0110");
  (void)clients[0]->peer.handshake();
  handshakes_.step();
  EXPECT_EQ(answered(), "1110");
  clock_.per_look_ns = 0;
  handshakes_.step();
  EXPECT_EQ(answered(), "1111");
}

TEST_F(HandshakesTest, OneThatIsNotOverInTimeEnds) {
  const auto old = begin();
  clock_.now_ns += Handshakes::kTimeoutNs;
  const auto young = begin();
  handshakes_.step();
  EXPECT_EQ(handshakes_.count(), 2u);
  clock_.now_ns += 1;
  handshakes_.step();
  EXPECT_EQ(handshakes_.count(), 1u);
  EXPECT_TRUE(old->is_closed());
  EXPECT_FALSE(young->is_closed());
  EXPECT_EQ(tls_.metrics.failed, 1u);
}

TEST_F(HandshakesTest, WhoSpeaksNoTlsIsToldInPlainWords) {
  const auto client = begin();
  EXPECT_EQ(::send(client->end, "PING\r\n", 6, 0), 6);
  handshakes_.step();
  EXPECT_EQ(client->read_raw(),
            "-ERR this port is for connections over TLS (tls-port); yours did not begin with a "
            "handshake\r\n");
  EXPECT_TRUE(client->is_closed());
  EXPECT_TRUE(handshakes_.empty());
  EXPECT_EQ(tls_.metrics.failed, 1u);
}

TEST_F(HandshakesTest, NewCertificatesAreForThoseWhoBeginLater) {
  const auto client = begin();
  Config config;
  config.tls_cert_file = files_.write("other.pem", files_.client);
  config.tls_key_file = files_.write_key("other.key", files_.client);
  config.tls_auth_clients = TlsAuthClients::kNo;
  ASSERT_TRUE(tls_.load(config));
  const auto later = begin();
  for (int i = 0; i < 5; ++i) {
    (void)client->peer.handshake();
    (void)later->peer.handshake();
    handshakes_.step();
  }
  ASSERT_EQ(done_.size(), 2u);
  EXPECT_EQ(common_name_of(*SSL_get0_peer_certificate(client->peer.ssl())), "weir");
  EXPECT_EQ(common_name_of(*SSL_get0_peer_certificate(later->peer.ssl())), "shop");
}

}  // namespace
}  // namespace weir::server
