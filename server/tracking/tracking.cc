#include "server/tracking/tracking.h"

#include <algorithm>
#include <utility>

#include "base/heap_bytes.h"
#include "resp/reply.h"
#include "server/command/command_facts.h"
#include "server/config/config.h"
#include "server/report/metrics.h"
#include "server/session/session.h"
#include "server/session/session_directory.h"

namespace weir::server {
namespace {

constexpr std::string_view kRedirectChannel = "__redis__:invalidate";
// A receiver with less than this unsent is not held against the limits before the turn ends.
constexpr size_t kUnsentUnchecked = 64 << 10;

// Tells whether the keys that the session reads now are to be remembered.
bool wants_reads(const TrackingState& state) {
  if (!state.on || state.broadcasts) return false;
  if (state.opts_in) return state.caching;
  return !state.opts_out || !state.caching;
}

}  // namespace

size_t Tracking::bytes_of(const Table::value_type& read) {
  return hash_node_bytes<Table::value_type>() + heap_bytes(read.first) +
         heap_bytes(read.second.sessions);
}

// For the session, in the table, and in the count of lengths.
size_t Tracking::bytes_of_prefix(const std::string& prefix) {
  constexpr size_t kIdBytes =
      2 * block_bytes(sizeof(uint64_t));  // a list of them grows by doubling
  return tree_node_bytes<std::string>() +
         hash_node_bytes<std::pair<const std::string, std::vector<uint64_t>>>() + kIdBytes +
         tree_node_bytes<std::pair<const size_t, size_t>>() + 2 * block_bytes(prefix.size() + 1);
}

void Tracking::clear_table() {
  table_.clear();
  table_bytes_ = items_ = 0;
}

Session* Tracking::find_session(uint64_t id) const { return needs_.sessions->find_session(id); }

void Tracking::enable(Session& session, const TrackingState& wanted) {
  if (!session.listening().tracking.on) ++sessions_;
  auto prefixes = std::move(session.listening().tracking.prefixes);
  session.listening().tracking = wanted;
  session.listening().tracking.prefixes = std::move(prefixes);
  if (wanted.broadcasts && wanted.prefixes.empty()) add_prefix(session, "");
  for (const std::string& prefix : wanted.prefixes) add_prefix(session, prefix);
  needs_.use_changed();
}

void Tracking::add_prefix(Session& session, const std::string& prefix) {
  if (!session.listening().tracking.prefixes.insert(prefix).second) return;
  const auto [place, is_new] = broadcasts_.try_emplace(prefix);
  if (is_new) ++prefix_lengths_[prefix.size()];
  place->second.push_back(session.id);
  session.kept().add(Kept::kPrefixes, bytes_of_prefix(prefix));
}

void Tracking::disable(Session& session) {
  if (!session.listening().tracking.on) return;
  for (const std::string& prefix : session.listening().tracking.prefixes) {
    const auto place = broadcasts_.find(prefix);
    std::erase(place->second, session.id);
    if (!place->second.empty()) continue;
    broadcasts_.erase(place);
    if (--prefix_lengths_[prefix.size()] == 0) prefix_lengths_.erase(prefix.size());
  }
  session.listening().tracking = {};
  session.kept().set(Kept::kPrefixes, 0);
  if (--sessions_ > 0) return;
  clear_table();
  needs_.use_changed();
}

void Tracking::follow(Call& call, const std::function<void()>& act) {
  if (!any()) return act();
  if (call.command.has(kWrites)) return follow_write(call, act);
  act();
  // A command that runs other commands reads nothing itself.
  if (!call.command.has(kReads) || call.command.has(kSkipMonitor)) return;
  if (!wants_reads(call.session.listening().tracking)) return;
  for (const std::string_view key : keys_of(call.command, call.args)) remember(call.session, key);
}

void Tracking::follow_write(Call& call, const std::function<void()>& act) {
  std::vector<std::pair<std::string, storage::WatchId>> watched;
  for (const std::string_view key : keys_of(call.command, call.args)) {
    if (matters(key)) watched.emplace_back(key, call.keys.running().watch(call.look_up(key)));
  }
  const uint64_t by = call.session.id;
  act();
  for (const auto& [key, watch] : watched) {
    if (call.keys.watches().changed(watch, call.keys.running().now_ms())) key_changed(key, by);
    call.keys.watches().remove(watch);
  }
}

bool Tracking::matters(std::string_view key) const {
  return table_.contains(key) ||
         visit_prefixes(key, [](const std::vector<uint64_t>&) { return true; });
}

bool Tracking::visit_prefixes(
    std::string_view key, const std::function<bool(const std::vector<uint64_t>&)>& visit) const {
  for (const auto& [length, count] : prefix_lengths_) {
    if (length > key.size()) return false;
    const auto place = broadcasts_.find(key.substr(0, length));
    if (place != broadcasts_.end() && visit(place->second)) return true;
  }
  return false;
}

// A closed session's id stays in this list. Ids are never reused, so a stale one is harmless; stale
// ids are removed each time the list has doubled.
void Tracking::remember(const Session& session, std::string_view key) {
  auto place = table_.find(key);
  if (place == table_.end()) {
    place = table_.try_emplace(std::string(key)).first;
    table_bytes_ += bytes_of(*place);
  }
  Readers& readers = place->second;
  std::vector<uint64_t>& ids = readers.sessions;
  if (std::find(ids.begin(), ids.end(), session.id) != ids.end()) return;
  const size_t bytes_before = bytes_of(*place);
  if (ids.size() >= readers.purge_at) {
    items_ -= std::erase_if(ids, [&](uint64_t id) { return find_session(id) == nullptr; });
    readers.purge_at = std::max<size_t>(ids.size() * 2, readers.purge_at);
  }
  ids.push_back(session.id);
  ++items_;
  table_bytes_ += bytes_of(*place) - bytes_before;
  limit_keys();
}

void Tracking::limit_keys() {
  const auto keys_max = static_cast<size_t>(needs_.config->tracking_table_max_keys);
  while (keys_max > 0 && table_.size() > keys_max) drop_some_key();
}

void Tracking::give_up(size_t bytes) {
  const size_t end = table_bytes_ - std::min(bytes, table_bytes_);
  while (table_bytes_ > end && !table_.empty()) drop_some_key();
}

void Tracking::drop_some_key() {
  size_t bucket = needs_.random() % table_.bucket_count();
  while (table_.bucket_size(bucket) == 0) bucket = (bucket + 1) % table_.bucket_count();
  forget(std::string(table_.begin(bucket)->first), 0);
}

void Tracking::key_changed(std::string_view key, uint64_t by) {
  if (!any()) return;
  if (!broadcasts_.empty()) tell_broadcasts(key, by);
  forget(key, by);
}

// Tells the sessions that have read the key, once.
void Tracking::forget(std::string_view key, uint64_t by) {
  const auto place = table_.find(key);
  if (place == table_.end()) return;
  table_bytes_ -= bytes_of(*place);
  const std::vector<uint64_t> ids = std::move(place->second.sessions);
  items_ -= ids.size();
  for (const uint64_t id : ids) {
    const Session* session = find_session(id);
    if (session == nullptr || !session->listening().tracking.on ||
        session->listening().tracking.broadcasts)
      continue;
    if (session->listening().tracking.no_loop && id == by) continue;
    pending_.push_back({.session = id, .key = std::string(key)});
  }
  table_.erase(place);
}

void Tracking::tell_broadcasts(std::string_view key, uint64_t by) {
  if (!changed_.empty() && changed_.back().key == key && changed_.back().by == by) return;
  if (visit_prefixes(key, [](const std::vector<uint64_t>&) { return true; }))
    changed_.push_back({.key = std::string(key), .by = by});
}

void Tracking::everything_changed() {
  if (!any()) return;
  needs_.sessions->each_session([this](const Session& session) {
    if (session.listening().tracking.on)
      pending_.push_back({.session = session.id, .everything = true, .key = {}});
  });
  clear_table();
}

void Tracking::deliver() {
  for (const Word& word : std::exchange(pending_, {})) {
    if (word.everything) {
      send(word.session, nullptr);
    } else {
      const std::string keys = encoded({{.key = word.key}}, {0});
      send(word.session, &keys);
    }
  }
  if (!changed_.empty()) deliver_broadcasts(std::exchange(changed_, {}));
}

// The broadcasts of one moment are one message; a key is in it once. Sessions that are told of the
// same keys share the text.
void Tracking::deliver_broadcasts(const std::vector<Changed>& changed) {
  std::map<const std::vector<uint64_t>*, Indices> by_prefix;
  for (size_t i = 0; i < changed.size(); ++i) {
    visit_prefixes(changed[i].key, [&](const std::vector<uint64_t>& sessions) {
      by_prefix[&sessions].push_back(i);
      return false;
    });
  }
  std::map<uint64_t, std::vector<const Indices*>> by_session;
  for (const auto& [sessions, indices] : by_prefix) {
    for (const uint64_t id : *sessions) by_session[id].push_back(&indices);
  }
  std::map<const Indices*, std::string> texts;
  for (const auto& [id, parts] : by_session) {
    const Session* session = find_session(id);
    if (session == nullptr || session->closing()) continue;
    const uint64_t but_by = session->listening().tracking.no_loop ? id : 0;
    if (parts.size() == 1 && but_by == 0) {
      std::string& text = texts[parts[0]];
      if (text.empty()) text = encoded(changed, *parts[0]);
      send(id, &text);
      continue;
    }
    Indices merged;
    for (const Indices* part : parts) merged.insert(merged.end(), part->begin(), part->end());
    std::sort(merged.begin(), merged.end());
    merged.erase(std::unique(merged.begin(), merged.end()), merged.end());
    std::erase_if(merged, [&](size_t i) { return but_by != 0 && changed[i].by == but_by; });
    needs_.work->charge_entries(merged.size());
    const std::string text = encoded(changed, merged);
    if (!merged.empty()) send(id, &text);
  }
}

// An array of keys, the same in both protocols.
std::string Tracking::encoded(const std::vector<Changed>& changed, const Indices& indices) {
  std::string text;
  resp::ReplyWriter writer(&text);
  writer.array(static_cast<int64_t>(indices.size()));
  for (const size_t i : indices) writer.bulk(changed[i].key);
  return text;
}

// RESP2 has no messages but those of subscriptions, so another session has to receive them.
void Tracking::send(uint64_t id, const std::string* keys) {
  Session* receiver = find_session(id);
  if (receiver == nullptr || receiver->closing()) return;
  const uint64_t redirect = receiver->listening().tracking.redirect;
  std::string bytes;
  resp::ReplyWriter writer(&bytes);
  writer.set_protocol(receiver->replies().protocol());
  if (redirect != 0) {
    Session* other = find_session(redirect);
    if (other == nullptr || other->closing()) {
      receiver->listening().tracking.redirect_broken = true;
      if (receiver->replies().protocol() < 3) return;
      writer.push(2);
      writer.bulk("tracking-redir-broken");
      writer.integer(static_cast<int64_t>(redirect));
      return receiver->push_message(bytes);
    }
    receiver = other;
    writer.set_protocol(receiver->replies().protocol());
  }
  if (receiver->replies().protocol() >= 3) {
    writer.push(2);
    writer.bulk("invalidate");
  } else {
    if (redirect == 0 || !receiver->listening().subscribed()) return;
    writer.array(3);
    writer.bulk("message");
    writer.bulk(kRedirectChannel);
  }
  keys == nullptr ? writer.null() : writer.raw(*keys);
  needs_.work->charge(1, bytes.size());
  receiver->push_message(bytes);
  if (receiver->replies().unsent_bytes() > kUnsentUnchecked)
    needs_.sessions->enforce_output_limit(receiver);
}

void Tracking::write_metrics(MetricWriter& out) const {
  out.gauge({"tracking_total_keys", "Keys that tracking clients have read."}, table_.size());
  out.gauge({"tracking_total_items", "Pairs of such a key and a client that has read it."}, items_);
  out.gauge({"tracking_total_prefixes", "Prefixes of keys that clients track by broadcast."},
            broadcasts_.size());
}

}  // namespace weir::server
