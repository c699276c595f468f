// The daemon with real sockets and signals: how it serves, and how it stops. It runs in a process
// of its own, so that no test has a thread besides the store's.
#include "server/net/daemon.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include "tests/server/fake_server.h"
#include "tests/server/real_sockets.h"
#include "tests/support/stop_process.h"

namespace weir::server {
namespace {

constexpr size_t kPongBytes = 7;

// A daemon that runs in a process of its own until the test ends.
class RunningDaemon {
 public:
  // With each look at its clock, which stands otherwise, `tick_per_look_ns` pass.
  explicit RunningDaemon(Config config, int64_t tick_per_look_ns = 0) {
    int ready[2];
    EXPECT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    std::fflush(nullptr);  // so that the child does not write what was buffered once more
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      // An exit would wait for RocksDB's threads, which earlier tests have started in the parent.
      std::_Exit(serve(std::move(config), tick_per_look_ns, ready[1]));
    }
    ::close(ready[1]);
    char ready_byte = 0;
    EXPECT_EQ(::read(ready[0], &ready_byte, 1), 1) << "the daemon cannot listen";
    ::close(ready[0]);
  }
  ~RunningDaemon() {
    if (pid_ == 0) return;
    signal(SIGTERM);
    EXPECT_EQ(join(), 0);
  }
  RunningDaemon(const RunningDaemon&) = delete;
  RunningDaemon& operator=(const RunningDaemon&) = delete;

