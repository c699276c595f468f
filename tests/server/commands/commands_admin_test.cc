// CONFIG, INFO, DEBUG, SAVE and its like, SHUTDOWN, and what a server on its own answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <fstream>

#include "server/os/log.h"
#include "server/os/machine.h"
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

class AdminCommands : public testing::Test {
 protected:
  AdminCommands() {
    std::string name = (std::filesystem::temp_directory_path() / "weir-admin-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    server_->config().dir = folder_.string();
  }
  ~AdminCommands() override { std::filesystem::remove_all(folder_); }

  std::string call(std::initializer_list<std::string_view> words) { return client_->call(words); }
  // The value of one field of INFO.
  std::string info(const std::string& field, std::string_view section = "all") {
    const std::string text = call({"INFO", section});
    const size_t at = text.find("\n" + field + ":");
    if (at == text.npos) return "(no " + field + ")";
    const size_t begin = at + field.size() + 2;
    return text.substr(begin, text.find("\r\n", begin) - begin);
  }

  FakeServer server_;
  std::unique_ptr<FakeClient> client_ = server_.connect();
  std::filesystem::path folder_;
};

TEST_F(AdminCommands, ConfigGet) {
  EXPECT_EQ(call({"CONFIG", "GET", "maxclients"}), "*2\r\n" + bulk("maxclients") + bulk("10000"));
  EXPECT_EQ(call({"CONFIG", "GET", "MaxClients"}), "*2\r\n" + bulk("MaxClients") + bulk("10000"));
  EXPECT_EQ(call({"CONFIG", "GET", "nosuch*"}), "*0\r\n");
  EXPECT_THAT(call({"CONFIG", "GET", "TIMEOUT", "data*"}), StartsWith("*4\r\n"));
  client_->call({"HELLO", "3"});
  EXPECT_EQ(call({"CONFIG", "GET", "timeout"}), "%1\r\n" + bulk("timeout") + bulk("0"));
}

TEST_F(AdminCommands, ConfigSetTakesEffect) {
  EXPECT_EQ(call({"CONFIG", "SET", "timeout", "5", "maxclients", "1"}), kOk);
  EXPECT_EQ(server_.connect(), nullptr);
  EXPECT_EQ(call({"CONFIG", "SET", "maxmemory", "100mb"}), kOk);
  EXPECT_EQ(server_->keys().options().memory_bytes_max, 100u << 20);
  EXPECT_EQ(info("maxmemory"), "104857600");
  server_.advance(6 * kSecond);
  EXPECT_TRUE(client_->closed());
}

TEST_F(AdminCommands, ConfigSetChangesTheLogAtOnce) {
  spdlog::logger& log = *spdlog::default_logger();
  const auto before = log.level();
  EXPECT_EQ(call({"CONFIG", "SET", "loglevel", "error"}), kOk);
  EXPECT_EQ(log.level(), spdlog::level::err);
  log.set_level(before);
}

TEST_F(AdminCommands, ConfigSetRefusals) {
  EXPECT_EQ(call({"CONFIG", "SET", "nosuch", "1"}),
            "-ERR Unknown option or number of arguments for CONFIG SET - 'nosuch'\r\n");
  EXPECT_EQ(call({"CONFIG", "SET", "maxclients", "5", "timeout", "x"}),
            "-ERR CONFIG SET failed (possibly related to argument 'timeout') - argument couldn't "
            "be parsed into an integer\r\n");
  EXPECT_EQ(server_->config().maxclients, 10000);
  EXPECT_EQ(call({"CONFIG", "SET", "timeout", "1", "maxclients"}), "-ERR syntax error\r\n");
  EXPECT_EQ(call({"CONFIG", "REWRITE"}), "-ERR The server is running without a config file\r\n");
}

TEST_F(AdminCommands, ResetstatStartsCountingOver) {
  call({"SET", "a", "1"});
  call({"GET", "a"});
  call({"CL.THROTTLE", "k", "0", "1", "60"});
  call({"CL.THROTTLE", "k", "0", "1", "60"});
  EXPECT_EQ(info("allowed"), "1");
  EXPECT_EQ(info("denied"), "1");
  EXPECT_EQ(info("keyspace_hits"), "1");
  EXPECT_THAT(call({"INFO", "commandstats"}), HasSubstr("\r\ncmdstat_set:calls=1,"));
  EXPECT_EQ(call({"CONFIG", "RESETSTAT"}), kOk);
  EXPECT_EQ(info("verdicts"), "0");
  EXPECT_EQ(info("keyspace_hits"), "0");
  EXPECT_THAT(call({"INFO", "commandstats"}), Not(HasSubstr("cmdstat_set")));
}

TEST_F(AdminCommands, InfoHasWhatClientsAskFor) {
  const std::string text = call({"INFO"});
  for (const char* line : {"# Server",
                           "redis_version:7.2.0",
                           "redis_mode:standalone",
                           "role:master",
                           "connected_slaves:0",
                           "loading:0",
                           "maxmemory_policy:noeviction",
                           "tcp_port:6379",
                           "uptime_in_days:0",
                           "connected_clients:1",
                           "# Replication",
                           "# Persistence",
                           "# Memory",
                           "# Clients",
                           "# Keyspace",
                           "# Weir",
                           "# Limiter",
                           "# Storage",
                           "durability:everysec",
                           "storage_failure_policy:deny",
                           "storage_status:ok"}) {
    EXPECT_THAT(text, HasSubstr("\n" + std::string(line) + "\r\n"));
  }
  EXPECT_THAT(text, Not(HasSubstr("# Commandstats")));
  EXPECT_THAT(info("run_id"), MatchesRegex("[0-9a-f]{40}"));
  EXPECT_THAT(info("used_memory_human"), MatchesRegex("[0-9.]+[BKMG]"));
  EXPECT_THAT(info("used_memory_peak_human"), MatchesRegex("[0-9.]+[BKMG]"));
}

TEST_F(AdminCommands, InfoChoosesSectionsInItsOwnOrder) {
  EXPECT_EQ(call({"INFO", "CLUSTER"}), bulk("# Cluster\r\ncluster_enabled:0\r\n"));
  EXPECT_EQ(call({"INFO", "keyspace", "nosuch", "cluster", "cluster"}),
            bulk("# Cluster\r\ncluster_enabled:0\r\n\r\n# Keyspace\r\n"));
  EXPECT_EQ(call({"INFO", "nosuch"}), bulk(""));
  EXPECT_THAT(call({"INFO", "everything"}), HasSubstr("# Commandstats"));
  EXPECT_THAT(call({"INFO", "default", "commandstats"}), HasSubstr("# Commandstats"));
  client_->call({"HELLO", "3"});
  EXPECT_EQ(call({"INFO", "cluster"}), "=34\r\ntxt:# Cluster\r\ncluster_enabled:0\r\n\r\n");
}

TEST_F(AdminCommands, InfoKeyspaceCountsKeysAndTheirExpiry) {
  EXPECT_EQ(info("db0"), "(no db0)");
  call({"SET", "a", "1"});
  call({"SET", "b", "1", "PX", "1000"});
  call({"SET", "c", "1", "PX", "3000"});
  call({"SELECT", "9"});
  call({"SET", "a", "1"});
  EXPECT_EQ(info("db0"), "keys=3,expires=2,avg_ttl=2000");
  EXPECT_EQ(info("db9"), "keys=1,expires=0,avg_ttl=0");
  for (int i = 0; i < 5000; ++i) call({"SET", "k" + std::to_string(i), "1", "EX", "100"});
  EXPECT_THAT(info("db9"), MatchesRegex("keys=5001,expires=[45]...,avg_ttl=(100000|9....)"));
}

TEST_F(AdminCommands, InfoSurvivesADiskThatCannotBeRead) {
  call({"SET", "a", "1"});
  for (int i = 0; i < 10; ++i) server_.advance(kSecond);
  FakeServer restarted({}, server_.disk().after_kill());
  auto client = restarted.connect();
  restarted.disk().faults.cursor = 1;
  EXPECT_THAT(client->call({"INFO", "server", "keyspace"}), HasSubstr("\r\ndb0:keys=1,"));
  EXPECT_EQ(client->call({"GET", "a"}), bulk("1"));
}

TEST_F(AdminCommands, InfoTellsOfAFailedDisk) {
  call({"SET", "a", "1"});
  server_.disk().faults.disk_full = true;
  call({"SET", "a", "2"});
  EXPECT_EQ(info("storage_status"), "failed");
  EXPECT_EQ(info("storage_error"), "injected failure of an append");
  EXPECT_EQ(info("aof_last_write_status"), "err");
  EXPECT_EQ(info("turns_failed"), "1");
  EXPECT_EQ(info("db0"), "keys=1,expires=0,avg_ttl=0");
}

TEST_F(AdminCommands, InfoRatesFollowTheTraffic) {
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 50; ++j) call({"PING"});
    server_.advance(100 * kMs);
  }
  EXPECT_EQ(info("instantaneous_ops_per_sec"), "500");
  EXPECT_EQ(info("instantaneous_input_kbps"), "6.84");  // 14 bytes each
  for (int i = 0; i < 20; ++i) server_.advance(100 * kMs);
  EXPECT_EQ(info("instantaneous_ops_per_sec"), "0");
}

