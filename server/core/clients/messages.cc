#include "server/core/clients/messages.h"

#include <string>
#include <utility>

namespace weir::server {

Messages::Messages(SessionDirectory* sessions, const Config* config, storage::Keyspace* keys,
                   WorkMeter* work, std::function<uint64_t()> random)
    : keys_(*keys),
      pubsub_(sessions, work),
      monitors_(sessions, config, work),
      tracking_({.sessions = sessions,
                 .config = config,
                 .work = work,
                 .random = std::move(random),
                 .use_changed = [this] { tell_what_is_wanted(); }}) {
  set_event_classes(config->notify_keyspace_events);
}

void Messages::set_event_classes(std::string_view letters) {
  event_classes_ = server::event_classes(letters);
  tell_what_is_wanted();
}

void Messages::tell_what_is_wanted() {
  keys_.events().want(holds_class(event_classes_, EventClass::kExpired) || tracking_.any(),
                      holds_class(event_classes_, EventClass::kNew));
}

void Messages::notify(EventClass event_class, std::string_view event, int database,
                      std::string_view key) {
  if (event_classes_ == 0) return;
  publish_own_events();
  if (holds_class(event_classes_, event_class)) publish_event(event, database, key);
}

void Messages::publish_event(std::string_view event, int database, std::string_view key) {
  if (pubsub_.nobody_listens()) return;
  const std::string place = "@" + std::to_string(database) + "__:";
  if (holds_class(event_classes_, EventClass::kKeyspace)) {
    pubsub_.publish(SubscriptionKind::kChannel, "__keyspace" + place + std::string(key), event);
  }
  if (holds_class(event_classes_, EventClass::kKeyevent)) {
    pubsub_.publish(SubscriptionKind::kChannel, "__keyevent" + place + std::string(event), key);
  }
}

void Messages::publish_events_taken() {
  for (const storage::KeyEvent& event : keys_.events().take()) {
    const bool expired = event.kind == storage::KeyEvent::Kind::kExpired;
    if (expired) tracking_.key_changed(event.key, 0);
    const EventClass event_class = expired ? EventClass::kExpired : EventClass::kNew;
    if (holds_class(event_classes_, event_class))
      publish_event(expired ? "expired" : "new", event.database, event.key);
  }
}

void Messages::forget(Session& session) {
  pubsub_.forget(session);
  monitors_.forget(session);
  tracking_.disable(session);
}

}  // namespace weir::server
