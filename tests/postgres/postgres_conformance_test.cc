// The log on PostgreSQL is a SharedLog as the others are: over a real server, and a proxy that
// loses and delays.
#include <cstdlib>

#include "storage/shared_logs/postgres_log.h"
#include "tests/postgres/driver.h"
#include "tests/postgres/postgres_server.h"
#include "tests/postgres/proxy.h"
#include "tests/replication/conformance.h"

namespace weir::storage::replication {
namespace {

using postgres::Driver;
using postgres::PostgresServer;
using postgres::Proxy;

// Each engine has a schema of its own in the one server.
class PostgresEngine : public LogEngine {
 public:
  PostgresEngine() : proxy_(server_.socket()) {
    static int engines = 0;
    schema_ = "engine_" + std::to_string(++engines);
    server_.sql("create schema " + schema_);
  }
  ~PostgresEngine() override {
    for (const auto& row : server_.sql("select pid from pg_stat_activity where "
                                       "application_name = '" +
                                       schema_ + "'"))
      server_.sql("select pg_terminate_backend(" + row[0] + ", 5000)");
    server_.sql("drop schema " + schema_ + " cascade");
  }

  std::unique_ptr<SharedLog> connect(const std::string& shard) override {
    const auto address =
        postgres::parse_address("postgres://admin@127.0.0.1:" + std::to_string(proxy_.port()) +
                                "/postgres?sslmode=disable&application_name=" + schema_ +
                                "&options=-csearch_path%3D" + schema_);
    EXPECT_TRUE(address);
    auto log = std::make_unique<PostgresLog>(PostgresOptions{
        .address = *address, .shard = shard, .password_file = "", .makes_shard = true});
    driver_.watch(log.get());
    return log;
  }
  void pass() override { driver_.pass(&proxy_); }
  int64_t boot_ns() override { return Driver::boot_ns(); }

  bool lose_next_request() override { return arrange(Proxy::Fault::kLoseRequest); }
  bool lose_next_answer() override { return arrange(Proxy::Fault::kLoseAnswer); }
  bool delay_next_request() override { return arrange(Proxy::Fault::kDelayRequest); }
  bool lose_records(const std::string& shard, size_t count) override {
    const std::string of_shard = " where shard = '" + shard + "'";
    sql("delete from weir_log" + of_shard + " and at > (select last from weir_head" + of_shard +
        ") - " + std::to_string(count));
    sql("update weir_head set (last, crc) = (select at, crc from weir_log" + of_shard +
        " order by at desc limit 1)" + of_shard);
    return true;
  }
  bool damage(const std::string& shard, uint64_t log_index) override {
    sql("update weir_log set record = set_byte(record, 0, get_byte(record, 0) # 1)" +
        at(shard, log_index));
    return true;
  }
  bool remove(const std::string& shard, uint64_t log_index) override {
    sql("delete from weir_log" + at(shard, log_index));
    return true;
  }
  size_t many() const override {
    const char* given = std::getenv("WEIR_MANY_RECORDS");
    return given ? static_cast<size_t>(std::atoll(given)) : 5'000;
  }
  int passes_in_a_while() const override { return 1'200; }

 private:
  bool arrange(Proxy::Fault fault) {
    proxy_.arrange(fault);
    return true;
  }
  void sql(const std::string& statement) {
    server_.sql("set search_path = " + schema_ + "; " + statement);
  }
  static std::string at(const std::string& shard, uint64_t log_index) {
    return " where shard = '" + shard + "' and at = " + std::to_string(log_index);
  }

  PostgresServer& server_ = postgres::shared_server();
  std::string schema_;
  Proxy proxy_;
  Driver driver_;
};

INSTANTIATE_TEST_SUITE_P(Postgres, Conformance,
                         testing::Values(LogEngineFactory{
                             "Postgres", [] { return std::make_unique<PostgresEngine>(); }}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace weir::storage::replication