TEST_F(AdminCommands, InfoTimesCommands) {
  server_->config().enable_debug_command = DebugAccess::kYes;
  call({"DEBUG", "SLEEP", "0.5"});
  EXPECT_EQ(info("cmdstat_debug"),
            "calls=1,usec=500000,usec_per_call=500000.00,rejected_calls=0,failed_calls=0");
  call({"GET"});
  call({"EXPIRE", "a", "x"});
  EXPECT_THAT(info("cmdstat_get"), HasSubstr("calls=0,usec=0,usec_per_call=0.00,rejected_calls=1"));
  EXPECT_THAT(info("cmdstat_expire"), HasSubstr("rejected_calls=0,failed_calls=1"));
}

TEST_F(AdminCommands, DebugIsForThoseWhoMay) {
  constexpr const char* kDenied = "-ERR DEBUG command not allowed. ";
  EXPECT_THAT(call({"DEBUG", "SLEEP", "0"}), StartsWith(kDenied));
  EXPECT_THAT(call({"DEBUG", "HELP"}), StartsWith(kDenied));
  EXPECT_EQ(call({"DEBUG"}), "-ERR wrong number of arguments for 'debug' command\r\n");
  server_->config().enable_debug_command = DebugAccess::kLocal;
  server_->config().protected_mode = false;
  EXPECT_EQ(call({"DEBUG", "SLEEP", "0"}), kOk);
  auto foreigner = server_.connect(FakeServer::foreign_peer());
  EXPECT_THAT(foreigner->call({"DEBUG", "SLEEP", "0"}), StartsWith(kDenied));
  server_->config().enable_debug_command = DebugAccess::kYes;
  EXPECT_EQ(foreigner->call({"DEBUG", "SLEEP", "x"}), kOk);
  EXPECT_EQ(
      foreigner->call({"DEBUG", "SLEEP"}),
      "-ERR unknown subcommand or wrong number of arguments for 'SLEEP'. Try DEBUG HELP.\r\n");
  const int64_t before_ns = server_.clock.steady_ns();
  EXPECT_EQ(call({"DEBUG", "SLEEP", "1.5"}), kOk);
  EXPECT_EQ(server_.clock.steady_ns() - before_ns, 1500 * kMs);
  EXPECT_THAT(call({"DEBUG", "HELP"}), HasSubstr("+SLEEP seconds\r\n"));
}

