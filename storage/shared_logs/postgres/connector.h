// Makes a connection to the server of an address that takes writes, without ever waiting.
//
// libpq's own connecting would look up names, and has no time limits when it must not wait. So one
// host is tried at a time, by its numeric address, for one second by this class's own timer.
//
// Invariants
// 1. The server has to start a process for a connection. At most one attempt a second gets as far:
//    together with the one connection that a log keeps, a member never has more than two.
// 2. A round begins with the host that was good last, and tries each host once.
#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/shared_logs/postgres/address.h"
#include "storage/shared_logs/postgres/resolver.h"

namespace weir::storage::postgres {

struct Finish {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
using OpenConnection = std::unique_ptr<PGconn, Finish>;

class Connector {
 public:
  // The file holds the password in its first line, and is read at each attempt; "": none.
  Connector(Address address, std::string password_file);

  enum class Step { kWaiting, kConnected, kRoundFailed };
  // Goes on as far as it can without waiting. After kConnected, take() has the connection.
  // kRoundFailed is told once: all hosts were tried in vain, and it begins anew.
  Step step(int64_t now_ns);
  OpenConnection take() { return std::move(connection_); }
  // After a connection was lost: with the host that was good last.
  void begin_round();

  // What is to be watched; -1: nothing.
  int descriptor() const { return connection_ ? PQsocket(connection_.get()) : -1; }
  bool wants_write() const { return wanted_ == PGRES_POLLING_WRITING; }
  // Another number: the descriptor may be another one although its number is the same.
  uint64_t descriptor_serial() const { return serial_; }
  int64_t next_deadline() const;
  // Why the last attempt failed, one line.
  const std::string& failure() const { return failure_; }

 private:
  enum class State { kPausing, kLookingUp, kConnecting };

  const Host& host() const { return address_.hosts[(first_ + tried_) % address_.hosts.size()]; }
  void begin_host(int64_t now_ns);
  // These answer nothing while there is more to do at once.
  std::optional<Step> look_up(int64_t now_ns);
  std::optional<Step> attempt(int64_t now_ns);
  std::optional<Step> fail(std::string failure, int64_t now_ns);
  void begin_attempt(int64_t now_ns);
  Step succeed();
  bool is_ready() const;

  const Address address_;
  const std::string password_file_;
  Resolver resolver_;
  State state_ = State::kPausing;
  size_t first_ = 0;                     // the host that was good last
  size_t tried_ = 0;                     // hosts of this round
  std::vector<std::string> candidates_;  // numeric addresses of the host that are left
  std::string good_address_;             // the one that was good last
  int64_t pause_until_ns_ = 0;
  int64_t round_began_ns_ = 0;
  int64_t attempt_began_ns_ = 0;
  bool reached_server_ = false;
  OpenConnection connection_;
  PostgresPollingStatusType wanted_ = PGRES_POLLING_WRITING;
  uint64_t serial_ = 0;
  std::string failure_;
};

}  // namespace weir::storage::postgres
