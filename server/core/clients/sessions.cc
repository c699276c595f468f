#include "server/core/clients/sessions.h"

#include <utility>

#include "base/time_units.h"
#include "server/core/clients/client_list.h"
#include "server/os/log.h"

namespace weir::server {
namespace {

constexpr const char* kTooManyClients = "-ERR max number of clients reached\r\n";
constexpr const char* kProtected =
    "-DENIED weir runs in protected mode: it has no password and takes connections from this "
    "machine only. Set 'requirepass', or 'protected-mode no' if every host that can reach this "
    "port may use it.\r\n";

// Tells whether a session whose client has to log in has sent no whole request for so long. Bytes
// of a request that never ends do not count, so they keep no connection open. Clients of HTTP have
// bounds of their own (http/conversation.h).
bool is_overdue_login(Session* session, int64_t timeout_s, int64_t now_ns) {
  if (timeout_s == 0 || !session->is_unauthenticated() ||
      speaks_http(session->client().peer().type))
    return false;
  return session->activity().silent_ns(now_ns, session->runnable()) > timeout_s * kNsPerS;
}

}  // namespace

Result<Session*, std::string> Sessions::add(Peer peer) {
  const Config& config = *needs_.config;
  const bool is_full = sessions_.size() >= static_cast<size_t>(config.maxclients);
  const bool is_foreign = config.protected_mode && !host().asks_for_login() && !peer.loopback;
  // Who watches is let in when there are too many clients, and asks for no more than to watch.
  if ((is_full || is_foreign) && !is_for_metrics(peer.type)) {
    ++needs_.report->stats.connections_rejected;
    return is_full ? kTooManyClients : kProtected;
  }
  const uint64_t id = next_id_++;
  auto session = std::make_unique<Session>(needs_.host, id, std::move(peer));
  session->activity().begin(needs_.clock->steady_ns());
  ++needs_.report->stats.connections;
  Session* added = sessions_.emplace(id, std::move(session)).first->second.get();
  added->count_bytes();
  return added;
}

Session* Sessions::find_session(uint64_t id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second.get();
}

void Sessions::each_session(const std::function<void(Session&)>& visit) const {
  for (const auto& [id, session] : sessions_) visit(*session);
}

void Sessions::kill(Session* session) {
  if (session->dead()) return;
  session->kill();
  session->join_turn();  // whose end closes it; by this way it is listed there once
}

void Sessions::enforce_output_limit(Session* session) {
  bounds_.enforce_output_limit(session, needs_.clock->steady_ns());
}

std::string Sessions::describe(const Session& session) const {
  return client_line(session, needs_.clock->steady_ns());
}

void Sessions::end_idle() {
  const int64_t now_ns = needs_.clock->steady_ns();
  if (now_ns < next_idle_check_steady_ns_) return;
  next_idle_check_steady_ns_ = now_ns + kNsPerS;
  const int64_t timeout_s = needs_.config->timeout;
  const int64_t login_s = needs_.config->authentication_timeout;
  for (const auto& [id, session] : sessions_) {
    if (session->replies().unsent_bytes() > 0) enforce_output_limit(session.get());
    const Listening& listening = session->listening();
    if (session->wait_state().waiting() || listening.subscribed() || listening.monitors) continue;
    if (timeout_s > 0 && session->activity().idle_ns(now_ns) > timeout_s * kNsPerS) {
      log_debug("client {} ({}) closed: idle for over {} s", id, session->client().peer().address,
                timeout_s);
      kill(session.get());
    }
    if (is_overdue_login(session.get(), login_s, now_ns)) {
      log_debug("client {} ({}) closed: without a request for over {} s, and not logged in", id,
                session->client().peer().address, login_s);
      kill(session.get());
    }
  }
}

}  // namespace weir::server
