#include "server/http/clients.h"

#include "server/core/server.h"
#include "server/os/log.h"

namespace weir::server::http {

bool Clients::make_room() {
  if (all_.size() < static_cast<size_t>(server_.config().http_maxclients)) return true;
  const Pace* longest = nullptr;
  for (const Pace* next : all_) {
    if (!next->silent || next->session->dead()) continue;
    if (longest == nullptr || next->since_ns < longest->since_ns) longest = next;
  }
  if (longest == nullptr) return false;
  server_.sessions().kill(longest->session);
  return true;
}

void Clients::end_overdue() {
  const int64_t now_ns = server_.clock().steady_ns();
  for (const Pace* next : all_) {
    if (next->session->dead() || now_ns <= next->until_ns) continue;
    spdlog::debug("client {} ({}) closed: its request or its answer took too long",
                  next->session->id, next->session->client().peer().address);
    server_.sessions().kill(next->session);
  }
}

}  // namespace weir::server::http