  void signal(int number) const { EXPECT_EQ(::kill(pid_, number), 0); }
  // Holds it up, so that what is sent meanwhile comes at once.
  void hold() const { stop_process(pid_); }
  void go_on() const { signal(SIGCONT); }
  // Waits for its end, and answers its exit code, or -1 when a signal ended it.
  int join() {
    int status = 0;
    EXPECT_EQ(::waitpid(std::exchange(pid_, 0), &status, 0) > 0, true);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  // Writes a byte to `ready` when it listens.
  static int serve(Config config, int64_t tick_per_look_ns, int ready) {
    FakeServer server(std::move(config));
    server.clock.tick_per_look_ns = tick_per_look_ns;
    boost::asio::io_context io(1);
    Daemon daemon(&*server, &io);
    if (!daemon.listen()) return 1;
    EXPECT_EQ(::write(ready, "r", 1), 1);
    return daemon.run();
  }

  pid_t pid_ = 0;
};

// Sends everything while it reads so many bytes.
std::string exchange(const ClientSocket& client, std::string_view bytes, size_t reply_size) {
  std::string reply;
  while (reply.size() < reply_size) {
    pollfd can = {.fd = client.descriptor(), .events = POLLIN, .revents = 0};
    if (!bytes.empty()) can.events |= POLLOUT;
    if (::poll(&can, 1, 10'000) != 1) break;
    char piece[65536];
    const ssize_t came = ::recv(client.descriptor(), piece, sizeof piece, MSG_DONTWAIT);
    if (came == 0) break;
    if (came > 0) reply.append(piece, static_cast<size_t>(came));
    const ssize_t sent =
        ::send(client.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return reply;
}

class DaemonTest : public testing::Test {
 protected:
  DaemonTest() {
    config_.bind = {"127.0.0.1"};
    config_.port = free_port();
  }
  void start() { running_.emplace(config_); }

  TemporaryFolder folder_;
  Config config_;
  std::optional<RunningDaemon> running_;
};

TEST_F(DaemonTest, ServesManyConnectionsByTcpAndUnixSocket) {
  config_.unixsocket = folder_.path + "/weir.sock";
  start();
  std::vector<std::unique_ptr<ClientSocket>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<ClientSocket>(config_.port));
    clients.push_back(std::make_unique<ClientSocket>(config_.unixsocket));
  }
  for (int round = 0; round < 3; ++round) {
    for (const auto& client : clients) client->write(kPing);
    for (const auto& client : clients) EXPECT_EQ(client->read(kPongBytes), kPong);
  }
}

TEST_F(DaemonTest, AnswersAPipelineThatIsLargerThanEveryBuffer) {
  start();
  const ClientSocket client(config_.port);
  std::string pipeline;
  std::string expected;
  for (int i = 0; i < 20'000; ++i) {
    pipeline += request({"ECHO", std::to_string(i)});
    expected += bulk(std::to_string(i));
  }
  EXPECT_EQ(exchange(client, pipeline, expected.size()), expected);
}

TEST_F(DaemonTest, WhoClosesItsHalfGetsItsRepliesAndTheEnd) {
  start();
  const ClientSocket client(config_.port);
  client.write(kPing + kPing + "*1\r\n$4\r\nPI");
  client.close_half();
  EXPECT_EQ(client.read_to_end(), std::string(kPong) + kPong);
}

// A pipeline of long commands lets others in before it is done.
TEST_F(DaemonTest, WhoAsksForALittleComesBetweenTheLongCommandsOfAPipeline) {
  start();
  const ClientSocket heavy(config_.port);
  const ClientSocket light(config_.port);
  heavy.write(request({"SET", "n", "0"}));
  ASSERT_EQ(heavy.read(5), "+OK\r\n");
  constexpr int kLongOnes = 300;
  std::string pipeline;
  for (int i = 0; i < kLongOnes; ++i)
    pipeline += request({"SETRANGE", "long", "8000000", "x"}) + request({"INCR", "n"});
  heavy.write(pipeline);
  ASSERT_EQ(heavy.read(10), ":8000001\r\n");
  light.write(kPing);
  ASSERT_EQ(light.read(kPongBytes), kPong);
  light.write(request({"GETRANGE", "n", "0", "2"}));
  const std::string done = light.read(6);  // "$1\r\n7\r", or the beginning of "$3\r\n300"
  EXPECT_NE(done, "$3\r\n30");
}

// More than a turn's time lies in what all have sent at once: what is read is kept for the turn
// that serves it, and nobody comes twice or not at all.
TEST_F(DaemonTest, WhatATurnHasNoTimeForIsServedInThoseAfterIt) {
  config_.enable_debug_command = DebugAccess::kYes;
  start();
  std::vector<std::unique_ptr<ClientSocket>> clients;
  for (int i = 0; i < 40; ++i) {
    clients.push_back(std::make_unique<ClientSocket>(config_.port));
    EXPECT_EQ(clients.back()->call(kPing, kPongBytes), kPong);
  }
  for (int round = 0; round < 3; ++round) {
    running_->hold();
    for (const auto& client : clients)
      client->write(request({"INCR", "n"}) + request({"DEBUG", "SLEEP", "0.003"}) + kPing);
    clients[static_cast<size_t>(7 + round)]->reset();
    clients.erase(clients.begin() + 7 + round);
    running_->go_on();
    std::set<std::string> numbers;
    for (const auto& client : clients) {
      std::string number;
      do {
        number += client->read(1);
      } while (number.size() < 8 && !number.ends_with('\n'));
      EXPECT_TRUE(numbers.insert(number).second) << number;
      EXPECT_EQ(client->read(kOk.size() + kPongBytes), kOk + kPong);
    }
  }
}

// The time for one turn is used up by a few of them.
TEST_F(DaemonTest, WhoIsReadAheadIsServedInAsManyTurnsAsThatTakes) {
  running_.emplace(config_, 2 * kMs);
  std::vector<std::unique_ptr<ClientSocket>> clients;
  for (int i = 0; i < 16; ++i) {
    clients.push_back(std::make_unique<ClientSocket>(config_.port));
    EXPECT_EQ(clients.back()->call(kPing, kPongBytes), kPong);
  }
  const ClientSocket asks(config_.port);
  const auto turns = [&asks] {
    asks.write(request({"INFO", "all"}));
    std::string info;
    while (!info.ends_with('\n')) info += asks.read(1);
    info = asks.read(static_cast<size_t>(std::stoi(info.substr(1))) + 2);
    return std::stoi(info.substr(info.find("turns_run:") + 10));
  };
  const int before = turns();
  running_->hold();
  for (const auto& client : clients) client->write(kPing);
  running_->go_on();
  for (const auto& client : clients) EXPECT_EQ(client->read(kPongBytes), kPong);
  EXPECT_GT(turns() - before, 4);
}

// Some of those that are left for the next turn end before they are served, or as they are.
TEST_F(DaemonTest, WhoEndsWhileItWaitsForItsTurnDisturbsNobody) {
  running_.emplace(config_, 2 * kMs);
  std::vector<std::unique_ptr<ClientSocket>> clients;
  for (int i = 0; i < 32; ++i) {
    clients.push_back(std::make_unique<ClientSocket>(config_.port));
    EXPECT_EQ(clients.back()->call(kPing, kPongBytes), kPong);
  }
  running_->hold();
  for (size_t i = 0; i < clients.size(); ++i) {
    if (i % 4 == 1) clients[i]->reset();
    if (i % 4 == 3) clients[i]->close_half();
    if (i % 2 == 0) clients[i]->write(request({"PING"}));
  }
  running_->go_on();
  for (size_t i = 0; i < clients.size(); i += 2) {
    EXPECT_EQ(clients[i]->read(kPongBytes), kPong);
    EXPECT_EQ(clients[i]->call(kPing, kPongBytes), kPong);
  }
}

TEST_F(DaemonTest, WhoIsKilledWhileItWaitsForItsTurnRunsNothing) {
  running_.emplace(config_, 2 * kMs);
  std::vector<std::unique_ptr<ClientSocket>> clients;
  for (int i = 0; i < 16; ++i) {
    clients.push_back(std::make_unique<ClientSocket>(config_.port));
    EXPECT_EQ(clients.back()->call(kPing, kPongBytes), kPong);
  }
  const auto& kills = clients.front();
  running_->hold();
  kills->write(request({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"}));
  for (size_t i = 1; i < clients.size(); ++i) clients[i]->write(request({"INCR", "n"}));
  running_->go_on();
  EXPECT_EQ(kills->read(5), ":15\r\n");
  int answered = 0;
  for (size_t i = 1; i < clients.size(); ++i) answered += clients[i]->read_to_end().empty() ? 0 : 1;
  const int ran = std::stoi(kills->call(request({"INCR", "n"}), 4).substr(1)) - 1;
  EXPECT_LT(ran, 15);
  EXPECT_LE(answered, ran);  // who is killed in the turn in which it ran may lose the reply
}

// Who ends the script has sent that before it began, and was read together with it.
TEST_F(DaemonTest, AScriptIsEndedByWhoWasReadWithIt) {
  config_.busy_reply_threshold = 10;
  config_.script_time_limit_ms = 0;
  running_.emplace(config_, kMs / 10);
  const ClientSocket runs(config_.port), asks(config_.port), ends(config_.port);
  // Who was served last is the first whom the poller finds ready.
  for (const auto* client : {&asks, &ends, &runs})
    EXPECT_EQ(client->call(kPing, kPongBytes), kPong);
  running_->hold();
  runs.write(request({"EVAL", "while true do end", "0"}) + kPing);
  asks.write(request({"GET", "a"}));
  ends.write(request({"SCRIPT", "KILL"}));
  running_->go_on();
  EXPECT_EQ(asks.read(6), "-BUSY ");
  EXPECT_EQ(ends.read(5), kOk);
  EXPECT_EQ(runs.read(11), "-ERR Script");
  runs.close_half();
  EXPECT_TRUE(runs.read_to_end().ends_with(kPong));
}

TEST_F(DaemonTest, AResetWhileOutputWaitsDisturbsNobody) {
  start();
  ClientSocket rude(config_.port);
  const ClientSocket other(config_.port);
  EXPECT_EQ(other.call(request({"SET", "k", std::string(8 << 20, 'x')}), 5), "+OK\r\n");
  for (int i = 0; i < 5; ++i) rude.write(request({"GET", "k"}));
  EXPECT_EQ(rude.read(10).size(), 10u);
  rude.reset();
  EXPECT_EQ(other.call(kPing, kPongBytes), kPong);
  const ClientSocket late(config_.port);
  EXPECT_EQ(late.call(kPing, kPongBytes), kPong);
}

TEST_F(DaemonTest, WhoDoesNotReadIsClosedAtItsLimit) {
  config_.client_output_buffer_limit.normal = {.hard_bytes = 8 << 20};
  start();
  const ClientSocket setter(config_.port);
  EXPECT_EQ(setter.call(request({"SET", "k", std::string(4 << 20, 'x')}), 5), "+OK\r\n");
  const ClientSocket greedy(config_.port);
  std::string gets;
  for (int i = 0; i < 30; ++i) gets += request({"GET", "k"});
  greedy.write(gets);
  EXPECT_LT(greedy.read_to_end().size(), 30u * (4 << 20));
  EXPECT_EQ(setter.call(kPing, kPongBytes), kPong);
}

TEST_F(DaemonTest, WhomTheServerRefusesIsToldWhyAndClosed) {
  config_.maxclients = 1;
  start();
  const ClientSocket first(config_.port);
  EXPECT_EQ(first.call(kPing, kPongBytes), kPong);
  const ClientSocket second(config_.port);
  EXPECT_EQ(second.read_to_end(), "-ERR max number of clients reached\r\n");
  EXPECT_EQ(first.call(kPing, kPongBytes), kPong);
}

TEST_F(DaemonTest, SaysThatItsAddressIsInUse) {
  start();
  FakeServer server(config_);
  boost::asio::io_context io;
  Daemon second(&*server, &io);
  EXPECT_EQ(second.listen().error(), "cannot listen on 127.0.0.1:" + std::to_string(config_.port) +
                                         ": Address already in use");
}

TEST_F(DaemonTest, TermAndIntStopItAndEndItsConnections) {
  for (const int signal : {SIGTERM, SIGINT}) {
    config_.unixsocket = folder_.path + "/weir.sock";
    start();
    const ClientSocket client(config_.port);
    EXPECT_EQ(client.call(kPing, kPongBytes), kPong);
    running_->signal(signal);
    EXPECT_EQ(client.read_to_end(), "");
    EXPECT_EQ(running_->join(), 0);
    EXPECT_EQ(::access(config_.unixsocket.c_str(), F_OK), -1);
    running_.reset();
    EXPECT_FALSE(ClientSocket(config_.port).connected());
  }
}

TEST_F(DaemonTest, HangUpDoesNotStopIt) {
  start();
  const ClientSocket client(config_.port);
  for (int i = 0; i < 3; ++i) {
    running_->signal(SIGHUP);
    EXPECT_EQ(client.call(kPing, kPongBytes), kPong);
  }
}

TEST_F(DaemonTest, ShutdownStopsItAsASignalDoes) {
  start();
  const ClientSocket client(config_.port);
  client.write(request({"SHUTDOWN"}));
  EXPECT_EQ(client.read_to_end(), "");
  EXPECT_EQ(running_->join(), 0);
}

}  // namespace
}  // namespace weir::server
