#include "server/session/session.h"

#include <utility>

#include "base/time_units.h"
#include "server/config/config.h"
#include "server/session/session_host.h"

namespace weir::server {
namespace {

constexpr size_t kStrangersRequestMax = 32 << 10;  // bytes; AUTH with the longest words fits
constexpr size_t kRepliesPerSlice = 1 << 20;       // bytes; then others have their turn
constexpr int64_t kSliceNs = kNsPerMs;             // then other sessions have their turn
constexpr int64_t kNotBegun = INT64_MIN;
constexpr size_t kStrangersCommandsMax = 8;  // of sessions that have to log in, per slice

}  // namespace

Session::Session(SessionHost* host, uint64_t session_id, Peer session_peer)
    : id(session_id),
      peer(std::move(session_peer)),
      user(host->default_user()),
      host_(*host),
      reply_(output_.tail()) {}

Session::~Session() { host_.count_client_bytes(-static_cast<int64_t>(counted_bytes_)); }

void Session::count_bytes() {
  if (dead_) return;
  const size_t bytes = input_.capacity() + output_.capacity() + transaction.argument_bytes();
  if (bytes == counted_bytes_) return;
  const size_t before = std::exchange(counted_bytes_, bytes);
  host_.count_client_bytes(static_cast<int64_t>(bytes) - static_cast<int64_t>(before));
}

void Session::kill_unsent() {
  count_bytes();  // while that still counts
  host_.count_client_bytes(-static_cast<int64_t>(std::exchange(counted_bytes_, 0)));
  kill();
  output_.give_up();
}

bool Session::is_stranger() const { return !authenticated && host_.asks_for_login(); }

resp::RequestLimits Session::limits() const {
  const Config& config = host_.config();
  return {.bulk_bytes_max = config.proto_max_bulk_len,
          .multibulk_count_max = config.multibulk_count_max,
          .inline_bytes_max = config.proto_inline_max_bytes,
          .authenticated = !is_stranger()};
}

void Session::receive(std::string_view bytes, size_t commands_max) {
  if (closing_) return;
  bytes_in += bytes.size();
  host_.count_received(bytes.size());
  begin_turn_if_needed();
  if (input_.empty()) {
    const size_t taken = process(bytes, commands_max);
    if (!closing_) input_.append(bytes.substr(taken));
  } else {
    input_.append(bytes);
    input_.use(process(input_.unused(), commands_max));
  }
  if (!input_.empty()) check_input_size();
  count_bytes();
}

// What is kept for later requests may be more: it is part of one read.
void Session::check_input_size() {
  if (input_.size() > static_cast<size_t>(host_.config().client_query_buffer_limit)) {
    host_.note_query_buffer_overrun(*this);
    kill();
  } else if (input_.size() > kStrangersRequestMax && !runnable_ && !closing_ && is_stranger()) {
    fail_protocol("ERR Protocol error: unauthenticated request too large");
  }
}

void Session::begin_turn_if_needed() {
  if (in_turn_) return;
  in_turn_ = true;
  output_.begin_turn();
  host_.note_in_turn(this);
}

size_t Session::process(std::string_view bytes, size_t commands_max) {
  size_t taken = 0;
  int64_t slice_begin_ns = kNotBegun;
  runnable_ = false;
  hold_ = Hold::kNone;
  if (is_stranger()) commands_max = std::min(commands_max, kStrangersCommandsMax);
  while (!closing_) {
    if (taken == bytes.size() || waiting_) break;
    if (commands_max == 0 || slice_ended(slice_begin_ns)) {
      runnable_ = true;
      break;
    }
    const resp::ParseStatus status = parser_.parse(bytes.substr(taken), limits());
    if (status == resp::ParseStatus::kNeedMore) break;
    if (status == resp::ParseStatus::kError) {
      fail_protocol(parser_.error());
      break;
    }
    if (!parser_.args().empty()) {
      if (host_.is_pressed()) hold_ = host_.hold_for(*this, parser_.args());
      if (hold_ == Hold::kNone) run_request(produced());
      if (hold_ != Hold::kNone) {  // before it ran, or because it was taken back
        runnable_ = true;
        parser_.reset();
        break;
      }
      --commands_max;
      if (slice_begin_ns == kNotBegun) slice_begin_ns = host_.looked_ns();
    }
    taken += parser_.consumed();
  }
  return taken;
}

// The replies of a turn leave together at its end, a record of the log holds its changes, and the
// others wait for it. The time is that of the last request's beginning, so it passes the bound by
// one request at most.
bool Session::slice_ended(int64_t begin_ns) const {
  if (begin_ns != kNotBegun && host_.looked_ns() - begin_ns > kSliceNs) return true;
  return output_.turn_bytes() > kRepliesPerSlice || (host_.is_pressed() && host_.turn_is_full());
}

void Session::run_request(size_t reply_begin) {
  const bool touched_data = host_.execute(*this, parser_.args());
  if (hold_ != Hold::kNone) return host_.deliver_messages();
  if (!waiting_) note_reply(reply_begin, touched_data);
  // CLIENT CACHING is for the next command, or for all of the next transaction.
  const bool of_client = requested != nullptr && requested->has(kOfClient);
  if (tracking.caching && !transaction.open() && !of_client) tracking.caching = false;
  host_.deliver_messages();
  count_bytes();
}

void Session::push_message(std::string_view bytes) {
  begin_turn_if_needed();
  output_.append(bytes);
  output_.mark(ReplyKind::kMessage);
  count_bytes();
}

void Session::note_reply(size_t reply_begin, bool touched_data) {
  if (dead_) return;
  const bool unwanted = reply_mode == ReplyMode::kOff || reply_mode == ReplyMode::kSkipping;
  if (unwanted && !reply_is_push) output_.cut(reply_begin);
  reply_is_push = false;
  if (reply_mode == ReplyMode::kSkipping) reply_mode = ReplyMode::kOn;
  if (reply_mode == ReplyMode::kSkipNext) reply_mode = ReplyMode::kSkipping;
  output_.mark(touched_data ? ReplyKind::kOfData : ReplyKind::kPlain);
}

void Session::end_wait(size_t reply_begin) {
  waiting_ = false;
  note_reply(output_.tail_begin() + reply_begin, true);
  runnable_ = !input_.empty();
}

void Session::fail_wait(std::string_view error) {
  const size_t reply_begin = output_.tail()->size();
  reply_.error(error);
  end_wait(reply_begin);
}

void Session::fail_protocol(const std::string& error) {
  host_.note_protocol_error(*this, error);
  if (reply_mode == ReplyMode::kOn) reply_.error(error);
  output_.mark(ReplyKind::kPlain);
  closing_ = true;
}

void Session::release(size_t produced) {
  if (!dead_) output_.release(produced);
}

void Session::mark_sent(size_t bytes) {
  bytes_out += bytes;
  host_.count_sent(bytes);
  output_.sent(bytes);
  count_bytes();
}

void Session::fail_turn_replies(std::string_view error) {
  std::string line;
  resp::ReplyWriter(&line).error(error);
  output_.fail(line);
}

void Session::end_turn() {
  in_turn_ = false;
  output_.end_turn();
}

}  // namespace weir::server
