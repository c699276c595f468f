// What is told to sessions that did not ask just now: published messages, events of keys, what
// monitors watch, keys that tracking sessions hold copies of.
//
// Everything is collected while a command runs and delivered after it.
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
#include "storage/keyspace.h"

namespace weir::server {

class Messages {
 public:
  Messages(SessionDirectory* sessions, const Config* config, storage::Keyspace* keys,
           WorkMeter* work, std::function<uint64_t()> random);

  Pubsub& pubsub() { return pubsub_; }
  Monitors& monitors() { return monitors_; }
  Tracking& tracking() { return tracking_; }

  // The letters of notify-keyspace-events.
  void set_event_classes(std::string_view letters);
  // Publishes an event. What happened to other keys in the course of the command is published
  // first: it happened before what the command says.
  void notify(EventClass event_class, std::string_view event, int database, std::string_view key);
  // The keyspace's own: what time has ended, what is new.
  void publish_own_events() {
    if (keys_.events().any()) [[unlikely]]
      publish_events_taken();
  }
  // Between commands: hands what was collected to whoever listens.
  void deliver() {
    publish_own_events();
    if (pubsub_.mark() > 0) pubsub_.deliver();
    if (monitors_.has_pending()) monitors_.deliver();
    if (tracking_.has_pending()) tracking_.deliver();
  }
  // The session ends, or starts anew.
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