TEST_F(AdminCommands, ActiveExpiryCanBeSwitchedOff) {
  server_->config().enable_debug_command = DebugAccess::kYes;
  EXPECT_EQ(call({"DEBUG", "SET-ACTIVE-EXPIRE", "0"}), kOk);
  call({"SET", "a", "1", "PX", "100"});
  for (int i = 0; i < 20; ++i) server_.advance(100 * kMs);
  EXPECT_EQ(call({"DBSIZE"}), ":1\r\n");
  EXPECT_EQ(call({"DEBUG", "SET-ACTIVE-EXPIRE", "1"}), kOk);
  for (int i = 0; i < 20; ++i) server_.advance(100 * kMs);
  EXPECT_EQ(call({"DBSIZE"}), ":0\r\n");
}

TEST_F(AdminCommands, SaveWritesACheckpoint) {
  const std::string start = call({"LASTSAVE"});
  EXPECT_EQ(start, ":1700000000\r\n");
  server_.clock.advance(50 * kSecond);
  // What the same pipeline wrote before is in it, and what comes after it is not.
  EXPECT_EQ(
      client_->send(request({"SET", "a", "1"}) + request({"SAVE"}) + request({"SET", "a", "2"})),
      "+OK\r\n+OK\r\n+OK\r\n");
  EXPECT_EQ(call({"LASTSAVE"}), ":1700000050\r\n");
  ASSERT_EQ(server_.disk().checkpoints.size(), 1u);
  FakeServer restored({}, server_.disk().checkpoints.begin()->second);
  EXPECT_EQ(restored.connect()->call({"GET", "a"}), bulk("1"));
  EXPECT_EQ(info("rdb_last_save_time"), "1700000050");
}

