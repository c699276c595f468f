// An open connection: one statement at a time is sent and answered, and nothing is waited for.
#pragma once

#include <cstdint>
#include <string>

#include "storage/shared_logs/postgres/connector.h"
#include "storage/shared_logs/postgres/statement.h"

namespace weir::storage::postgres {

class Connection {
 public:
  explicit Connection(OpenConnection connection);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // REQUIRES: !is_busy(). False: the connection is lost, and the statement may have been sent.
  bool send(const Statement& statement);
  bool is_busy() const { return is_busy_; }

  enum class Step { kWaiting, kAnswered, kLost };
  // Writes and reads what can be without waiting. After kAnswered, take() has the answer.
  Step step();
  Answer take();

  int descriptor() const { return PQsocket(connection_.get()); }
  bool wants_write() const { return wants_write_; }
  // The server's process, as the server told when the connection began.
  int server_process() const { return PQbackendPID(connection_.get()); }
  int server_version() const { return PQserverVersion(connection_.get()); }
  // Why it is lost, one line.
  std::string failure() const;

 private:
  static void hear(void* self, const PGresult* notice);
  bool flush();
  bool receive();
  int waiting_bytes() const;

  OpenConnection connection_;
  std::unique_ptr<PGresult, Clear> result_;
  bool is_busy_ = false;
  bool wants_write_ = false;
  bool was_warned_ = false;
  size_t received_ = 0;     // bytes, about, since the last statement
  std::string last_words_;  // an error that came unasked
};

}  // namespace weir::storage::postgres
