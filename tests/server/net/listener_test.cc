// The listener with real sockets: where it listens, whom it hands over, and what it does when the
// system refuses.
#include "server/net/listener.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>

#include "server/os/log.h"
#include "tests/server/real_sockets.h"

namespace weir::server {
namespace {

using namespace std::chrono_literals;

class ListenerTest : public testing::Test {
 protected:
  ListenerTest() {
    set_log_level(LogLevel::kNothing);
    config_.bind = {"127.0.0.1"};
    config_.port = free_port();
    config_.unixsocket = "";
  }

  // Answers what went wrong, or an empty string.
  std::string open() {
    listener_ = std::make_unique<Listener>(&io_, config_,
                                           [this](std::unique_ptr<ByteStream> stream, Peer peer) {
                                             streams_.push_back(std::move(stream));
                                             peers_.push_back(std::move(peer));
                                           });
    const auto opened = listener_->open();
    return opened ? "" : opened.error();
  }
  void accept_all() {
    io_.restart();
    io_.poll();
  }
  // Goes on until so many are accepted, for ten seconds at most.
  void accept_until(size_t count) {
    io_.restart();
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (streams_.size() < count && std::chrono::steady_clock::now() < end) {
      io_.run_one_until(end);
    }
    EXPECT_EQ(streams_.size(), count);
  }

