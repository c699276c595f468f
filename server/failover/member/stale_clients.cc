#include "server/failover/member/stale_clients.h"

#include <utility>

#include "server/command/command.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

// Subscribers stay to hear of the primary, members to copy data, and those who watch by
// metrics-port. Who has just come and is about to ask is answered; one that stays silent is a
// pool's, which has connected ahead.
bool is_stale(const Session& session, int64_t now_ns) {
  const Listening& listening = session.listening();
  const Activity& activity = session.activity();
  if (session.closing() || is_for_metrics(session.client().peer().type)) return false;
  if (activity.commands() == 0 && activity.age_ns(now_ns) < StaleClients::kAgainNs) return false;
  if (listening.subscribed() || listening.monitors || listening.tracking.on) return false;
  const Command* const last = activity.last_command();
  return last == nullptr || last->name != "weir|snapshot";
}

// What they are owed leaves first.
void send_away(Server* server) {
  const int64_t now_ns = server->clock().steady_ns();
  server->sessions().each_session([now_ns](Session& session) {
    if (!is_stale(session, now_ns)) return;
    session.close_after_reply();
    session.join_turn();
  });
}

}  // namespace

void StaleClients::demoted(int64_t boot_ns, Server* server) {
  if (speaks_cluster_) return;
  send_away(server);
  again_at_ns_ = boot_ns + kAgainNs;
}

void StaleClients::look(const std::string& primary, bool is_here, int64_t boot_ns, Server* server) {
  if (speaks_cluster_) return;
  const bool is_new =
      !primary.empty() && primary != known_ && !std::exchange(known_, primary).empty();
  if (!is_new && boot_ns < again_at_ns_) return;
  again_at_ns_ = is_new && !is_here ? boot_ns + kAgainNs : INT64_MAX;
  if (!is_here) send_away(server);
}

}  // namespace weir::server
