// CLIENT PAUSE WRITE: what it holds up and what it lets through, as redis-server 7.0.15 does.
#include <gtest/gtest.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

constexpr std::string_view kReads = "#!lua flags=no-writes\nreturn 1";
constexpr std::string_view kMayWrite = "return 1";
constexpr std::string_view kLibrary =
    "#!lua name=l\n"
    "redis.register_function{function_name='reads',callback=function() return 1 end,"
    "flags={'no-writes'}}\n"
    "redis.register_function{function_name='writes',callback=function() return 1 end}";

class PauseWrite : public ::testing::Test {
 protected:
  PauseWrite() {
    admin_->call({"FUNCTION", "LOAD", kLibrary});
    reads_ = load(kReads);
    may_write_ = load(kMayWrite);
    EXPECT_EQ(admin_->call({"CLIENT", "PAUSE", "1000", "WRITE"}), "+OK\r\n");
  }

  std::string load(std::string_view script) {
    return admin_->call({"SCRIPT", "LOAD", script}).substr(5, 40);
  }
  bool holds(std::initializer_list<std::string_view> words) {
    clients_.push_back(server_.connect());
    return clients_.back()->call(words).empty();
  }
  std::string blocked_clients() {
    const std::string text = admin_->call({"INFO", "clients"});
    const size_t at = text.find("blocked_clients:");
    return text.substr(at, text.find("\r\n", at) - at);
  }

  FakeServer server_;
  std::vector<std::unique_ptr<FakeClient>> clients_;
  std::unique_ptr<FakeClient> admin_ = server_.connect();
  std::string reads_;
  std::string may_write_;
};

TEST_F(PauseWrite, HoldsScriptsUnlessTheySayThatTheyDoNotWrite) {
  EXPECT_FALSE(holds({"EVAL", kReads, "0"}));
  EXPECT_TRUE(holds({"EVAL", kMayWrite, "0"}));
  EXPECT_TRUE(holds({"EVAL", "#!lua\nreturn 1", "0"}));
  EXPECT_TRUE(holds({"EVAL", "#!bad\nreturn 1", "0"}));
  EXPECT_FALSE(holds({"EVALSHA", reads_, "0"}));
  EXPECT_TRUE(holds({"EVALSHA", may_write_, "0"}));
  EXPECT_TRUE(holds({"EVALSHA", std::string(40, 'x'), "0"}));
  EXPECT_FALSE(holds({"EVAL_RO", kMayWrite, "0"}));
  EXPECT_TRUE(holds({"EVAL_RO", "#!lua\nreturn 1", "0"}));
  EXPECT_FALSE(holds({"EVALSHA_RO", may_write_, "0"}));
  EXPECT_FALSE(holds({"FCALL", "reads", "0"}));
  EXPECT_TRUE(holds({"FCALL", "writes", "0"}));
  EXPECT_TRUE(holds({"FCALL", "nosuch", "0"}));
  EXPECT_FALSE(holds({"FCALL_RO", "reads", "0"}));
  EXPECT_TRUE(holds({"FCALL_RO", "writes", "0"}));
  EXPECT_FALSE(holds({"FCALL_RO", "nosuch", "0"}));
}

TEST_F(PauseWrite, HoldsWhatChangesDataOnly) {
  EXPECT_FALSE(holds({"SCRIPT", "LOAD", "return 5"}));
  EXPECT_FALSE(holds({"SCRIPT", "FLUSH"}));
  EXPECT_FALSE(holds({"FUNCTION", "LIST"}));
  EXPECT_FALSE(holds({"FUNCTION", "DUMP"}));
  EXPECT_TRUE(holds({"FUNCTION", "FLUSH"}));
  EXPECT_TRUE(holds({"PUBLISH", "channel", "message"}));
  EXPECT_TRUE(holds({"SET", "a", "1"}));
  EXPECT_FALSE(holds({"SET", "a"})) << "it is refused";
  EXPECT_FALSE(holds({"GET", "a"}));
}

TEST_F(PauseWrite, HoldsATransactionIfSomethingInItMayWrite) {
  auto client = server_.connect();
  client->call({"MULTI"});
  EXPECT_EQ(client->call({"EVAL", kReads, "0"}), "+QUEUED\r\n");
  EXPECT_EQ(client->call({"EXEC"}), "*1\r\n:1\r\n");
  client->call({"MULTI"});
  EXPECT_EQ(client->call({"SET", "a", "1"}), "") << "held before it is queued";
}

TEST_F(PauseWrite, CountsThoseWhomItHoldsAsBlocked) {
  EXPECT_EQ(blocked_clients(), "blocked_clients:0");
  EXPECT_TRUE(holds({"SET", "a", "1"}));
  EXPECT_TRUE(holds({"DEL", "a"}));
  EXPECT_EQ(blocked_clients(), "blocked_clients:2");
  EXPECT_NE(admin_->call({"CLIENT", "LIST"}).find(" flags=b "), std::string::npos);
  admin_->call({"CLIENT", "UNPAUSE"});
  server_.run_turns();
  EXPECT_EQ(blocked_clients(), "blocked_clients:0");
  EXPECT_EQ(clients_.back()->take(), ":1\r\n");
}

}  // namespace
}  // namespace weir::server
