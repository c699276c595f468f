// A member that lies about its data, to one that copies it: it costs little, leaves nothing behind,
// and ends in one line.
#include <poll.h>

#include <functional>
#include <vector>

#include "base/crc64.h"
#include "server/failover/copies/snapshot_pull.h"
#include "storage/rocks/rocks_directory.h"
#include "storage/store/worker_thread.h"
#include "tests/server/fake_server.h"
#include "tests/server/real_sockets.h"

namespace weir::server {
namespace {

namespace fs = std::filesystem;

using Listed = std::vector<std::pair<std::string, int64_t>>;

// Answers one connection, each request by what was asked for.
class LyingMember {
 public:
  using Answer = std::function<std::string(const std::string& request)>;

  explicit LyingMember(Answer answer) : answer_(std::move(answer)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = on_this_machine(0);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    worker_.post([this] { serve(); });
  }
  ~LyingMember() {
    ::shutdown(listener_, SHUT_RDWR);
    worker_.stop();
    ::close(listener_);
  }
  const std::string& address() const { return address_; }

 private:
  void serve() {
    const int client = ::accept(listener_, nullptr, nullptr);
    if (client < 0) return;
    std::vector<char> request(1 << 16);
    ssize_t got = 0;
    while ((got = ::recv(client, request.data(), request.size(), 0)) > 0) {
      const std::string text(request.data(), static_cast<size_t>(got));
      const std::string reply =
          text.find("PING") != std::string::npos ? "+PONG\r\n" : answer_(text);
      if (::send(client, reply.data(), reply.size(), MSG_NOSIGNAL) < 0) break;
    }
    ::close(client);
  }

  const Answer answer_;
  int listener_ = -1;
  std::string address_;
  storage::WorkerThread worker_;
};

std::string list_of(const Listed& files) {
  std::string reply = "*4\r\n" + bulk("made") + ":1\r\n" + bulk("files") + "*" +
                      std::to_string(files.size()) + "\r\n";
  for (const auto& [path, bytes] : files)
    reply += "*2\r\n" + bulk(path) + ":" + std::to_string(bytes) + "\r\n";
  return reply;
}

std::string piece_of(const std::string& bytes) {
  char digits[17] = {};
  std::snprintf(digits, sizeof digits, "%llx", static_cast<unsigned long long>(crc64_xz(bytes)));
  return "*2\r\n" + bulk(digits) + bulk(bytes);
}

class LyingMemberTest : public ::testing::Test {
 protected:
  // Answers why nothing was copied.
  std::string pull(const LyingMember::Answer& answer) {
    LyingMember member(answer);
    PullPlan plan;
    plan.directory = folder_.path + "/data";
    plan.shard = "main";
    fs::create_directory(plan.directory);
    const auto pulled = pull_snapshot(plan, {member.address()}, 7, &clock_, stops_);
    EXPECT_FALSE(pulled);
    EXPECT_TRUE(fs::is_empty(plan.directory)) << "nothing is left";
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path), {}), 1) << "nor beside it";
    return pulled ? "" : pulled.error();
  }
  std::string pull_listed(const Listed& files, const std::string& piece = "") {
    return pull([=](const std::string& request) {
      return request.find("BEGIN") != std::string::npos ? list_of(files) : piece;
    });
  }
  static void expect_part(const std::string& why, const std::string& part) {
    EXPECT_NE(why.find(part), std::string::npos) << why;
    EXPECT_LT(why.size(), 500u);
    EXPECT_EQ(why.find_first_of("\r\n\033"), std::string::npos) << why;
  }

  TemporaryFolder folder_;
  FakeClock clock_;
  std::atomic<bool> stops_{false};
};

TEST_F(LyingMemberTest, NamesOfOtherPlaces) {
  for (const char* path : {"../NODE", "/etc/passwd", "log/../../x", "log/.hidden", "log/a/b",
                           "NODE", "state", "log/", "", "other/file", "log/a\nb"})
    expect_part(pull_listed({{path, 1}}), "no file of a data directory");
  expect_part(pull_listed({{"log/1", 0}, {"log/1", 0}, {"WEIR", 1}}), "File exists");
}

TEST_F(LyingMemberTest, MoreThanTheDiskHolds) {
  expect_part(pull_listed({{"log/1", int64_t{1} << 43}, {"log/2", int64_t{1} << 43}}),
              "MB, and " + folder_.path);
  expect_part(pull_listed({{"log/1", INT64_MAX}}), "it lists log/1 with");
  expect_part(pull_listed({{"log/1", -1}}), "no file of a data directory");
  expect_part(pull_listed({{"WEIR", 1 << 20}}), "it lists WEIR with 1048576 bytes");
}

TEST_F(LyingMemberTest, MoreFilesThanAnyDirectoryHas) {
  Listed files;
  for (int i = 0; i <= 100'000; ++i) files.push_back({"log/" + std::to_string(i), 0});
  const std::string why = pull_listed(files);
  EXPECT_NE(why, "");
  expect_part(why, "100000 files");
}

TEST_F(LyingMemberTest, MoreBytesThanItListed) {
  expect_part(pull_listed({{"log/1", 3}}, piece_of("four")), "more bytes than were listed");
  expect_part(pull_listed({{"log/1", 4}}, "*2\r\n" + bulk("1") + bulk("four")), "another checksum");
  expect_part(pull_listed({{"log/1", 4}}, ":1\r\n"), "a piece that is none");
}

TEST_F(LyingMemberTest, AnAnswerWithoutEnd) {
  const std::string large = "$900000000\r\n" + std::string(6 << 20, 'x');
  expect_part(pull([&](const std::string&) { return large; }), "of more than 4 MB");
  std::string nested = "*1000000\r\n";
  for (int i = 0; i < 700'000; ++i) nested += ":1000000\r\n";
  expect_part(pull([&](const std::string&) { return nested; }), "answers more than 4 MB at once");
}

// One byte at a time is progress, but none that ends.
TEST_F(LyingMemberTest, ACopyThatDoesNotGoOn) {
  clock_.tick_per_look_ns = kSecond;
  expect_part(pull_listed({{"log/1", 1 << 20}}, piece_of("x")), "less than 1 MB a minute");
  expect_part(pull_listed({{"log/1", 1 << 20}}, piece_of("")), "less than 1 MB a minute");
}

TEST_F(LyingMemberTest, ErrorsThatAreNoLines) {
  expect_part(pull([](const std::string&) {
                return "!" + std::to_string(3000) + "\r\n" + "ERR a\r\n\033[2J" +
                       std::string(3000 - 11, 'x') + "\r\n";
              }),
              "ERR a");
}

TEST_F(LyingMemberTest, DataOfAnotherShard) {
  storage::DirectoryIdentity identity;
  identity.id = std::string(32, 'a');
  identity.shard =
      storage::ShardIdentity{.cluster = std::string(32, 'c'), .name = "another", .databases = 16};
  const std::string text = encode_identity(identity);
  expect_part(pull_listed({{"WEIR", static_cast<int64_t>(text.size())}}, piece_of(text)),
              "not of shard main");
}

TEST_F(LyingMemberTest, AddressesThatAreNone) {
  PullPlan plan;
  plan.directory = folder_.path;
  for (const char* address : {"", "host", "host:", "host:0", "host:65536", "a b:1", "a\r\nb:1"}) {
    const auto pulled = pull_snapshot(plan, {address}, 7, &clock_, stops_);
    ASSERT_FALSE(pulled);
    EXPECT_EQ(pulled.error(), "a member tells of no address");
  }
}

}  // namespace
}  // namespace weir::server
