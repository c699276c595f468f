#include "server/net/handshakes.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "server/net/tls_stream.h"
#include "server/os/log.h"

namespace weir::server {
namespace {

using Progress = TlsStream::Progress;

// What a client reads that does not know that this port is for TLS.
constexpr std::string_view kPlainReply =
    "-ERR this port is for connections over TLS (tls-port); yours did not begin with a "
    "handshake\r\n";
constexpr std::string_view kPlainHttpReply =
    "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\n"
    "Content-Length: 38\r\n\r\nthis port is for HTTPS; begin with it\n";
constexpr int64_t kLogEveryNs = kNsPerS;

int make_handshake_set() {
  const int descriptor = ::epoll_create1(EPOLL_CLOEXEC);
  if (descriptor < 0) {
    throw boost::system::system_error(errno, boost::system::system_category(), "epoll_create1");
  }
  return descriptor;
}

}  // namespace

Handshakes::Handshakes(boost::asio::io_context* io, Clock* clock, Tls* tls, OnDone on_done)
    : clock_(*clock),
      tls_(*tls),
      on_done_(std::move(on_done)),
      set_(*io, make_handshake_set()),
      logged_ns_(clock_.steady_ns() - kLogEveryNs) {}

Handshakes::~Handshakes() = default;

void Handshakes::begin(std::unique_ptr<ByteStream> stream, Peer peer, bool is_asked) {
  if (pending_.size() >= kPendingMax && !make_room()) {
    ++tls_.metrics.failed;
    return log_failure(peer, "too many others are not over");
  }
  const auto at = pending_.emplace_hint(
      pending_.end(), next_id_++,
      Handshake{.stream = std::make_unique<TlsStream>(std::move(stream), *tls_.context()),
                .peer = std::move(peer),
                .began_ns = clock_.steady_ns(),
                .ready_in = round_ + 1});
  if (!is_asked) at->second.stream->ask_no_certificate();
  if (speaks_grpc(at->second.peer.type)) at->second.stream->speak_http2();
  tls_.metrics.pending = pending_.size();
  watch(at, EPOLL_CTL_ADD);
}

void Handshakes::watch(Pending::iterator at, int action) {
  epoll_event event{};
  event.events = at->second.wants_write ? EPOLLOUT : EPOLLIN;
  event.data.u64 = at->first;
  // One that the system does not watch ends by its time-out.
  (void)::epoll_ctl(set_.native_handle(), action, at->second.stream->descriptor(), &event);
}

void Handshakes::step() {
  if (pending_.empty()) return;
  const int64_t begin_ns = clock_.steady_ns();
  end_overdue(begin_ns);
  std::array<epoll_event, kPendingMax> events;
  const int count = ::epoll_wait(set_.native_handle(), events.data(), events.size(), 0);
  std::array<uint64_t, kPendingMax> ids;
  const auto size = static_cast<size_t>(std::max(count, 0));
  for (size_t i = 0; i < size; ++i) ids[i] = events[i].data.u64;
  std::sort(ids.begin(), ids.begin() + size);
  ++round_;
  for (size_t i = 0; i < size; ++i) pending_.at(ids[i]).ready_in = round_;
  for (size_t i = 0; i < size; ++i) {
    if (i > 0 && clock_.steady_ns() - begin_ns > kTurnNs) break;
    // An earlier one's end may have ended this one.
    if (const auto at = pending_.find(ids[i]); at != pending_.end()) advance(at);
  }
}

void Handshakes::advance(Pending::iterator at) {
  Handshake& handshake = at->second;
  const Progress progress = handshake.stream->handshake();
  if (progress == Progress::kWantsRead || progress == Progress::kWantsWrite) {
    const bool wants_write = progress == Progress::kWantsWrite;
    handshake.ready_in = 0;
    if (std::exchange(handshake.wants_write, wants_write) != wants_write) watch(at, EPOLL_CTL_MOD);
    return;
  }
  if (progress == Progress::kFailed) return end(at, std::string(handshake.stream->failure()));
  if (progress == Progress::kPlain) {
    (void)handshake.stream->below().send(speaks_http(handshake.peer.type) ? kPlainHttpReply
                                                                          : kPlainReply);
    return end(at, "it speaks no TLS; tls-port is for connections over TLS only");
  }
  Handshake done = take(at);
  ++tls_.metrics.handshakes;
  if (done.stream->is_resumed()) ++tls_.metrics.resumed;
  done.peer.certificate_name = done.stream->peer_name();
  on_done_(std::move(done.stream), std::move(done.peer));
}

// They are in the order of their age.
void Handshakes::end_overdue(int64_t now_ns) {
  while (!pending_.empty() && now_ns - pending_.begin()->second.began_ns > kTimeoutNs)
    end(pending_.begin(), "it was not over after 10 seconds");
}

bool Handshakes::make_room() {
  const auto waits = [this](const auto& entry) { return entry.second.ready_in < round_; };
  const auto at = std::find_if(pending_.begin(), pending_.end(), waits);
  if (at == pending_.end()) return false;
  end(at, "it had to make room for others");
  return true;
}

void Handshakes::end(Pending::iterator at, std::string_view why) {
  ++tls_.metrics.failed;
  const Handshake ended = take(at);
  log_failure(ended.peer, why);
}

Handshakes::Handshake Handshakes::take(Pending::iterator at) {
  watch(at, EPOLL_CTL_DEL);
  Handshake taken = std::move(at->second);
  pending_.erase(at);
  tls_.metrics.pending = pending_.size();
  return taken;
}

void Handshakes::log_failure(const Peer& peer, std::string_view why) {
  const int64_t now_ns = clock_.steady_ns();
  if (now_ns - logged_ns_ < kLogEveryNs) {
    ++unlogged_;
    return;
  }
  logged_ns_ = now_ns;
  const uint64_t others = std::exchange(unlogged_, 0);
  log_warning("tls: the handshake of {} has failed: {}{}", peer.address, why,
              others == 0 ? "" : " (and " + std::to_string(others) + " others before)");
}

void Handshakes::wake_loop() {
  if (waking_) return;
  waking_ = true;
  set_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                  [this](boost::system::error_code) { waking_ = false; });
}

void Handshakes::clear() {
  pending_.clear();
  tls_.metrics.pending = 0;
}

}  // namespace weir::server
