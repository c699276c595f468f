// What is served while a script runs long: see busy.h.
#include <algorithm>

#include "server/core/server.h"
#include "server/os/log.h"
#include "server/script/busy.h"

namespace weir::server {

bool Server::serve_while_busy(const RunningScript& script) {
  if (busy_poll_ == nullptr) return true;
  if (noted_long_script_ns_ != script.begin_steady_ns) {
    noted_long_script_ns_ = script.begin_steady_ns;
    spdlog::warn("{} {} runs longer than busy-reply-threshold ({} ms); others are answered BUSY",
                 script.is_function ? "function" : "script", script.name,
                 config_.busy_reply_threshold);
  }
  long_script_ = &script;
  long_script_killed_ = false;
  busy_mark_ = in_turn_.size();
  busy_poll_();
  end_busy_round();
  long_script_ = nullptr;
  return !long_script_killed_ && !shutdown.requested;
}

// What they were told depends on no data, so it waits for nothing but what they are owed already.
std::vector<Session*> Server::end_busy_round() {
  const auto begin = in_turn_.begin() + static_cast<std::ptrdiff_t>(busy_mark_);
  const std::vector<Session*> served(begin, in_turn_.end());
  in_turn_.resize(busy_mark_);
  const int64_t now_ns = clock_->steady_ns();
  for (Session* session : served) {
    const bool is_owed = std::any_of(held_.begin(), held_.end(), [session](const Held& held) {
      return held.session == session->id;
    });
    finish_session_turn(session, !is_owed, now_ns);
  }
  busy_mark_ = in_turn_.size();  // those that were ended just now
  return served;
}

}  // namespace weir::server
