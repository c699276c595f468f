// What is said on a new connection before it is used: settings, whether they hold, whether the
// tables are there.
//
// Invariants
// 1. Settings of the role, the database or the server do not matter: each that the log relies on
//    is set.
// 2. The settings are read back in another transaction, with the number of the server's process. A
//    pooler that changes connections between transactions would lose them, and with them what an
//    acknowledged append means; it is refused. Alone behind a pooler a member gets the same
//    connection each time, so the number is also compared with the one that the connection began
//    with, which is the pooler's own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/shared_logs/postgres/connection.h"
#include "storage/shared_logs/postgres/statement.h"

namespace weir::storage::postgres {

struct SessionPlan {
  std::string shard;
  bool makes_shard = false;
  int64_t lock_timeout_ns = 0;
};

struct ServerFacts {
  std::string version;
  uint64_t copies = 1;  // the server's own, and those that an append waits for
  bool syncs = false;   // fsync
};

// How many servers hold what an append with synchronous_commit = on waited for, by the setting
// synchronous_standby_names.
uint64_t copies_of(const std::string& synchronous_standby_names);

class Session {
 public:
  explicit Session(SessionPlan plan) : plan_(std::move(plan)) {}

  enum class Step { kMore, kReady, kFailed };
  // Whether the server can be used at all.
  Step begin(const Connection& connection);
  // REQUIRES: the last step was kMore.
  Statement next() const;
  Step take(const Answer& answer);

  const ServerFacts& facts() const { return facts_; }
  // Of kFailed: one line, and whether time does not heal it.
  const std::string& failure() const { return failure_; }
  bool needs_person() const { return needs_person_; }

 private:
  enum class State { kSettings, kLook, kTable, kShard };

  Step fail(std::string failure, bool needs_person);
  Step look(const Answer& answer);
  Step table_refused(const Answer& answer);

  const SessionPlan plan_;
  State state_ = State::kSettings;
  std::vector<std::string> settings_;  // as the server shows them
  uint64_t server_process_ = 0;
  std::string user_;
  size_t missing_table_ = 0;
  int looks_ = 0;
  ServerFacts facts_;
  std::string failure_;
  bool needs_person_ = false;
};

}  // namespace weir::storage::postgres
