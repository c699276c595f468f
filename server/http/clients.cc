#include "server/http/clients.h"

#include <algorithm>
#include <string>
#include <utility>

#include "algorithms/words.h"
#include "server/core/run/server.h"
#include "server/os/log.h"

namespace weir::server::http {
namespace {

// Whether `one` makes room rather than `other`, which may be null.
bool goes_before(const Pace& one, const Pace* other) {
  if (one.waited_for == Pace::For::kWeir) return false;
  if (other == nullptr) return true;
  return one.waited_for != other->waited_for ? one.waited_for < other->waited_for
                                             : one.since_ns < other->since_ns;
}

}  // namespace

bool Clients::make_room() {
  const size_t most = most_();
  if (all_.size() < most) return true;
  if (all_.size() >= 2 * most) return false;  // so many wait for the end of a script
  const Pace* first = nullptr;
  for (const Pace* next : all_) {
    if (!next->session->dead() && goes_before(*next, first)) first = next;
  }
  if (first == nullptr) return false;
  end(*first);
  return true;
}

bool Clients::begin_wait(Pace* pace) {
  if (waiting_ >= (most_() + 1) / 2) return false;
  pace->may_wait = true;
  ++waiting_;
  return true;
}

void Clients::end_wait(Pace* pace) {
  if (std::exchange(pace->may_wait, false)) --waiting_;
}

// At once, so that its descriptor is free. While a script runs connections stay until its end.
void Clients::end(const Pace& pace) {
  Transport* transport = pace.session->transport();
  if (transport == nullptr || server_.scripting().busy.current() != nullptr)
    return server_.sessions().kill(pace.session);
  transport->abandon();
}

void Clients::end_overdue() {
  const int64_t now_ns = server_.clock().steady_ns();
  for (const Pace* next : all_) {
    if (next->session->dead() || now_ns <= next->until_ns) continue;
    log_debug("client {} ({}) closed: its request or its answer took too long", next->session->id,
              next->session->client().peer().address);
    server_.sessions().kill(next->session);
  }
}

void Clients::note_gate_error(std::string_view error) {
  ++server_.report().stats.gate_errors;
  const int64_t now_ns = server_.clock().steady_ns();
  if (now_ns - logged_ns_ < kNsPerS) {
    ++unlogged_;
    return;
  }
  logged_ns_ = now_ns;
  const uint64_t others = std::exchange(unlogged_, 0);
  log_warning("the gate has no verdict: {}{}", algorithms::shown(error),
              others == 0 ? "" : " (and " + std::to_string(others) + " others before)");
}

std::function<size_t()> of_requests(Server* server) {
  return [server] { return static_cast<size_t>(server->config().http_maxclients); };
}

std::function<size_t()> of_calls(Server* server) {
  return [server] { return static_cast<size_t>(server->config().grpc_maxclients); };
}

}  // namespace weir::server::http
