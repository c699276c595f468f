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

namespace weir::server {

// "file:PATH", PATH from the root on: a file that processes of one machine share, for development
// and tests. No other engine is known yet. Nothing is opened or asked before the first call.
Result<std::unique_ptr<storage::replication::SharedLog>, std::string> open_shared_log(
    std::string_view address);

// For a process that does nothing else meanwhile. They wait for kAnswerNs at most.
class WaitingLog {
 public:
  static constexpr int64_t kAnswerNs = 10 * kNsPerS;

  WaitingLog(storage::replication::SharedLog* log, Clock* clock) : log_(*log), clock_(*clock) {}

  storage::replication::Appended append(std::optional<storage::replication::Head> expected,
                                        std::string record);
  storage::replication::Read read(storage::replication::Head after, size_t bytes_max);

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
