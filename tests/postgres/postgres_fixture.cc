#include "tests/postgres/postgres_fixture.h"

#include "base/crc64.h"

namespace weir::storage::postgres {

PostgresTest::PostgresTest(PostgresServer* server) : server_(*server), proxy_(server->socket()) {
  static int databases = 0;
  database_ = "test_" + std::to_string(++databases);
  server_.sql("create database " + database_);
}

PostgresTest::~PostgresTest() {
  close_logs();
  if (server_.is_running()) server_.sql("drop database " + database_ + " (force)");
}

std::string PostgresTest::address(const std::string& user, const std::string& options) const {
  return server_.address(user, database_, options);
}

std::string PostgresTest::proxy_address() const {
  return "postgres://admin@127.0.0.1:" + std::to_string(proxy_.port()) + "/" + database_ +
         "?sslmode=disable";
}

PostgresLog* PostgresTest::connect(const std::string& address, bool makes_shard,
                                   const std::string& password_file) {
  const auto parsed = parse_address(address);
  EXPECT_TRUE(parsed) << address;
  logs_.push_back(std::make_unique<PostgresLog>(PostgresOptions{.address = *parsed,
                                                                .shard = "main",
                                                                .password_file = password_file,
                                                                .makes_shard = makes_shard}));
  driver_.watch(logs_.back().get());
  return logs_.back().get();
}

void PostgresTest::close_logs() { logs_.clear(); }

void PostgresTest::pass() {
  driver_.pass(&proxy_);
  for (const auto& log : logs_) log->tick(now_ns());
}

void PostgresTest::wait_until(const std::function<bool()>& done, int64_t ns_max) {
  const int64_t end = now_ns() + ns_max;
  bool is_done = done();
  for (; !is_done && now_ns() < end; is_done = done()) pass();
  ASSERT_TRUE(is_done) << "in vain";
}

void PostgresTest::wait_ns(int64_t ns) {
  const int64_t end = now_ns() + ns;
  while (now_ns() < end) pass();
}

Appended PostgresTest::append(PostgresLog* log, std::optional<Head> expected,
                              const std::string& record) {
  const auto got = std::make_shared<std::optional<Appended>>();
  log->append(expected, record, [got](const Appended& answer) { *got = answer; });
  wait_until([&] { return got->has_value(); });
  return got->value_or(Appended{});
}

Read PostgresTest::read(PostgresLog* log, const Head& after, size_t bytes_max) {
  const auto got = std::make_shared<std::optional<Read>>();
  log->read(after, bytes_max, [got](Read answer) { *got = std::move(answer); });
  wait_until([&] { return got->has_value(); });
  return got->value_or(Read{});
}

void PostgresTest::put(PostgresLog* log, Head* end, const std::string& record) {
  const Appended answer = append(log, *end, record);
  ASSERT_EQ(answer.outcome, AppendOutcome::kDone) << log->trouble().text;
  *end = answer.head;
}

Read PostgresTest::read_at_last(PostgresLog* log, const Head& after) {
  Read got;
  wait_until([&] { return (got = read(log, after)).outcome != ReadOutcome::kFailed; });
  return got;
}

// It stays until the next test of its kind, so that the fixture's own end finds it.
PostgresServer* OwnServerTest::new_server() {
  static std::unique_ptr<PostgresServer> own;
  own.reset();
  own = std::make_unique<PostgresServer>();
  return own.get();
}

}  // namespace weir::storage::postgres
