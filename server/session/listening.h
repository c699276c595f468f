// What a session is told without asking: what was published, what others run, which of the keys it
// has read have changed. Pubsub, Monitors and Tracking each keep their part.
#pragma once

#include "server/session/subscriptions.h"
#include "server/session/tracking_state.h"

namespace weir::server {

struct Listening {
  Subscriptions subscriptions;
  bool monitors = false;
  TrackingState tracking;

  bool subscribed() const { return !subscriptions.empty(); }
  // Tells whether most of what the session is sent is no reply.
  bool is_told() const { return subscribed() || monitors; }
};

}  // namespace weir::server
