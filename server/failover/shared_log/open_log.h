// The shared log that an address names, and questions to it that are waited for.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time_units.h"
#include "server/os/clock.h"
#include "storage/replication/record.h"
#include "storage/replication/shared_log.h"
#include "storage/replication/socket_watcher.h"

namespace weir::server {

struct LogPlan {
  std::string shard;          // its name; file: has one log and needs none
  std::string password_file;  // the first line of it is the password of a database; "": none
  int64_t log_timeout_ns = kNsPerS;
  bool makes_shard = false;  // of --new-shard alone: the log is begun if it is not there
  uint64_t bytes_max = uint64_t{16} << 30;  // of a log that is begun, where the engine has a bound
  bool allows_weak_engine = false;
};

// A shared log, and what its engine has beside it. Whoever makes one says of each whether it is
// there: a member without a registry knows nobody, and one whose log is not watched hears of an
// answer at its next tick only.
struct OpenedLog {
  std::unique_ptr<storage::replication::SharedLog> log;  // never null
  storage::replication::MemberRegistry* registry;        // the log's; null: there is none
  storage::WatchedLog* watched;                          // the log's; null: it has no socket
};

// "file:PATH", PATH from the root on: a file that processes of one machine share, for development
// and tests. "postgres://USER@HOST[:PORT][,HOST...]/DATABASE[?OPTION=VALUE...]": PostgreSQL, by an
// address of libpq's. "nats://[USER@]HOST[:PORT][,HOST...]": NATS JetStream. All have a member
// registry, and the latter two are watched. Nothing is opened or asked before the first call. An
// error never repeats what may be a password.
Result<OpenedLog, std::string> open_shared_log(std::string_view address, const LogPlan& plan = {});

// For a process that does nothing else meanwhile. They wait for kAnswerNs at most.
class WaitingLog {
 public:
  static constexpr int64_t kAnswerNs = 10 * kNsPerS;

  WaitingLog(storage::replication::SharedLog* log, Clock* clock) : log_(*log), clock_(*clock) {}

  storage::replication::Appended append(std::optional<storage::replication::Head> expected,
                                        std::string record);
  storage::replication::Read read(storage::replication::Head after, size_t bytes_max);
  storage::replication::LogTrouble trouble() const { return log_.trouble(); }

 private:
  template <typename Answer>
  void wait_for(const std::optional<Answer>& answer);

  storage::replication::SharedLog& log_;
  Clock& clock_;
};

// How a log begins.
struct FoundGenesis {
  storage::replication::Head head;
  storage::replication::Genesis genesis;
};

// Answers nothing for an empty log, and why its beginning cannot be read.
Result<std::optional<FoundGenesis>, std::string> read_genesis(WaitingLog* log);

}  // namespace weir::server
