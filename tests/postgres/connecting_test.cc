// Which hosts are tried, how often, with which password; who may stand between; and how an owner
// learns of answers.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/postgres/postgres_fixture.h"

namespace weir::storage::postgres {
namespace {

class Connecting : public PostgresTest {
 protected:
  std::string at(const std::string& hosts) const {
    return "postgres://admin@" + hosts + "/" + database_ + "?sslmode=disable";
  }
  std::string proxy_host() const { return "127.0.0.1:" + std::to_string(proxy_.port()); }
  // Nobody listens there.
  static std::string closed_host() { return "127.0.0.1:1"; }
  int64_t ns_until_read(PostgresLog* log) {
    const int64_t begin = now_ns();
    EXPECT_EQ(read(log, {}).outcome, ReadOutcome::kRecords) << log->trouble().text;
    return now_ns() - begin;
  }
};

TEST_F(Connecting, AHostThatRefusesCostsNoTime) {
  EXPECT_LE(ns_until_read(connect(at(closed_host() + "," + proxy_host()))), 900 * kNsPerMs);
}

TEST_F(Connecting, AHostThatHangsCostsASecond) {
  Proxy hangs(server_.socket());
  PostgresLog* log = connect(at("127.0.0.1:" + std::to_string(hangs.port()) + "," + proxy_host()));
  const int64_t took = ns_until_read(log);
  EXPECT_GE(took, 900 * kNsPerMs);
  EXPECT_LE(took, 2 * kNsPerS);
  // From now on it begins with the one that was good.
  server_.sql("select pg_terminate_backend(" + backend() + ")");
  wait_until([&] { return !log->trouble().text.empty(); });
  EXPECT_LE(ns_until_read(log), 1'500 * kNsPerMs);
}

TEST_F(Connecting, NamesAreLookedUp) {
  ns_until_read(connect(at("localhost:" + std::to_string(proxy_.port()))));
  EXPECT_LE(ns_until_read(connect(at("nowhere.invalid," + proxy_host()))), 3 * kNsPerS);
  PostgresLog* lost = connect(at("nowhere.invalid"));
  EXPECT_EQ(read(lost, {}).outcome, ReadOutcome::kFailed);
  EXPECT_NE(lost->trouble().text.find("nowhere.invalid"), std::string::npos)
      << lost->trouble().text;
}

TEST_F(Connecting, OneConnectionASecond) {
  connect("postgres://admin@" + proxy_host() + "," + proxy_host() + "/nowhere?sslmode=disable");
  wait_ns(3'500 * kNsPerMs);
  EXPECT_GE(proxy_.connections_taken(), 3u);
  EXPECT_LE(proxy_.connections_taken(), 4u);
}

TEST_F(Connecting, AServerThatHangsFailsReadsAfterThreeSeconds) {
  PostgresLog* log = connect(proxy_address());
  Head end;
  put(log, &end, "a");
  proxy_.set_stalled(true);
  const int64_t begin = now_ns();
  EXPECT_EQ(read(log, end).outcome, ReadOutcome::kFailed);
  EXPECT_GE(now_ns() - begin, 2'900 * kNsPerMs);
  EXPECT_LE(now_ns() - begin, 4 * kNsPerS);
  proxy_.set_stalled(false);
  EXPECT_EQ(read_at_last(log, end).outcome, ReadOutcome::kRecords);
}

TEST_F(Connecting, ThePasswordComesFromAFile) {
  server_.sql("create role with_password login superuser password 'secret one'");
  const std::string file =
      std::filesystem::temp_directory_path() / ("weir-password-" + std::to_string(::getpid()));
  const auto tried_with = [&](const std::string& word) {
    std::ofstream(file, std::ios::trunc) << word;
    return connect(address("with_password"), true, file);
  };
  EXPECT_EQ(read(tried_with("secret one\nother line\n"), {}).outcome, ReadOutcome::kRecords);
  PostgresLog* wrong = tried_with("secret two");
  EXPECT_EQ(read(wrong, {}).outcome, ReadOutcome::kFailed);
  EXPECT_NE(wrong->trouble().text.find("password authentication failed"), std::string::npos)
      << wrong->trouble().text;
  EXPECT_EQ(wrong->trouble().text.find("secret"), std::string::npos);
  std::filesystem::remove(file);
  PostgresLog* none = connect(address("with_password"), true, file);
  EXPECT_EQ(read(none, {}).outcome, ReadOutcome::kFailed);
  EXPECT_NE(none->trouble().text.find(file), std::string::npos) << none->trouble().text;
  logs_.clear();
  sql("drop owned by with_password; drop role with_password");
}

// The pooler has one connection to the server, so that each transaction gets the same.
TEST_F(Connecting, APoolerIsRefused) {
  const std::string pooler = "/usr/sbin/pgbouncer";
  if (!std::filesystem::exists(pooler)) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << "pgbouncer is not installed";
    GTEST_SKIP() << "pgbouncer is not installed";
  }
  const std::string folder = server_.socket_folder();
  std::ofstream(folder + "/bouncer.ini")
      << "[databases]\n"
      << database_ << " = host=" << folder << " user=admin\n[pgbouncer]\n"
      << "unix_socket_dir = " << folder << "\nlisten_port = 6432\nauth_type = any\n"
      << "pool_mode = transaction\ndefault_pool_size = 1\n";
  const pid_t process = server_.spawn(pooler, {folder + "/bouncer.ini"});
  wait_until([&] { return std::filesystem::exists(folder + "/.s.PGSQL.6432"); });
  PostgresLog* log = connect(address("admin", "port=6432"));
  wait_until([&] {  // the pooler listens a little after its socket is there
    EXPECT_EQ(read(log, {}).outcome, ReadOutcome::kFailed);
    return log->trouble().needs_person;
  });
  EXPECT_NE(log->trouble().text.find("a connection pooler"), std::string::npos)
      << log->trouble().text;
  logs_.clear();
  ::kill(process, SIGTERM);
  ::waitpid(process, nullptr, 0);
}

TEST_F(Connecting, TicksAloneAreEnough) {
  PostgresLog* log = connect();
  log->set_watcher(nullptr);
  Head end;
  for (int i = 0; i < 20; ++i) put(log, &end, "record");
  EXPECT_EQ(read(log, {}).records.size(), 20u);
  EXPECT_LE(log->next_deadline(), now_ns() + 3 * kNsPerS);
}

// An owner that does nothing but what it is told to: it watches the socket, and ticks at deadlines.
TEST_F(Connecting, AnOwnerSleepsBetweenAnswers) {
  struct Owner : SocketWatcher {
    void watch(int to_watch, bool writes) override {
      descriptor = to_watch;
      wants_write = writes;
    }
    void unwatch() override { descriptor = -1; }
    int descriptor = -1;
    bool wants_write = false;
  } owner;
  const auto parsed = parse_address(proxy_address());
  ASSERT_TRUE(parsed);
  PostgresLog log({.address = *parsed, .shard = "main", .password_file = "", .makes_shard = true});
  log.set_watcher(&owner);
  int wakes = 0;
  const auto run = [&](const std::function<bool()>& done, int64_t ns_max) {
    const int64_t end = now_ns() + ns_max;
    for (; !done() && now_ns() < end; ++wakes) {
      std::vector<pollfd> watched;
      proxy_.add_to(&watched);
      watched.push_back({.fd = owner.descriptor,
                         .events = static_cast<short>(POLLIN | (owner.wants_write ? POLLOUT : 0)),
                         .revents = 0});
      const int64_t wait = std::min(log.next_deadline(), end) - now_ns();
      ::poll(watched.data(), watched.size(), wait < 0 ? 0 : static_cast<int>(wait / kNsPerMs) + 1);
      proxy_.step(now_ns());
      if (watched.back().revents != 0) log.on_ready(now_ns());
      if (now_ns() >= log.next_deadline()) log.tick(now_ns());
    }
  };
  std::optional<Appended> got;
  log.append(Head{}, std::string(3 << 20, 'x'), [&](const Appended& told) { got = told; });
  run([&] { return got.has_value(); }, 10 * kNsPerS);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->outcome, AppendOutcome::kDone) << log.trouble().text;
  wakes = 0;
  run([] { return false; }, 3 * kNsPerS);
  EXPECT_LE(wakes, 60) << "nothing happens but the member registry";
  // The socket is another now, perhaps of the same number.
  wakes = 0;
  server_.sql("select pg_terminate_backend(" + backend() + ")");
  const Head end = got->head;
  got.reset();
  run([&] { return !log.trouble().text.empty(); }, 2 * kNsPerS);
  log.append(end, "b", [&](const Appended& told) { got = told; });
  run([&] { return got.has_value(); }, 10 * kNsPerS);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->outcome, AppendOutcome::kDone) << log.trouble().text;
  run([] { return false; }, kNsPerS);
  EXPECT_LE(wakes, 150);
  log.set_watcher(nullptr);
}

TEST_F(Connecting, MembersTellOneAnother) {
  PostgresLog* one = connect();
  PostgresLog* two = connect();
  one->put("one", "first");
  two->put("two", std::string("\0\xff", 2));
  one->put("one", "newer");
  wait_until([&] { return two->snapshot().size() == 2 && one->snapshot().size() == 2; });
  const auto seen = two->snapshot();
  EXPECT_EQ(seen[0].name, "one");
  EXPECT_EQ(seen[0].bytes, "newer");
  EXPECT_EQ(seen[1].bytes, std::string("\0\xff", 2));
  EXPECT_GE(seen[0].age_ns, 0);
  EXPECT_LE(seen[0].age_ns, 5 * kNsPerS);
  sql("update weir_board set seen = now() - interval '1 minute'");
  wait_until([&] { return one->snapshot()[0].age_ns >= 60 * kNsPerS; });
  sql("update weir_board set seen = now() - interval '25 hours' where name = 'one'");
  sql("insert into weir_board values ('other', 'one', 'x', now() - interval '25 hours')");
  two->put("two", "newer");
  wait_until([&] { return one->snapshot().size() == 1; });
  EXPECT_EQ(one->snapshot()[0].name, "two");
  EXPECT_EQ(value("select count(*) from weir_board where shard = 'other'"), "1");
}

}  // namespace
}  // namespace weir::storage::postgres
