// What sessions are told without asking: published messages, events of keys, the commands that
// monitors watch, and changes of keys that tracking sessions hold copies of.
//
// All of it is collected while a command runs and delivered after it.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "server/command/event_class.h"
#include "server/config/config.h"
#include "server/pubsub/monitors.h"
#include "server/pubsub/pubsub.h"
#include "server/session/session_directory.h"
#include "server/tracking/tracking.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

class Messages {
 public:
  Messages(SessionDirectory* sessions, const Config* config, storage::Keyspace* keys,
           WorkMeter* work, std::function<uint64_t()> random);

  Pubsub& pubsub() { return pubsub_; }
  Monitors& monitors() { return monitors_; }
  Tracking& tracking() { return tracking_; }

  // Sets which events are published, by the letters of notify-keyspace-events.
  void set_event_classes(std::string_view letters);
  // Publishes an event. The keyspace's own events are published first, because they happened before
  // the one that the command tells of.
  void notify(EventClass event_class, std::string_view event, int database, std::string_view key);
  // Publishes the keyspace's own events: which keys have expired, and which are new.
  void publish_own_events() {
    if (keys_.events().any()) [[unlikely]]
      publish_events_taken();
  }
  // Hands what was collected to the sessions that listen. REQUIRES: no command is running.
  void deliver() {
    publish_own_events();
    if (pubsub_.savepoint() > 0) pubsub_.deliver();
    if (monitors_.has_pending()) monitors_.deliver();
    if (tracking_.has_pending()) tracking_.deliver();
  }
  // Forgets a session that ends or starts anew.
  void forget(Session& session);

 private:
  void tell_what_is_wanted();
  void publish_events_taken();
  void publish_event(std::string_view event, int database, std::string_view key);

  storage::Keyspace& keys_;
  Pubsub pubsub_;
  Monitors monitors_;
  Tracking tracking_;
  uint32_t event_classes_ = 0;
};

}  // namespace weir::server
