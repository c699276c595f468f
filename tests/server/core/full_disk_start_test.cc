// A server that is started on a full disk: it reads, storage-failure-policy tells what becomes of
// writes, and with room it goes on by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kRefused =
    "-MISCONF the data directory takes no writes (injected full disk at the opening)";

class FullDiskStart : public testing::Test {
 protected:
  // The first server has died, and its disk is full.
  void start(FailurePolicy policy) {
    {
      FakeServer first({}, disk_);
      const auto client = first.connect();
      EXPECT_EQ(client->call({"SET", "a", "1"}), "+OK\r\n");
      EXPECT_EQ(client->call({"EVAL", "return redis.call('RPUSH', 'l', 'x')", "0"}), ":1\r\n");
    }
    disk_->faults.disk_full = disk_->faults.opens_read_only = true;
    Config config;
    config.storage_failure_policy = policy;
    server_ = std::make_unique<FakeServer>(config, disk_);
    client_ = server_->connect();
  }
  std::string call(std::initializer_list<std::string_view> words) { return client_->call(words); }
  // What a server finds that is started after a kill, with room on the disk.
  std::string found_after_kill(std::string_view key) {
    FakeServer next({}, disk_->after_kill());
    return next.connect()->call({"GET", key});
  }

  std::shared_ptr<storage::MemoryDisk> disk_ = storage::make_memory_disk({1, 2});
  std::unique_ptr<FakeServer> server_;
  std::unique_ptr<FakeClient> client_;
};

// Clients that ask PING whether the server is well again would send it what fails (Redis' rule).
TEST_F(FullDiskStart, PingSaysThatNothingCanBeWritten) {
  start(FailurePolicy::kDeny);
  EXPECT_THAT(call({"PING"}), StartsWith(kRefused));
  EXPECT_THAT(call({"PING", "text"}), StartsWith(kRefused));
  EXPECT_EQ(call({"ECHO", "text"}), bulk("text"));
  call({"MULTI"});
  EXPECT_THAT(call({"PING"}), StartsWith(kRefused));
  EXPECT_THAT(call({"EXEC"}), StartsWith("-EXECABORT "));
  call({"SUBSCRIBE", "channel"});
  EXPECT_THAT(call({"PING"}), StartsWith(kRefused));
  call({"UNSUBSCRIBE"});
  disk_->faults.disk_full = false;
  disk_->faults.opens_read_only = false;
  server_->advance(2 * kSecond);
  EXPECT_EQ(call({"PING"}), kPong);
}

TEST_F(FullDiskStart, ScriptsThatReadRunAlsoIfNobodyHasSentThemBefore) {
  start(FailurePolicy::kDeny);
  for (const char* command : {"EVAL", "EVAL_RO", "EVAL"})
    EXPECT_EQ(call({command, "return redis.call('GET', 'a')", "0"}), bulk("1"));
  EXPECT_THAT(call({"EVAL", "return redis.call('SET', 'a', '2')", "0"}), HasSubstr("MISCONF"));
  EXPECT_THAT(call({"SCRIPT", "LOAD", "return 1"}), StartsWith("-MISCONF"));
  EXPECT_EQ(call({"GET", "a"}), bulk("1"));
}

TEST_F(FullDiskStart, ReadsAndRefusesWritesUntilThereIsRoom) {
  start(FailurePolicy::kDeny);
  EXPECT_EQ(call({"GET", "a"}), bulk("1"));
  EXPECT_EQ(call({"LRANGE", "l", "0", "-1"}), "*1\r\n" + bulk("x"));
  EXPECT_EQ(call({"DBSIZE"}), ":2\r\n");
  EXPECT_THAT(call({"SET", "a", "2"}), StartsWith(kRefused));
  EXPECT_THAT(call({"CL.THROTTLE", "t", "1", "1", "1"}), StartsWith(kRefused));
  EXPECT_THAT(call({"SAVE"}), StartsWith("-"));
  EXPECT_THAT(call({"INFO", "persistence"}), HasSubstr("\r\naof_last_write_status:err\r\n"));
  server_->advance(2 * kSecond);
  EXPECT_THAT(call({"SET", "a", "2"}), StartsWith(kRefused));
  // There is a little room, and not enough for an opening.
  disk_->faults.disk_full = false;
  server_->advance(2 * kSecond);
  EXPECT_THAT(call({"SET", "a", "2"}), StartsWith(kRefused));
  EXPECT_EQ(call({"GET", "a"}), bulk("1"));
  disk_->faults.opens_read_only = false;
  server_->advance(2 * kSecond);
  EXPECT_EQ(call({"SET", "a", "2"}), "+OK\r\n");
  EXPECT_EQ(found_after_kill("a"), bulk("2"));
}

TEST_F(FullDiskStart, LimitsFromMemoryAndWritesWhatItOwes) {
  start(FailurePolicy::kMemory);
  EXPECT_EQ(call({"SET", "a", "2"}), "+OK\r\n");
  EXPECT_EQ(call({"INCR", "n"}), ":1\r\n");
  EXPECT_EQ(found_after_kill("a"), bulk("1")) << "nothing was written yet";
  disk_->faults = {};
  server_->advance(2 * kSecond);
  EXPECT_EQ(call({"GET", "a"}), bulk("2"));
  EXPECT_EQ(found_after_kill("a"), bulk("2"));
  EXPECT_EQ(found_after_kill("n"), bulk("1"));
}

}  // namespace
}  // namespace weir::server
