#include "server/session/replies.h"

#include <string>
#include <utility>

namespace weir::server {

void Replies::apply_mode() {
  const bool unwanted = mode_ == ReplyMode::kOff || mode_ == ReplyMode::kSkipping;
  if (unwanted && !is_push_) cut(reply_begin());
  is_push_ = false;
  if (mode_ == ReplyMode::kSkipping) mode_ = ReplyMode::kOn;
  if (mode_ == ReplyMode::kSkipNext) mode_ = ReplyMode::kSkipping;
}

void Replies::add_protocol_error(std::string_view error) {
  if (mode_ == ReplyMode::kOn) writer_.error(error);
  queue_.mark(ReplyKind::kPlain);
}

void Replies::fail_turn(std::string_view error) {
  std::string line;
  resp::ReplyWriter(&line).error(error);
  queue_.fail(line);
}

int64_t Replies::over_ns(size_t bytes, int64_t now_ns) {
  if (queue_.unsent_bytes() <= bytes) {
    over_since_ns_ = 0;
    return 0;
  }
  if (over_since_ns_ == 0) over_since_ns_ = now_ns;
  return now_ns - over_since_ns_;
}

}  // namespace weir::server
