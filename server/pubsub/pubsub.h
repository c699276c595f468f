// Who listens to which channel, and the messages that are on their way.
//
// Publishing counts the receivers and keeps the message; deliver() hands it over between commands.
// So a message never lands inside a reply, a command that is taken back takes its messages with it,
// and a receiver's copy stands in its own output, which leaves when the turn is committed.
//
// Invariants
// 1. Messages are delivered in the order of their publication.
// 2. Nobody gets a message on a channel that it has left meanwhile.
// 3. A session is known here exactly while its own list of subscriptions is not empty; forget() is
// called before it ends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weir::server {

class Server;
class Session;

enum class SubscriptionKind : uint8_t { kChannel, kPattern, kShard };
inline constexpr size_t kSubscriptionKinds = 3;

// A session's own side, in no order but the names'.
class Subscriptions {
 public:
  const std::set<std::string, std::less<>>& of(SubscriptionKind kind) const {
    return names_[static_cast<size_t>(kind)];
  }
  bool empty() const { return names_[0].empty() && names_[1].empty() && names_[2].empty(); }

 private:
  friend class Pubsub;
  std::array<std::set<std::string, std::less<>>, kSubscriptionKinds> names_;
};

class Pubsub {
 public:
  explicit Pubsub(Server* server) : server_(server) {}

  // Do nothing where there is nothing to do.
  void subscribe(Session& session, SubscriptionKind kind, std::string_view name);
  void unsubscribe(Session& session, SubscriptionKind kind, std::string_view name);
  // From everything.
  void forget(Session& session);

  // Answers how many sessions will get it. REQUIRES: `kind` is no pattern.
  size_t publish(SubscriptionKind kind, std::string_view channel, std::string_view message);
  bool nobody_listens() const { return subscribers_[0].empty() && subscribers_[1].empty(); }

  // What was published since a mark is taken back, or all that there is is delivered.
  size_t mark() const { return pending_.size(); }
  void drop_after(size_t mark) { pending_.resize(mark); }
  void deliver();

  // Names in use that match a pattern.
  std::vector<std::string_view> names(SubscriptionKind kind, std::string_view pattern) const;
  size_t subscribers(SubscriptionKind kind, std::string_view name) const;
  size_t count(SubscriptionKind kind) const { return of(kind).size(); }

 private:
  using Sessions = std::map<uint64_t, Session*>;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Names = std::unordered_map<std::string, Sessions, Hash, std::equal_to<>>;
  struct Message {
    SubscriptionKind kind = SubscriptionKind::kChannel;
    std::string channel;
    std::string text;
  };

  const Names& of(SubscriptionKind kind) const { return subscribers_[static_cast<size_t>(kind)]; }
  Names& of(SubscriptionKind kind) { return subscribers_[static_cast<size_t>(kind)]; }
  void deliver(const Message& message);
  // `pattern`: by which they listen, or null.
  void send(const Sessions& sessions, const std::string* pattern, const Message& message);

  Server* server_;
  std::array<Names, kSubscriptionKinds> subscribers_;
  std::vector<Message> pending_;
};

}  // namespace weir::server
