// Which session listens to which channel, and the messages that are on their way.
//
// Publishing counts the receivers and keeps the message; deliver() hands it over between commands.
// So a message never lands inside a reply, a command that is taken back takes its messages with it,
// and a receiver's copy is in its own output, which leaves when the turn is committed.
//
// Invariants
// 1. Messages are delivered in the order of their publication.
// 2. No session gets a message on a channel that it has left meanwhile.
// 3. A session is known here exactly while its own list of subscriptions is not empty; forget() is
//    called before it ends.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/string_hash.h"
#include "server/command/work_meter.h"
#include "server/session/subscriptions.h"

namespace weir::server {

class MetricWriter;
class Session;
class SessionDirectory;

class Pubsub {
 public:
  Pubsub(SessionDirectory* sessions, WorkMeter* work) : sessions_(*sessions), work_(*work) {}

  // These do nothing if there is nothing to do.
  void subscribe(Session& session, SubscriptionKind kind, std::string_view name);
  void unsubscribe(Session& session, SubscriptionKind kind, std::string_view name);
  // Ends all subscriptions of a session.
  void forget(Session& session);

  // Ends the subscriptions to the sharded channels that are another server's now, and tells those
  // who had them.
  void end_moved(const std::function<bool(std::string_view channel)>& is_moved);

  // Answers how many sessions will get the message. REQUIRES: `kind` is no pattern.
  size_t publish(SubscriptionKind kind, std::string_view channel, std::string_view message);
  bool nobody_listens() const { return subscribers_[0].empty() && subscribers_[1].empty(); }

  // Take back what was published since a savepoint, or deliver everything.
  size_t savepoint() const { return pending_.size(); }
  void drop_after(size_t savepoint) { pending_.resize(savepoint); }
  void deliver();

  // Answers the names in use that match a pattern.
  std::vector<std::string_view> names(SubscriptionKind kind, std::string_view pattern) const;
  size_t subscribers(SubscriptionKind kind, std::string_view name) const;
  size_t count(SubscriptionKind kind) const { return of(kind).size(); }
  void write_metrics(MetricWriter& out) const;

 private:
  using Sessions = std::map<uint64_t, Session*>;
  using Names = StringMap<Sessions>;
  struct Message {
    SubscriptionKind kind = SubscriptionKind::kChannel;
    std::string channel;
    std::string text;
  };

  static size_t bytes_of_subscription(const std::string& name);
  const Names& of(SubscriptionKind kind) const { return subscribers_[static_cast<size_t>(kind)]; }
  Names& of(SubscriptionKind kind) { return subscribers_[static_cast<size_t>(kind)]; }
  bool matches(std::string_view pattern, std::string_view name) const;
  void deliver(const Message& message);
  // `pattern` is the one by which the sessions listen, or null.
  void send(const Sessions& sessions, const std::string* pattern, const Message& message);

  SessionDirectory& sessions_;
  WorkMeter& work_;  // charged a unit for each pattern that is compared, and for each receiver
  std::array<Names, kSubscriptionKinds> subscribers_;
  std::vector<Message> pending_;
};

}  // namespace weir::server
