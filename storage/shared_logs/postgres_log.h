// The shared log of a shard in PostgreSQL 15 or later, over libpq: tables weir_head, weir_log and
// weir_board (postgres/sql.h), which are made where they are missing. It is also the shard's member
// registry.
//
// Nothing here waits: not for a connection, a name or an answer. server_log.h has what it shares
// with the other engines, and how it is driven.
//
// Invariants
// 1. There is one connection at a time, and one statement on it. An append without an answer keeps
//    its connection three times log-timeout, and a second more for each 4 MiB. At most one new
//    connection a second. With lock_timeout that is never more than two processes of the server,
//    however long it lets an append wait. While a synchronous standby is away the database keeps an
//    append waiting for ever, and with it the shard's row; a member that tried again and again
//    would take the connections that others need. What is given up is a connection for reads beside
//    the one for appends.
// 2. Nothing is ever cancelled: a cancelled append stands in the log, and no standby has it.
// 3. An append is kDone only if the server said so without a warning; kRefused only if it was not
//    sent, or the server did nothing.
// 4. What waits for a connection is answered when all hosts of the address were tried in vain.
//
// A shard that nobody made reads as an empty log, and refuses appends.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time_units.h"
#include "storage/shared_logs/postgres/connection.h"
#include "storage/shared_logs/postgres/connector.h"
#include "storage/shared_logs/postgres/maintenance.h"
#include "storage/shared_logs/postgres/session.h"
#include "storage/shared_logs/postgres/socket_watch.h"
#include "storage/shared_logs/postgres/sql.h"
#include "storage/shared_logs/server_log.h"

namespace weir::storage {

struct PostgresOptions {
  postgres::Address address;
  std::string shard;
  std::string password_file;  // its first line is the password; "": none
  int64_t log_timeout_ns = kNsPerS;
  bool makes_shard = false;  // of --new-shard alone: the log is begun if it is not there
};

class PostgresLog final : public ServerLog {
 public:
  static constexpr size_t kRecordBytesMax = postgres::kRecordBytesMax;

  explicit PostgresLog(PostgresOptions options);

  void trim(uint64_t up_to) override { maintenance_.trim(up_to); }
  // Of the server, as it was when the connection began, and every 30 s since.
  replication::LogFacts facts() const override;
  void put(std::string name, std::string bytes) override;
  std::vector<replication::RegistryEntry> snapshot() const override {
    return maintenance_.registry(now_ns());
  }
  bool has_written() const override { return maintenance_.has_written(); }
  void read_soon() override { maintenance_.read_soon(); }

  void set_watcher(SocketWatcher* watcher) override;
  void on_ready(int64_t boot_ns) override;

 private:
  enum class Doing { kNothing, kSession, kRequest, kMaintenance };

  // Of ServerLog.
  int64_t allowed_ns(size_t append_bytes) const override;
  void send_waiting() override;
  void note_time() override;
  // Looks at the socket unless a watcher would have told of it.
  void work() override;
  int64_t own_deadline() const override;
  replication::LogTrouble own_trouble() const override;

  // These answer whether there may be more to do at once.
  bool step();
  bool look();
  bool connect();
  bool send_next();
  bool expire();

  void send(Doing doing, const postgres::Statement& statement, int64_t allowed_ns);
  void send_request(LogRequest request);
  void take(const postgres::Answer& answer);
  void go_on_with_session(postgres::Session::Step step);
  void take_append(const AppendRequest& request, const postgres::Answer& answer);
  void take_read(LogRequest request, const postgres::Answer& answer);
  std::string failure_of(const postgres::Answer& answer);
  void lose(const std::string& why);
  void drop();
  bool is_overdue() const;
  void watch();

  const PostgresOptions options_;
  postgres::Connector connector_;
  std::unique_ptr<postgres::Connection> connection_;
  std::optional<postgres::Session> session_;  // until the connection can be used
  postgres::Maintenance maintenance_;
  postgres::SocketWatch watch_;
  postgres::ServerFacts server_;

  // What is under way on the connection, and until when it may be.
  Doing doing_ = Doing::kNothing;
  std::optional<LogRequest> in_flight_;
  int64_t in_flight_ns_ = 0;
  std::optional<int64_t> deadline_ns_;
  bool is_lost_ = false;
  bool is_ready_ = true;  // the socket may be, as far as the watcher has told

  bool is_damaged_ = false;  // the next read says so
};

}  // namespace weir::storage
