// Writes to the server's log what is wrong with the shared log, when that changes.
#pragma once

#include <cstdint>
#include <string>

#include "base/time_units.h"
#include "server/os/log.h"
#include "storage/replication/shared_log.h"

namespace weir::server {

class TroubleTeller {
 public:
  // To be called often; it looks now and then.
  void look(const storage::replication::SharedLog& log, int64_t boot_ns) {
    if (boot_ns < look_at_ns_) return;
    look_at_ns_ = boot_ns + kLookNs;
    std::string text = log.trouble().text;
    if (text == told_) return;
    told_ = std::move(text);
    told_.empty() ? log_info("the shared log answers again")
                  : log_warning("the shared log: {}", told_);
  }

 private:
  static constexpr int64_t kLookNs = 500 * kNsPerMs;

  std::string told_;
  int64_t look_at_ns_ = 0;
};

}  // namespace weir::server
