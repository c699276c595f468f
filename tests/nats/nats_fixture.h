// Logs on real servers of NATS, driven by real time.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/shared_logs/nats_log.h"
#include "tests/nats/nats_server.h"
#include "tests/postgres/driver.h"

namespace weir::storage::nats {

using replication::Appended;
using replication::Head;
using replication::Read;
using AppendOutcome = Appended::Outcome;
using ReadOutcome = Read::Outcome;

inline std::string numbered(size_t number) { return "record " + std::to_string(number); }

class NatsTest : public testing::Test {
 protected:
  // Each test has a shard of its own in the servers.
  explicit NatsTest(NatsServer* servers = &shared_server());
  ~NatsTest() override;

  // Of the one shard, by all servers, unless it is said otherwise.
  NatsOptions options() const;
  NatsLog* connect(const NatsOptions& options);
  NatsLog* connect() { return connect(options()); }

  void pass();
  void wait_until(const std::function<bool()>& done, int64_t ns_max = 30 * kNsPerS);
  void wait_ns(int64_t ns);
  Appended append(NatsLog* log, std::optional<Head> expected, const std::string& record);
  Read read(NatsLog* log, const Head& after, size_t bytes_max = 1 << 20);
  void put(NatsLog* log, Head* end, const std::string& record);
  // As a primary does: while an append is of unknown outcome it reads, and appends what is not
  // there.
  void put_at_last(NatsLog* log, Head* end, const std::string& record);
  Read read_at_last(NatsLog* log, const Head& after);
  std::vector<replication::Record> read_all(NatsLog* log);

  std::string api(const std::string& name, const std::string& payload = "") {
    return servers_.ask("$JS.API.STREAM." + name, payload);
  }
  static int64_t now_ns() { return postgres::Driver::boot_ns(); }

  NatsServer& servers_;
  const std::string shard_;
  const Names names_;
  postgres::Driver driver_;
  std::vector<std::unique_ptr<NatsLog>> logs_;
};

}  // namespace weir::storage::nats
