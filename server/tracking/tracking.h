// Client-side caching: word to sessions that hold copies of keys, when those change.
//
// A session that tracks is remembered beside each key that its own reading commands named; a change
// of the key, by whomever or by time, tells it once. One that broadcasts is remembered nowhere: it
// is told of every change under its prefixes. Keys are names, whatever the database, as with Redis.
//
// What a command has changed is seen with watches (storage/watches.h) on the keys that it names, so
// what changed nothing tells nothing.
//
// Invariants
// 1. Nobody is left with a stale copy: a key that is forgotten (tracking-table-max-keys) is told of
// as if it had changed, and so is one whose change is taken back later.
// 2. Word of a change leaves behind the reply of the command that made it, and with its turn.
// 3. Where nobody tracks, a command costs one look at any().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/command.h"
#include "server/tracking/tracking_state.h"

namespace weir::server {

class Tracking {
 public:
  explicit Tracking(Server* server) : server_(server) {}

  // REQUIRES: `wanted.on`; its prefixes are added to those that the session has.
  void enable(Session& session, const TrackingState& wanted);
  void disable(Session& session);  // and before the session ends
  bool any() const { return sessions_ > 0; }

  // Does `act`, in which `call`'s command runs, and follows up what it read and changed.
  void follow(Call& call, const std::function<void()>& act);
  // `by`: the session whose doing it was, 0 for time's.
  void key_changed(std::string_view key, uint64_t by);
  void everything_changed();
  // Between commands.
  void deliver();
  bool has_pending() const { return !pending_.empty(); }

  size_t sessions() const { return sessions_; }
  size_t keys() const { return table_.size(); }
  size_t items() const { return items_; }  // sessions beside keys
  size_t prefixes() const { return broadcasts_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  struct Readers {
    std::vector<uint64_t> sessions;
    size_t purge_at = 16;  // so many may be of sessions that have gone
  };
  template <typename Value>
  using ByName = std::unordered_map<std::string, Value, Hash, std::equal_to<>>;
  struct Word {
    uint64_t session = 0;
    bool is_broadcast = false;
    bool everything = false;
    std::string key;
  };

  void add_prefix(Session& session, const std::string& prefix);
  void follow_write(Call& call, const std::function<void()>& act);
  bool matters(std::string_view key) const;
  void remember(const Session& session, std::string_view key);
  void drop_some_key();
  void forget(std::string_view key, uint64_t by);
  void tell_broadcasts(std::string_view key, uint64_t by);
  // Calls `visit` for the sessions of every prefix that the key has, until it answers true.
  bool visit_prefixes(std::string_view key,
                      const std::function<bool(const std::vector<uint64_t>&)>& visit) const;
  void send(uint64_t session, const std::vector<std::string>* keys);

  Server* server_;
  size_t sessions_ = 0;
  size_t items_ = 0;
  ByName<Readers> table_;
  ByName<std::vector<uint64_t>> broadcasts_;  // prefix -> sessions
  std::map<size_t, size_t> prefix_lengths_;   // length -> how many prefixes have it
  std::vector<Word> pending_;
};

}  // namespace weir::server