TEST_F(AdminCommands, ASaveThatCannotCommitTakesItsTurnBack) {
  call({"SET", "a", "1"});
  client_->push(request({"SET", "a", "2"}));
  server_.disk().faults.disk_full = true;
  client_->push(request({"SAVE"}) + request({"GET", "a"}));
  server_.run_turns();
  EXPECT_THAT(client_->take(), MatchesRegex("-MISCONF [^\r]*\r\n-MISCONF [^\r]*\r\n\\$1\r\n1\r\n"));
  EXPECT_EQ(info("rdb_bgsave_in_progress"), "0");
  server_.disk().faults.disk_full = false;
  server_.advance(2 * kSecond);
  EXPECT_EQ(client_->send(request({"SET", "a", "3"}) + request({"SAVE"})), "+OK\r\n+OK\r\n");
}

// The error is shorter than the replies that it replaces, so what SAVE answers begins earlier than
// where it began when it was called.
TEST_F(AdminCommands, ASaveThatCannotCommitAnswersAfterShorterErrors) {
  call({"SET", "long", std::string(1000, 'x')});
  client_->push(request({"SET", "a", "2"}) + request({"GET", "long"}));
  server_.disk().faults.disk_full = true;
  client_->push(request({"CLIENT", "REPLY", "SKIP"}) + request({"SAVE"}) + request({"ECHO", "hi"}));
  server_.run_turns();
  EXPECT_THAT(client_->take(),
              MatchesRegex("-MISCONF [^\r]*\r\n-MISCONF [^\r]*\r\n\\$2\r\nhi\r\n"));
  EXPECT_EQ(info("errorstat_MISCONF"), "count=1");
}

// What the log has is not taken back because a copy of it failed.
TEST_F(AdminCommands, ASaveThatCannotCopyTakesNothingBack) {
  call({"SET", "a", "1"});
  server_.disk().faults.checkpoint = 1;
  EXPECT_EQ(client_->send(request({"SET", "a", "2"}) + request({"SAVE"}) + request({"GET", "a"})),
            "+OK\r\n-ERR the checkpoint failed, see the log\r\n" + bulk("2"));
  EXPECT_EQ(info("rdb_last_bgsave_status"), "err");
  EXPECT_EQ(call({"SET", "a", "3"}), kOk);
  FakeServer restarted({}, server_.disk().after_kill());
  EXPECT_EQ(restarted.connect()->call({"GET", "a"}), bulk("3"));
}

TEST_F(AdminCommands, BgsaveIsOneAtATime) {
  server_.disk().deferred = true;
  EXPECT_EQ(call({"BGSAVE"}), "+Background saving started\r\n");
  EXPECT_EQ(call({"BGSAVE"}), "-ERR Background save already in progress\r\n");
  EXPECT_EQ(call({"SAVE"}), "-ERR Background save already in progress\r\n");
  EXPECT_EQ(info("rdb_bgsave_in_progress"), "1");
  server_.disk().deferred = false;
  for (int i = 0; i < 5; ++i) {
    server_.advance(kSecond);
    while (server_.step_disk()) continue;
  }
  EXPECT_EQ(info("rdb_bgsave_in_progress"), "0");
  EXPECT_EQ(info("rdb_last_bgsave_status"), "ok");
  EXPECT_EQ(call({"BGSAVE", "SCHEDULE"}), "+Background saving started\r\n");
  EXPECT_EQ(call({"BGSAVE", "x"}), "-ERR syntax error\r\n");
}

TEST_F(AdminCommands, ThereIsNothingToSaveInMemoryOnly) {
  server_->config().storage = StorageForm::kMemory;
  EXPECT_EQ(call({"SAVE"}), "-ERR --storage memory has nothing to save to\r\n");
  EXPECT_EQ(call({"BGSAVE"}), "-ERR --storage memory has nothing to save to\r\n");
  EXPECT_EQ(info("aof_enabled"), "0");
}

