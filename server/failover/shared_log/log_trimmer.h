// Trims the shared log while this member is its primary: how far storage/replication/trimming.h
// says. Members that the log is not kept for any longer are named in the server's log.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/time_units.h"
#include "storage/replication/member_registry.h"
#include "storage/replication/shared_log.h"
#include "storage/replication/trimming.h"

namespace weir::server {

class LogTrimmer {
 public:
  static constexpr int64_t kEveryNs = kNsPerS;

  LogTrimmer(storage::replication::SharedLog* log, const storage::replication::TrimOptions& options)
      : log_(*log), trimming_(options) {}

  // What was read of the log, and what was appended. A standby notes it, too: it may be the primary
  // soon.
  void note(const storage::replication::Record& record);
  void note(uint64_t log_index, size_t bytes) { trimming_.note(log_index, bytes); }

  // Tells whether it is time. Only a primary trims.
  bool due(int64_t boot_ns) const { return boot_ns >= next_ns_; }
  // `own` is the place that the primary's state files have reached.
  void trim(const storage::replication::Head& own,
            const storage::replication::RegistryView& registry, int64_t boot_ns);

  // The log index up to which records may have gone, of this process's time as primary; 0: none.
  uint64_t trimmed_up_to() const { return trimmed_up_to_; }

 private:
  void name_the_late(const storage::replication::RegistryView& registry);

  storage::replication::SharedLog& log_;
  storage::replication::Trimming trimming_;
  int64_t next_ns_ = 0;
  uint64_t trimmed_up_to_ = 0;
  std::set<std::string> late_;  // nodes that were named
};

}  // namespace weir::server
