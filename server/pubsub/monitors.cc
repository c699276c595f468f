#include "server/pubsub/monitors.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/time_units.h"
#include "resp/inline_arguments.h"
#include "server/command/redaction.h"
#include "server/config/config.h"
#include "server/os/log.h"
#include "server/session/session.h"
#include "server/session/session_directory.h"

namespace weir::server {
namespace {

// A receiver with less than this unsent is not held against the limits before the turn ends.
constexpr size_t kMonitorUnsentUnchecked = 64 << 10;
constexpr size_t kQuotingFactor = 8;  // a byte that is quoted takes as long as so many copied ones

}  // namespace

// For example: 1700000000.000123 [0 127.0.0.1:50412]
std::string Monitors::head(const Call& call, bool from_script) const {
  const int64_t now_us = call.wall_ns() / kNsPerUs;
  char time[32];
  std::snprintf(time, sizeof time, "%lld.%06lld", static_cast<long long>(now_us / kUsPerS),
                static_cast<long long>(now_us % kUsPerS));
  std::string text =
      std::string(time) + " [" + std::to_string(call.session.client().database()) + " ";
  const Peer& peer = call.session.client().peer();
  if (from_script) {
    text += "lua";
  } else if (peer.type == ConnectionType::kUnixSocket) {
    text += "unix:" + config_.unixsocket;
  } else {
    text += peer.address;
  }
  return text + "]";
}

void Monitors::add(Session& session) {
  if (std::exchange(session.listening().monitors, true)) return;
  sessions_.push_back(&session);
}

void Monitors::forget(Session& session) {
  if (std::exchange(session.listening().monitors, false)) std::erase(sessions_, &session);
}

size_t Monitors::bytes_max() const {
  size_t most = 0;
  for (const Session* session : sessions_)
    most = std::max(most, directory_.unsent_bytes_max(*session));
  return most;
}

void Monitors::show(const Call& call, bool from_script) {
  if (overflowed_) return;
  const size_t begin = pending_.size();
  const size_t most = bytes_max();
  pending_ += "+" + head(call, from_script);
  for (const std::string_view arg : redacted(call.command, call.args)) {
    overflowed_ = pending_.size() + arg.size() > most;
    if (overflowed_) break;
    pending_.append(" ").append(resp::quote_argument(arg));
  }
  pending_ += "\r\n";
  work_.charge(1, kQuotingFactor * (pending_.size() - begin));
  if (overflowed_) pending_.resize(begin);
}

void Monitors::drop_after(const Savepoint& savepoint) {
  pending_.resize(std::min(savepoint.bytes, pending_.size()));
  overflowed_ = overflowed_ && savepoint.overflowed;
}

void Monitors::end_all() {
  for (Session* session : sessions_) {
    if (session->dead()) continue;
    log_warning(
        "Client id={} addr={} closed for overcoming of output buffer limits: one command made more "
        "than {} bytes for MONITOR (client-output-buffer-limit, maxmemory-clients)",
        session->id, session->client().peer().address, bytes_max());
    directory_.kill(session);
    session->kill_unsent();
  }
}

void Monitors::deliver() {
  if (std::exchange(overflowed_, false)) end_all();
  const std::string lines = std::exchange(pending_, {});
  for (Session* session : sessions_) {
    if (session->closing()) continue;
    work_.charge(1, lines.size());
    session->push_message(lines);
    if (session->replies().unsent_bytes() > kMonitorUnsentUnchecked)
      directory_.enforce_output_limit(session);
  }
}

}  // namespace weir::server
