#include "server/pubsub/pubsub.h"

#include <utility>

#include "base/heap_bytes.h"
#include "resp/glob.h"
#include "resp/reply.h"
#include "server/report/metrics.h"
#include "server/session/session.h"
#include "server/session/session_directory.h"

namespace weir::server {
namespace {

constexpr size_t kProtocols = 2;
// A receiver with less than this unsent is not held against the limits before the turn ends.
constexpr size_t kUnsentUnchecked = 64 << 10;

struct Parts {
  std::string_view kind;
  const std::string* pattern = nullptr;  // null: there is none
  std::string_view channel;
  std::string_view text;
};

std::string encoded(int protocol, const Parts& parts) {
  std::string bytes;
  resp::ReplyWriter writer(&bytes, protocol);
  writer.push(parts.pattern == nullptr ? 3 : 4);
  writer.bulk(parts.kind);
  if (parts.pattern != nullptr) writer.bulk(*parts.pattern);
  writer.bulk(parts.channel);
  writer.bulk(parts.text);
  return bytes;
}

}  // namespace

void Pubsub::subscribe(Session& session, SubscriptionKind kind, std::string_view name) {
  auto& own = session.listening().subscriptions.names_[static_cast<size_t>(kind)];
  const auto [mine, is_new] = own.emplace(name);
  if (!is_new) return;
  of(kind)[*mine].emplace(session.id, &session);
  session.kept().add(Kept::kSubscriptions, bytes_of_subscription(*mine));
}

// A name is kept for the session and in the table, where others may share it.
size_t Pubsub::bytes_of_subscription(const std::string& name) {
  return tree_node_bytes<std::string>() + hash_node_bytes<Names::value_type>() +
         tree_node_bytes<Sessions::value_type>() + 2 * block_bytes(name.size() + 1);
}

void Pubsub::unsubscribe(Session& session, SubscriptionKind kind, std::string_view name) {
  auto& own = session.listening().subscriptions.names_[static_cast<size_t>(kind)];
  const auto mine = own.find(name);
  if (mine == own.end()) return;
  const auto found = of(kind).find(name);
  found->second.erase(session.id);
  if (found->second.empty()) of(kind).erase(found);
  session.kept().take(Kept::kSubscriptions, bytes_of_subscription(*mine));
  own.erase(mine);  // last: `name` may be its own
}

void Pubsub::forget(Session& session) {
  for (size_t i = 0; i < kSubscriptionKinds; ++i) {
    const auto& own = session.listening().subscriptions.names_[i];
    while (!own.empty()) unsubscribe(session, static_cast<SubscriptionKind>(i), *own.begin());
  }
}

void Pubsub::end_moved(const std::function<bool(std::string_view channel)>& is_moved) {
  constexpr auto kKind = SubscriptionKind::kShard;
  std::vector<std::string> moved;
  for (const auto& [name, sessions] : of(kKind)) {
    if (is_moved(name)) moved.push_back(name);
  }
  for (const std::string& name : moved) {
    const Sessions sessions = of(kKind).find(name)->second;
    for (const auto& [id, session] : sessions) {
      unsubscribe(*session, kKind, name);
      if (session->closing()) continue;
      std::string bytes;
      resp::ReplyWriter writer(&bytes, session->replies().protocol());
      writer.push(3);
      writer.bulk("sunsubscribe");
      writer.bulk(name);
      writer.integer(static_cast<int64_t>(session->listening().subscriptions.of(kKind).size()));
      session->push_message(bytes);
    }
  }
}

size_t Pubsub::publish(SubscriptionKind kind, std::string_view channel, std::string_view message) {
  size_t receivers = subscribers(kind, channel);
  if (kind == SubscriptionKind::kChannel) {
    work_.charge_entries(of(SubscriptionKind::kPattern).size());
    for (const auto& [pattern, sessions] : of(SubscriptionKind::kPattern)) {
      if (matches(pattern, channel)) receivers += sessions.size();
    }
  }
  if (receivers > 0) {
    pending_.push_back(
        {.kind = kind, .channel = std::string(channel), .text = std::string(message)});
  }
  return receivers;
}

bool Pubsub::matches(std::string_view pattern, std::string_view name) const {
  size_t steps = 0;
  const bool matched = resp::glob_match_counted(pattern, name, &steps);
  work_.charge_steps(steps);
  return matched;
}

void Pubsub::deliver() {
  const std::vector<Message> messages = std::exchange(pending_, {});
  for (const Message& message : messages) deliver(message);
}

void Pubsub::deliver(const Message& message) {
  const auto found = of(message.kind).find(message.channel);
  if (found != of(message.kind).end()) send(found->second, nullptr, message);
  if (message.kind != SubscriptionKind::kChannel) return;
  work_.charge_entries(of(SubscriptionKind::kPattern).size());
  for (const auto& [pattern, sessions] : of(SubscriptionKind::kPattern)) {
    if (matches(pattern, message.channel)) send(sessions, &pattern, message);
  }
}

void Pubsub::send(const Sessions& sessions, const std::string* pattern, const Message& message) {
  Parts parts{.kind = message.kind == SubscriptionKind::kShard ? "smessage" : "message",
              .pattern = pattern,
              .channel = message.channel,
              .text = message.text};
  if (pattern != nullptr) parts.kind = "pmessage";
  std::array<std::string, kProtocols> bytes;
  work_.charge_entries(sessions.size());
  work_.charge_bytes(sessions.size() * message.text.size());
  for (const auto& [id, session] : sessions) {
    if (session->closing()) continue;
    std::string& text = bytes[session->replies().protocol() >= 3 ? 1 : 0];
    if (text.empty()) text = encoded(session->replies().protocol(), parts);
    session->push_message(text);
    if (session->replies().unsent_bytes() > kUnsentUnchecked)
      sessions_.enforce_output_limit(session);
  }
}

std::vector<std::string_view> Pubsub::names(SubscriptionKind kind, std::string_view pattern) const {
  std::vector<std::string_view> names;
  work_.charge_entries(of(kind).size());
  for (const auto& [name, sessions] : of(kind)) {
    if (matches(pattern, name)) names.push_back(name);
  }
  return names;
}

size_t Pubsub::subscribers(SubscriptionKind kind, std::string_view name) const {
  const auto found = of(kind).find(name);
  return found == of(kind).end() ? 0 : found->second.size();
}

void Pubsub::write_metrics(MetricWriter& out) const {
  out.gauge({"pubsub_channels", "Channels with subscribers."}, count(SubscriptionKind::kChannel));
  out.gauge({"pubsub_patterns", "Patterns with subscribers."}, count(SubscriptionKind::kPattern));
  out.gauge({"pubsubshard_channels", "Sharded channels with subscribers."},
            count(SubscriptionKind::kShard));
}

}  // namespace weir::server
