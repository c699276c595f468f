// Peers over real connections, of which some answer, and others are silent, slow, or lie.
#include "server/failover/peers/peer_threads.h"

#include <gmock/gmock.h>
#include <poll.h>

#include <atomic>
#include <csignal>

#include "tests/server/fake_server.h"
#include "tests/server/real_sockets.h"

namespace weir::server {
namespace {

using ::testing::HasSubstr;

constexpr RedisClient::Patience kPatience{
    .silence_ms = 150, .exchange_ms = 150, .exchange_bytes = 70'000};

// Other threads go on.
void pause_ms(int ms) { ::poll(nullptr, 0, ms); }

// Takes connections one after another, and does with each what `serve` does.
class OtherMember {
 public:
  explicit OtherMember(std::function<void(int client)> serve) : serve_(std::move(serve)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = on_this_machine(0);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    worker_.post([this] {
      for (int client = 0; (client = ::accept(listener_, nullptr, nullptr)) >= 0;) {
        ++connections_;
        client_ = client;
        if (!is_ending_) serve_(client);
        client_ = -1;
        ::close(client);
      }
    });
  }
  // Those who ask may keep their connections.
  ~OtherMember() {
    is_ending_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    if (client_ >= 0) ::shutdown(client_, SHUT_RDWR);
    worker_.stop();
    ::close(listener_);
  }
  const std::string& address() const { return address_; }
  int connections() const { return connections_; }

 private:
  const std::function<void(int client)> serve_;
  int listener_ = -1;
  std::string address_;
  std::atomic<int> connections_{0};
  std::atomic<int> client_{-1};
  std::atomic<bool> is_ending_{false};
  storage::WorkerThread worker_;
};

// Answers PING, and everything else by `reply`, until the other end hangs up.
std::function<void(int)> answering(const std::string& reply) {
  return [reply](int client) {
    char bytes[4096];
    for (ssize_t got = 0; (got = ::recv(client, bytes, sizeof bytes, 0)) > 0;) {
      const std::string_view text(bytes, static_cast<size_t>(got));
      const std::string& all = text.find("PING") != text.npos ? "+PONG\r\n" : reply;
      if (::send(client, all.data(), all.size(), MSG_NOSIGNAL) < 0) return;
    }
  };
}

// Reads, and says nothing.
void be_silent(int client) {
  char bytes[4096];
  while (::recv(client, bytes, sizeof bytes, 0) > 0) {
  }
}

class PeerThreadsTest : public testing::Test {
 protected:
  // OpenSSL writes without MSG_NOSIGNAL; weir-server ignores the signal as well (main.cc).
  void SetUp() override { std::signal(SIGPIPE, SIG_IGN); }
  void ask(const std::string& lane, const std::string& address) {
    peers_.ask(
        {.lane = lane, .address = address, .words = {"WEIR", "FACTS"}},
        [this, lane](const Peers::Answer& answer) {
          answers_[lane].push_back(answer ? answer->text : "failed: " + answer.error());
        },
        clock_.steady_ns());
  }
  // Until a lane has so many answers.
  std::string wait(const std::string& lane, size_t count = 1) {
    while (answers_[lane].size() < count) {
      peers_.deliver(clock_.steady_ns());
      pause_ms(1);
    }
    return answers_[lane].back();
  }

  SystemClock clock_;
  std::map<std::string, std::vector<std::string>> answers_;
  PeerThreads peers_{{}, kPatience, &clock_};
};

TEST_F(PeerThreadsTest, AMemberAnswersOnAConnectionThatStays) {
  OtherMember member(answering("$2\r\nhi\r\n"));
  for (size_t round = 1; round <= 3; ++round) {
    ask("b", member.address());
    EXPECT_TRUE(peers_.is_asking());
    EXPECT_EQ(wait("b", round), "hi");
    EXPECT_FALSE(peers_.is_asking());
  }
  EXPECT_EQ(member.connections(), 1);
}

TEST_F(PeerThreadsTest, AConnectionThatWasClosedMeanwhileIsMadeAnew) {
  OtherMember member([](int client) {
    char bytes[4096];
    for (const char* reply : {"+PONG\r\n", "$2\r\nhi\r\n"}) {
      if (::recv(client, bytes, sizeof bytes, 0) <= 0) return;
      (void)::send(client, reply, std::string_view(reply).size(), MSG_NOSIGNAL);
    }
  });
  ask("b", member.address());
  EXPECT_EQ(wait("b"), "hi");
  ask("b", member.address());
  EXPECT_EQ(wait("b", 2), "hi");
  EXPECT_EQ(member.connections(), 2);
}

// A peer that hangs or lies holds up its own lane only.
TEST_F(PeerThreadsTest, one_silent_peer) {
  OtherMember silent(be_silent);
  OtherMember good(answering("$2\r\nhi\r\n"));
  ask("silent", silent.address());
  for (size_t round = 1; round <= 20; ++round) {
    ask("good", good.address());
    EXPECT_EQ(wait("good", round), "hi");
    if (round == 1) {
      EXPECT_TRUE(answers_["silent"].empty());
    }
  }
  EXPECT_THAT(wait("silent"), HasSubstr("failed: "));
  EXPECT_TRUE(answers_["silent"].size() == 1);
  OtherMember other(answering("$2\r\nhi\r\n"));
  ask("silent", other.address());
  EXPECT_EQ(wait("silent", 2), "hi") << "the lane goes on with another member";
}

TEST_F(PeerThreadsTest, LiesAndTricklesEnd) {
  OtherMember liar(answering("*1\r\n:x\r\n"));
  ask("liar", liar.address());
  EXPECT_THAT(wait("liar"), HasSubstr("failed: "));
  OtherMember endless([](int client) {
    const std::string piece(10'000, 'x');
    const std::string header = "$60000000\r\n";
    (void)::send(client, "+PONG\r\n", 7, MSG_NOSIGNAL);
    (void)::send(client, header.data(), header.size(), MSG_NOSIGNAL);
    while (::send(client, piece.data(), piece.size(), MSG_NOSIGNAL) > 0) {
    }
  });
  ask("endless", endless.address());
  EXPECT_THAT(wait("endless"), HasSubstr("failed: "));
  OtherMember slow([](int client) {
    (void)::send(client, "+PONG\r\n", 7, MSG_NOSIGNAL);
    while (::send(client, "$", 1, MSG_NOSIGNAL) > 0) pause_ms(20);
  });
  ask("slow", slow.address());
  EXPECT_THAT(wait("slow"), HasSubstr("failed: "));
  OtherMember refuses(answering("-NOPERM you may not\r\n"));
  ask("refuses", refuses.address());
  EXPECT_THAT(wait("refuses"), HasSubstr("NOPERM you may not"));
}

// A handshake of which a byte comes now and then is within the patience of each step.
TEST_F(PeerThreadsTest, WhatNoStepBoundsIsCutOff) {
  PeerThreads secured({.tls = true, .user = "", .password = "", .tls_options = {}},
                      RedisClient::Patience{.silence_ms = 60'000}, &clock_);
  OtherMember slow([](int client) {
    const std::string_view handshake("\x16\x03\x03\x40\x00\x02\x00\x3f\xfc", 9);
    (void)::send(client, handshake.data(), handshake.size(), MSG_NOSIGNAL);
    while (::send(client, "\0", 1, MSG_NOSIGNAL) > 0) pause_ms(50);
  });
  bool has_ended = false;
  int64_t now_ns = 0;
  secured.ask(
      {.lane = "b", .address = slow.address(), .words = {"PING"}},
      [&](const Peers::Answer& answer) { has_ended = !answer; }, now_ns);
  for (int ms = 0; ms < 400; ++ms) {
    secured.deliver(now_ns);
    pause_ms(1);
  }
  EXPECT_FALSE(has_ended);
  now_ns += PeerThreads::kHangNs + 1;
  while (!has_ended) {
    secured.deliver(now_ns);
    pause_ms(1);
  }
}

TEST_F(PeerThreadsTest, WhatIsNoAddressIsNotAsked) {
  ask("b", "somewhere");
  EXPECT_THAT(wait("b"), HasSubstr("failed: "));
}

TEST_F(PeerThreadsTest, TheEndDoesNotWaitForWhoIsSilent) {
  OtherMember silent(be_silent);
  auto peers = std::make_unique<PeerThreads>(PeerAccess{},
                                             RedisClient::Patience{.silence_ms = 60'000}, &clock_);
  peers->ask(
      {.lane = "b", .address = silent.address(), .words = {"PING"}}, [](const Peers::Answer&) {},
      0);
  while (silent.connections() == 0) pause_ms(1);
  peers.reset();  // a test that hangs here has failed
}

}  // namespace
}  // namespace weir::server