TEST_F(AdminCommands, ShutdownClosesWithoutAWord) {
  EXPECT_EQ(client_->send(request({"SET", "a", "1"}) + request({"SHUTDOWN", "NOSAVE"}) +
                          request({"SET", "a", "2"})),
            kOk);
  EXPECT_TRUE(client_->closed());
  EXPECT_TRUE(server_->shutdown.requested);
  EXPECT_TRUE(server_->close().ok());
  FakeServer restarted({}, server_.disk().after_power_cut({}));
  EXPECT_EQ(restarted.connect()->call({"GET", "a"}), bulk("1"));
}

TEST_F(AdminCommands, ShutdownSaveWritesACheckpointFirst) {
  call({"SET", "a", "1"});
  EXPECT_EQ(call({"SHUTDOWN", "SAVE", "NOW"}), "");
  EXPECT_TRUE(server_->shutdown.requested);
  EXPECT_EQ(server_.disk().checkpoints.size(), 1u);
}

TEST_F(AdminCommands, ShutdownSaveStaysWhenItCannotSave) {
  server_->config().storage = StorageForm::kMemory;
  EXPECT_THAT(call({"SHUTDOWN", "SAVE"}), StartsWith("-ERR "));
  EXPECT_FALSE(server_->shutdown.requested);
  EXPECT_EQ(call({"SHUTDOWN", "SAVE", "FORCE"}), "");
  EXPECT_TRUE(server_->shutdown.requested);
}

TEST_F(AdminCommands, ShutdownRefusals) {
  EXPECT_EQ(call({"SHUTDOWN", "ABORT"}), "-ERR No shutdown in progress.\r\n");
  EXPECT_EQ(call({"SHUTDOWN", "ABORT", "NOW"}), "-ERR syntax error\r\n");
  EXPECT_EQ(call({"SHUTDOWN", "SAVE", "NOSAVE"}), "-ERR syntax error\r\n");
  EXPECT_EQ(call({"SHUTDOWN", "x"}), "-ERR syntax error\r\n");
  EXPECT_FALSE(server_->shutdown.requested);
}

TEST_F(AdminCommands, AServerOnItsOwn) {
  server_.clock.advance(123456 * 1000);
  EXPECT_EQ(call({"TIME"}), "*2\r\n$10\r\n1700000000\r\n$6\r\n123456\r\n");
  EXPECT_EQ(call({"ROLE"}), "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n");
  EXPECT_EQ(call({"WAIT", "1", "0"}), ":0\r\n");
  EXPECT_EQ(call({"WAIT", "x", "0"}), "-ERR value is not an integer or out of range\r\n");
  EXPECT_EQ(call({"WAIT", "0", "-1"}), "-ERR timeout is negative\r\n");
  constexpr const char* kNoCluster = "-ERR This instance has cluster support disabled\r\n";
  EXPECT_EQ(call({"CLUSTER", "NODES"}), kNoCluster);
  EXPECT_EQ(call({"CLUSTER", "SLOTS"}), kNoCluster);
  EXPECT_EQ(call({"READONLY"}), kNoCluster);
  EXPECT_EQ(call({"SENTINEL", "MASTERS"}),
            "-ERR unknown command 'SENTINEL', with args beginning with: 'MASTERS' \r\n");
  EXPECT_THAT(call({"LOLWUT"}), HasSubstr("weir 0."));
}

TEST_F(AdminCommands, MemoryUsage) {
  EXPECT_EQ(call({"MEMORY", "USAGE", "nosuch"}), "$-1\r\n");
  call({"SET", "key", "0123456789"});
  EXPECT_EQ(call({"MEMORY", "USAGE", "key"}), ":67\r\n");
  EXPECT_EQ(call({"MEMORY", "USAGE", "key", "SAMPLES", "0"}), ":67\r\n");
  EXPECT_EQ(call({"MEMORY", "USAGE", "key", "SAMPLES", "-1"}), "-ERR syntax error\r\n");
  EXPECT_EQ(call({"MEMORY", "NOSUCH"}), "-ERR unknown subcommand 'NOSUCH'. Try MEMORY HELP.\r\n");
}

}  // namespace
}  // namespace weir::server
