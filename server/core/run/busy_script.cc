#include "server/core/run/busy_script.h"

#include "server/os/log.h"

namespace weir::server {

bool BusyScript::serve(const RunningScript& script) {
  if (poll_ == nullptr) return true;
  if (noted_begin_ns_ != script.begin_steady_ns) {
    noted_begin_ns_ = script.begin_steady_ns;
    log_warning("{} {} runs longer than busy-reply-threshold ({} ms); others are answered BUSY",
                script.is_function ? "function" : "script", script.name,
                config_.busy_reply_threshold);
  }
  current_ = &script;
  killed_ = false;
  turn_.begin_busy_rounds();
  poll_();
  turn_.end_busy_round();
  current_ = nullptr;
  return !killed_;
}

}  // namespace weir::server
