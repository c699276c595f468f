// Keyspace notifications: what happens to keys, published on channels of their own, and messages
// handed over between commands.
#include <string>

#include "server/command/event_class.h"
#include "server/core/server.h"

namespace weir::server {

void Server::set_event_classes(std::string_view letters) {
  event_classes_ = server::event_classes(letters);
  set_wanted_events();
}

void Server::set_wanted_events() {
  keys_.want_events(holds_class(event_classes_, EventClass::kExpired) || tracking_.any(),
                    holds_class(event_classes_, EventClass::kNew));
}

// What happened to other keys in the course of a command happened before what the command says.
void Server::notify(EventClass event_class, std::string_view event, int database,
                    std::string_view key) {
  if (event_classes_ == 0) return;
  publish_own_events();
  if (holds_class(event_classes_, event_class)) publish_event(event, database, key);
}

void Server::publish_event(std::string_view event, int database, std::string_view key) {
  if (pubsub_.nobody_listens()) return;
  const std::string place = "@" + std::to_string(database) + "__:";
  if (holds_class(event_classes_, EventClass::kKeyspace)) {
    pubsub_.publish(SubscriptionKind::kChannel, "__keyspace" + place + std::string(key), event);
  }
  if (holds_class(event_classes_, EventClass::kKeyevent)) {
    pubsub_.publish(SubscriptionKind::kChannel, "__keyevent" + place + std::string(event), key);
  }
}

void Server::publish_own_events() {
  if (!keys_.has_events()) return;
  for (const storage::KeyEvent& event : keys_.take_events()) {
    const bool expired = event.kind == storage::KeyEvent::Kind::kExpired;
    if (expired) tracking_.key_changed(event.key, 0);
    const EventClass event_class = expired ? EventClass::kExpired : EventClass::kNew;
    if (holds_class(event_classes_, event_class))
      publish_event(expired ? "expired" : "new", event.database, event.key);
  }
}

void Server::deliver_messages() {
  if (long_script_ != nullptr) return;  // they are those of a command that has not ended
  publish_own_events();
  if (pubsub_.mark() > 0) pubsub_.deliver();
  if (monitors_.has_pending()) monitors_.deliver();
  if (tracking_.has_pending()) tracking_.deliver();
}

}  // namespace weir::server
