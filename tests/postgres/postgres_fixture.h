// Logs on a real PostgreSQL, driven by real time.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/shared_logs/postgres_log.h"
#include "tests/postgres/driver.h"
#include "tests/postgres/postgres_server.h"
#include "tests/postgres/proxy.h"

namespace weir::storage::postgres {

using replication::Appended;
using replication::Head;
using replication::Read;
using AppendOutcome = Appended::Outcome;
using ReadOutcome = Read::Outcome;

class PostgresTest : public testing::Test {
 protected:
  // Each test has a database of its own in the server.
  explicit PostgresTest(PostgresServer* server = &shared_server());
  ~PostgresTest() override;

  std::string address(const std::string& user = "admin", const std::string& options = "") const;
  PostgresLog* connect(const std::string& address, bool makes_shard = true,
                       const std::string& password_file = "");
  PostgresLog* connect() { return connect(address()); }
  // By the proxy.
  std::string proxy_address() const;
  // Closes the connections of all logs, too.
  void close_logs();

  void pass();
  void wait_until(const std::function<bool()>& done, int64_t ns_max = 20 * kNsPerS);
  void wait_ns(int64_t ns);
  Appended append(PostgresLog* log, std::optional<Head> expected, const std::string& record);
  Read read(PostgresLog* log, const Head& after, size_t bytes_max = 1 << 20);
  void put(PostgresLog* log, Head* end, const std::string& record);
  // Until the server is asked with success, for as long as it takes to come back.
  Read read_at_last(PostgresLog* log, const Head& after);

  // In the test's own database.
  Rows sql(const std::string& statement) { return server_.sql(statement, database_); }
  std::string value(const std::string& statement) { return sql(statement).at(0).at(0); }
  // The server's processes that serve a log.
  size_t backends() {
    return server_
        .sql(
            "select pid from pg_stat_activity where application_name = 'weir' and "
            "datname = '" +
            database_ + "'")
        .size();
  }
  std::string backend() {
    return server_.value(
        "select pid from pg_stat_activity where application_name = 'weir' and "
        "datname = '" +
        database_ + "' order by backend_start desc limit 1");
  }
  static int64_t now_ns() { return Driver::boot_ns(); }

  PostgresServer& server_;
  std::string database_;
  Proxy proxy_;
  Driver driver_;
  std::vector<std::unique_ptr<PostgresLog>> logs_;
};

// With a server of its own, which the test may stop and set.
class OwnServerTest : public PostgresTest {
 protected:
  OwnServerTest() : PostgresTest(new_server()) {}
  ~OwnServerTest() override { close_logs(); }

 private:
  static PostgresServer* new_server();
};

}  // namespace weir::storage::postgres