  TemporaryFolder folder_;
  Config config_;
  boost::asio::io_context io_;
  std::vector<std::unique_ptr<ByteStream>> streams_;
  std::vector<Peer> peers_;
  std::unique_ptr<Listener> listener_;
};

TEST_F(ListenerTest, HandsOverWhoComes) {
  ASSERT_EQ(open(), "");
  EXPECT_EQ(listener_->addresses(), "127.0.0.1:" + std::to_string(config_.port));
  const ClientSocket client(config_.port);
  accept_all();
  ASSERT_EQ(peers_.size(), 1u);
  EXPECT_EQ(peers_[0].address, client.local_address());
  EXPECT_EQ(peers_[0].local_address, "127.0.0.1:" + std::to_string(config_.port));
  EXPECT_EQ(peers_[0].descriptor, streams_[0]->descriptor());
  EXPECT_TRUE(peers_[0].loopback);
  EXPECT_EQ(peers_[0].type, ConnectionType::kTcp);
  EXPECT_EQ(streams_[0]->send("hello").bytes, 5u);
  EXPECT_EQ(client.read(5), "hello");
}

TEST_F(ListenerTest, TellsWhoComesByThePortForTls) {
  config_.tls_port = free_port();
  ASSERT_EQ(open(), "");
  const std::string plain = "127.0.0.1:" + std::to_string(config_.port);
  const std::string encrypted = "127.0.0.1:" + std::to_string(config_.tls_port);
  EXPECT_EQ(listener_->addresses(), plain + ", " + encrypted + " (TLS)");
  const ClientSocket first(config_.tls_port);
  accept_until(1);
  const ClientSocket second(config_.port);
  accept_until(2);
  EXPECT_EQ(peers_[0].type, ConnectionType::kTls);
  EXPECT_EQ(peers_[0].local_address, encrypted);
  EXPECT_EQ(peers_[1].type, ConnectionType::kTcp);
}

TEST_F(ListenerTest, EachPortHasItsTypeOfConnections) {
  config_.http_bind = config_.grpc_bind = config_.metrics_bind = {"127.0.0.1"};
  const std::pair<int64_t*, ConnectionType> ports[] = {
      {&config_.port, ConnectionType::kTcp},
      {&config_.tls_port, ConnectionType::kTls},
      {&config_.http_port, ConnectionType::kHttp},
      {&config_.http_tls_port, ConnectionType::kHttps},
      {&config_.grpc_port, ConnectionType::kGrpc},
      {&config_.grpc_tls_port, ConnectionType::kGrpcTls},
      {&config_.metrics_port, ConnectionType::kMetrics},
      {&config_.metrics_tls_port, ConnectionType::kMetricsTls},
  };
  for (const auto& [port, type] : ports) *port = free_port();
  ASSERT_EQ(open(), "");
  std::vector<std::unique_ptr<ClientSocket>> clients;
  for (const auto& [port, type] : ports) {
    clients.push_back(std::make_unique<ClientSocket>(*port));
    accept_until(clients.size());
    EXPECT_EQ(peers_.back().type, type) << peers_.back().local_address;
    EXPECT_TRUE(peers_.back().loopback);
  }
  EXPECT_TRUE(speaks_http(ConnectionType::kMetricsTls) && speaks_http(ConnectionType::kHttps));
  EXPECT_TRUE(speaks_http(ConnectionType::kGrpcTls) && uses_tls(ConnectionType::kGrpcTls));
  EXPECT_TRUE(speaks_grpc(ConnectionType::kGrpc) && !speaks_grpc(ConnectionType::kHttps));
  EXPECT_FALSE(speaks_http(ConnectionType::kTls) || speaks_http(ConnectionType::kUnixSocket));
  EXPECT_FALSE(uses_tls(ConnectionType::kMetrics) || uses_tls(ConnectionType::kHttp) ||
               uses_tls(ConnectionType::kGrpc));
}

TEST_F(ListenerTest, ThePortForTlsMayBeTheOnlyOne) {
  config_.tls_port = std::exchange(config_.port, 0);
  ASSERT_EQ(open(), "");
  EXPECT_EQ(listener_->addresses(), "127.0.0.1:" + std::to_string(config_.tls_port) + " (TLS)");
}

TEST_F(ListenerTest, SocketsDoNotDelayAndAreProbed) {
  config_.tcp_keepalive = 90;
  ASSERT_EQ(open(), "");
  const ClientSocket client(config_.port);
  accept_all();
  ASSERT_EQ(streams_.size(), 1u);
  const int descriptor = streams_[0]->descriptor();
  EXPECT_NE(option_of(descriptor, IPPROTO_TCP, TCP_NODELAY), 0);
  EXPECT_NE(option_of(descriptor, SOL_SOCKET, SO_KEEPALIVE), 0);
  EXPECT_EQ(option_of(descriptor, IPPROTO_TCP, TCP_KEEPIDLE), 90);
  EXPECT_EQ(option_of(descriptor, IPPROTO_TCP, TCP_KEEPINTVL), 30);
  EXPECT_EQ(option_of(descriptor, IPPROTO_TCP, TCP_KEEPCNT), 3);
}

TEST_F(ListenerTest, WithoutKeepaliveNobodyIsProbed) {
  config_.tcp_keepalive = 0;
  ASSERT_EQ(open(), "");
  const ClientSocket client(config_.port);
  accept_all();
  ASSERT_EQ(streams_.size(), 1u);
  EXPECT_EQ(option_of(streams_[0]->descriptor(), SOL_SOCKET, SO_KEEPALIVE), 0);
}

// Some machines and containers have no IPv6.
bool machine_has_ipv6() {
  const int socket = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  const bool has = ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  if (socket >= 0) ::close(socket);
  return has;
}

TEST_F(ListenerTest, ShowsAddressesOfTheSixthVersionInBrackets) {
  if (!machine_has_ipv6()) GTEST_SKIP() << "this machine has no IPv6";
  config_.bind = {"::1"};
  ASSERT_EQ(open(), "");
  const ClientSocket client(config_.port, "::1");
  accept_all();
  ASSERT_EQ(peers_.size(), 1u);
  EXPECT_EQ(peers_[0].local_address, "[::1]:" + std::to_string(config_.port));
  EXPECT_TRUE(peers_[0].address.starts_with("[::1]:")) << peers_[0].address;
  EXPECT_TRUE(peers_[0].loopback);
}

TEST_F(ListenerTest, SaysWhichAddressIsInUse) {
  ASSERT_EQ(open(), "");
  Listener second(&io_, config_, [](std::unique_ptr<ByteStream>, Peer) {});
  EXPECT_EQ(second.open().error(), "cannot listen on 127.0.0.1:" + std::to_string(config_.port) +
                                       ": Address already in use");
  EXPECT_EQ(second.addresses(), "");
}

TEST_F(ListenerTest, AnOptionalAddressThatIsMissingIsSkipped) {
  config_.bind = {"-192.0.2.1", "127.0.0.1", "-no such name"};
  EXPECT_EQ(open(), "");
  EXPECT_EQ(listener_->addresses(), "127.0.0.1:" + std::to_string(config_.port));
}

TEST_F(ListenerTest, SaysWhichAddressCannotBeHad) {
  config_.bind = {"192.0.2.1"};
  EXPECT_EQ(open(), "cannot listen on 192.0.2.1:" + std::to_string(config_.port) +
                        ": Cannot assign requested address");
}

TEST_F(ListenerTest, SaysThatThereIsNothingToListenOn) {
  config_.port = 0;
  EXPECT_TRUE(open().starts_with("nothing to listen on")) << open();
}

TEST_F(ListenerTest, AUnixSocketHasItsModeAndGoesWithTheListener) {
  config_.port = 0;
  config_.unixsocket = folder_.path + "/weir.sock";
  config_.unixsocketperm = 0620;
  ASSERT_EQ(open(), "");
  struct stat made {};
  ASSERT_EQ(::stat(config_.unixsocket.c_str(), &made), 0);
  EXPECT_TRUE(S_ISSOCK(made.st_mode));
  EXPECT_EQ(made.st_mode & 0777, 0620u);
  const ClientSocket client(config_.unixsocket);
  accept_all();
  ASSERT_EQ(peers_.size(), 1u);
  EXPECT_EQ(peers_[0].type, ConnectionType::kUnixSocket);
  EXPECT_TRUE(peers_[0].loopback);
  EXPECT_EQ(peers_[0].address, config_.unixsocket + ":0");
  EXPECT_EQ(peers_[0].local_address, config_.unixsocket + ":0");
  listener_->close();
  EXPECT_EQ(::stat(config_.unixsocket.c_str(), &made), -1);
}

TEST_F(ListenerTest, AUnixSocketTakesTheNameOfADeadOneAndOfNothingElse) {
  config_.port = 0;
  config_.unixsocket = folder_.path + "/weir.sock";
  ASSERT_EQ(open(), "");
  listener_ = nullptr;  // as if it had been killed: the name stays
  EXPECT_EQ(::access(config_.unixsocket.c_str(), F_OK), 0);
  EXPECT_EQ(open(), "");
  listener_->close();
  const int file = ::creat(config_.unixsocket.c_str(), 0600);
  ASSERT_GE(file, 0);
  ::close(file);
  EXPECT_EQ(open(), "unixsocket '" + config_.unixsocket + "' exists and is not a socket");
  EXPECT_EQ(::access(config_.unixsocket.c_str(), F_OK), 0);
}

TEST_F(ListenerTest, SaysThatAUnixSocketsFolderIsMissing) {
  config_.port = 0;
  config_.unixsocket = folder_.path + "/missing/weir.sock";
  EXPECT_EQ(open(), "cannot listen on " + config_.unixsocket + ": No such file or directory");
}

TEST_F(ListenerTest, SaysThatAUnixSocketsPathIsTooLong) {
  config_.port = 0;
  config_.unixsocket = folder_.path + "/" + std::string(200, 'x');
  EXPECT_EQ(open(), "cannot listen on " + config_.unixsocket + ": File name too long");
}

TEST_F(ListenerTest, WhoFindsTheBacklogFullGetsInLater) {
  config_.port = 0;
  config_.tcp_backlog = 1;
  config_.unixsocket = folder_.path + "/weir.sock";
  ASSERT_EQ(open(), "");
  std::vector<std::unique_ptr<ClientSocket>> clients;
  while (clients.size() < 100) {
    auto client = std::make_unique<ClientSocket>(config_.unixsocket, SOCK_NONBLOCK);
    if (!client->connected()) break;
    clients.push_back(std::move(client));
  }
  EXPECT_LT(clients.size(), 100u);
  accept_all();
  EXPECT_EQ(streams_.size(), clients.size());
  const ClientSocket late(config_.unixsocket, SOCK_NONBLOCK);
  EXPECT_TRUE(late.connected());
  accept_all();
  EXPECT_EQ(streams_.size(), clients.size() + 1);
}

// UBSan tells whether memory can be read by means of a pipe. Without a descriptor for it, it takes
// every object for a broken one.
#if defined(__has_feature)
#if __has_feature(undefined_behavior_sanitizer)
#define WEIR_NEEDS_DESCRIPTORS 1
#endif
#endif
#ifdef WEIR_NEEDS_DESCRIPTORS
constexpr bool kNeedsDescriptors = true;
#else
constexpr bool kNeedsDescriptors = false;
#endif

// Takes all descriptors that the process may have, until it is destroyed.
class NoDescriptorsLeft {
 public:
  NoDescriptorsLeft() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit few = before_;
    few.rlim_cur = 100;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    for (int taken = ::open("/dev/null", O_RDONLY); taken >= 0;
         taken = ::open("/dev/null", O_RDONLY)) {
      taken_.push_back(taken);
    }
    EXPECT_EQ(errno, EMFILE);
  }
  ~NoDescriptorsLeft() {
    for (const int taken : taken_) ::close(taken);
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

// A connection that nobody can accept stays in the backlog and keeps the descriptor readable.
TEST_F(ListenerTest, WithNoDescriptorLeftItPausesAndDoesNotSpin) {
  if (kNeedsDescriptors) GTEST_SKIP() << "the sanitizer needs descriptors";
  ASSERT_EQ(open(), "");
  const ClientSocket client(config_.port);
  {
    const NoDescriptorsLeft none;
    io_.restart();
    const size_t handled = io_.run_for(350ms);
    EXPECT_GE(handled, 2u);
    EXPECT_LE(handled, 12u);
    EXPECT_EQ(streams_.size(), 0u);
  }
  accept_until(1);
}

TEST_F(ListenerTest, WithDescriptorsAgainEveryAddressAccepts) {
  if (kNeedsDescriptors) GTEST_SKIP() << "the sanitizer needs descriptors";
  config_.bind = {"127.0.0.1", "127.0.0.2"};
  config_.unixsocket = folder_.path + "/weir.sock";
  ASSERT_EQ(open(), "");
  const ClientSocket first(config_.port, "127.0.0.1");
  const ClientSocket second(config_.port, "127.0.0.2");
  const ClientSocket third(config_.unixsocket);
  {
    const NoDescriptorsLeft none;
    accept_all();
    EXPECT_EQ(streams_.size(), 0u);
  }
  accept_until(3);
}

TEST_F(ListenerTest, ClosedItAcceptsNobody) {
  ASSERT_EQ(open(), "");
  const ClientSocket client(config_.port);
  listener_->close();
  accept_all();
  EXPECT_EQ(streams_.size(), 0u);
  const ClientSocket late(config_.port);
  EXPECT_FALSE(late.connected());
}

}  // namespace
}  // namespace weir::server
