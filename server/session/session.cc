#include "server/session/session.h"

#include <algorithm>
#include <utility>

#include "base/heap_bytes.h"
#include "server/config/config.h"
#include "server/session/session_host.h"
#include "server/session/slice.h"

namespace weir::server {
namespace {

constexpr size_t kUnauthenticatedRequestMax = 32 << 10;  // bytes; AUTH with the longest words fits
constexpr size_t kUnauthenticatedCommandsMax = 8;  // of sessions that have to log in, per slice
// Of a session itself, with its entry in the list of all, and the lists that it may stand in.
constexpr size_t kOwnBytes = block_bytes(sizeof(Session)) + 160;

resp::RequestLimits request_limits(const Config& config, bool is_unauthenticated) {
  return {.bulk_bytes_max = config.proto_max_bulk_len,
          .multibulk_count_max = config.multibulk_count_max,
          .inline_bytes_max = config.proto_inline_max_bytes,
          .authenticated = !is_unauthenticated};
}

}  // namespace

Session::Session(SessionHost* host, uint64_t session_id, Peer peer)
    : id(session_id), host_(*host), client_(std::move(peer), host->default_user(), &kept_) {
  set_transport(nullptr);
}

Session::~Session() { kill_unsent(); }

void Session::set_transport(Transport* transport) {
  transport_ = transport;
  const size_t transport_bytes = transport == nullptr ? 0 : transport->memory_bytes();
  kept_.set(Kept::kSession, kOwnBytes + client_.peer().memory_bytes() + transport_bytes);
}

void Session::count_bytes() {
  if (dead_) return;
  const size_t bytes = memory_bytes();
  if (bytes == kept_.counted) return;
  const size_t before = std::exchange(kept_.counted, bytes);
  host_.count_client_bytes(*this, static_cast<int64_t>(bytes) - static_cast<int64_t>(before));
}

void Session::kill_unsent() {
  kill();
  const size_t before = std::exchange(kept_.counted, 0);
  if (before > 0) host_.count_client_bytes(*this, -static_cast<int64_t>(before));
  replies_.queue().give_up();
}

bool Session::is_unauthenticated() const {
  return !client_.authenticated() && host_.asks_for_login();
}

void Session::receive(std::string_view bytes, size_t commands_max) {
  if (closing_) return;
  host_.count_received(bytes.size());
  join_turn();
  requests_.begin(bytes, host_.requests_ahead());
  run_requests(is_unauthenticated() ? std::min(commands_max, kUnauthenticatedCommandsMax)
                                    : commands_max);
  requests_.end(!closing_);
  if (!input().empty()) check_input_size();
  count_bytes();
}

void Session::submit(Args args, ReplySink sink) {
  if (!closing_) requests_.submit(args, std::move(sink));
}

// Complete requests that are kept for later may be larger together than one request may be: they
// came in one read.
void Session::check_input_size() {
  if (input().size() > static_cast<size_t>(host_.config().client_query_buffer_limit)) {
    host_.note_query_buffer_overrun(*this);
    kill();
  } else if (input().size() > kUnauthenticatedRequestMax && !runnable_ && !closing_ &&
             is_unauthenticated()) {
    fail_protocol("ERR Protocol error: unauthenticated request too large");
  }
}

void Session::join_turn() {
  if (replies_.queue().in_turn()) return;
  replies_.queue().begin_turn();
  host_.note_in_turn(this);
}

void Session::run_requests(size_t commands_max) {
  Slice slice(&host_, &replies_.queue(), commands_max);
  runnable_ = false;
  hold_ = Hold::kNone;
  while (!closing_ && !requests_.at_end() && !wait_state_.waiting()) {
    runnable_ = slice.ended();
    if (runnable_) break;
    const resp::RequestLimits limits = request_limits(host_.config(), is_unauthenticated());
    // What the next requests look up is fetched for all of them together.
    const size_t ahead = requests_.parse_ahead(limits, slice.commands_left());
    if (ahead > 1) {
      for (size_t i = 0; i < ahead; ++i) host_.expect(*this, requests_.ahead().args(i));
      host_.fetch_expected();
    }
    const resp::ParseStatus status = requests_.parse(limits);
    if (status == resp::ParseStatus::kNeedMore) break;
    if (status == resp::ParseStatus::kError) {
      fail_protocol(requests_.error());
      break;
    }
    const size_t reply_begin = replies_.queue().end();
    if (!requests_.args().empty()) {
      if (host_.is_pressed()) hold_ = host_.hold_for(*this, requests_.args());
      if (hold_ == Hold::kNone) hold_ = run_request(requests_.args());
      if (hold_ != Hold::kNone) {  // before it ran, or because it was taken back
        runnable_ = true;
        requests_.put_back();
        break;
      }
      slice.count();
    }
    const size_t arguments = requests_.args().size();
    slice.charge(arguments, requests_.use() + replies_.queue().end() - reply_begin);
  }
  if (slice.was_long()) activity_.note_long();
}

Hold Session::run_request(Args args) {
  if (requests_.is_submitted()) [[unlikely]] {
    if (ReplySink sink = requests_.take_sink()) replies_.give_next_to(std::move(sink));
  }
  const Ran ran = host_.execute(*this, args);
  if (ran.hold == Hold::kNone) {
    if (!wait_state_.waiting() && !dead_) replies_.note(ran.touched_data, ran.early_permits);
    // CLIENT CACHING is for the next command, or for all of the next transaction.
    bool& caching = listening_.tracking.caching;
    const bool of_client = ran.command != nullptr && ran.command->has(kOfClient);
    if (caching && !transaction_.open() && !of_client) caching = false;
  }
  host_.deliver_messages();
  return ran.hold;
}

void Session::push_message(std::string_view bytes) {
  if (speaks_http(client_.peer().type)) return;  // which has no way to be told anything
  join_turn();
  replies_.add_message(bytes);
  count_bytes();
}

void Session::end_wait(std::optional<uint64_t> early_permits) {
  wait_state_.end();
  if (!dead_) replies_.note(true, early_permits);
  runnable_ = requests_.keeps_any();
}

void Session::fail_protocol(const std::string& error) {
  host_.note_protocol_error(*this, error);
  replies_.add_protocol_error(error);
  closing_ = true;
}

void Session::release(size_t place) {
  if (!dead_) replies_.queue().release(place);
}

void Session::mark_sent(size_t bytes) {
  host_.count_sent(bytes);
  replies_.queue().sent(bytes);
  count_bytes();
}

}  // namespace weir::server
