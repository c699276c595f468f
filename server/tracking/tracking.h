// Client-side caching: tells sessions that hold copies of keys when those keys change.
//
// A session that tracks is remembered beside each key that its own reading commands named. A change
// of the key, by any session or by time, tells it once. A session that broadcasts is not
// remembered: it is told of every change under its prefixes. Keys are names, whatever the database,
// as with Redis.
//
// Watches (storage/memtable/watches.h) on the keys that a command names show what the command has
// changed, so a command that changed nothing tells nothing.
//
// Invariants
// 1. No session is left with a stale copy: a key that is forgotten (tracking-table-max-keys) is
//    told of as if it had changed, and so is a key whose change is taken back later.
// 2. The message of a change leaves after the reply of the command that made it, and with its turn.
// 3. While no session tracks, a command costs one look at any().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/string_hash.h"
#include "server/command/command.h"
#include "server/session/shared_names.h"
#include "server/session/tracking_state.h"

namespace weir::server {

class MetricWriter;
class SessionDirectory;
struct Config;

class Tracking final : public SharedNames {
 public:
  struct Needs {
    SessionDirectory* sessions;
    const Config* config;
    WorkMeter* work;  // charged for each receiver of a message and its bytes
    std::function<uint64_t()> random;
    std::function<void()> use_changed;  // called when any() begins to answer otherwise than before
  };
  explicit Tracking(Needs needs) : needs_(std::move(needs)) {}

  // Begins to track; the prefixes are added to those that the session has. REQUIRES: `wanted.on`.
  void enable(Session& session, const TrackingState& wanted);
  void disable(Session& session);  // also to be called before the session ends
  bool any() const { return sessions_ > 0; }

  // Does `act`, in which `call`'s command runs, and tells what it changed and remembers what it
  // read.
  void follow(Call& call, const std::function<void()>& act);
  // Tells of a change. `by` is the session that made it, 0 for time.
  void key_changed(std::string_view key, uint64_t by);
  void everything_changed();
  // Forgets keys until there are no more than tracking-table-max-keys.
  void limit_keys();
  // Hands over the messages; to be called between commands.
  void deliver();
  bool has_pending() const { return !pending_.empty() || !changed_.empty(); }

  // The names of keys that sessions have read are kept for all of them, with their ids.
  size_t bytes() const override { return table_bytes_; }
  void give_up(size_t bytes) override;

  size_t sessions() const { return sessions_; }
  size_t keys() const { return table_.size(); }
  size_t items() const { return items_; }  // sessions beside keys
  size_t prefixes() const { return broadcasts_.size(); }
  // Of the table of keys; sessions() is a metric of clients.
  void write_metrics(MetricWriter& out) const;

 private:
  struct Readers {
    std::vector<uint64_t> sessions;
    size_t purge_at = 16;  // at this size ids of closed sessions are removed
  };
  using Table = StringMap<Readers>;
  struct Word {
    uint64_t session = 0;
    bool everything = false;
    std::string key;
  };
  // A key that changed and has a prefix that somebody is told of.
  struct Changed {
    std::string key;
    uint64_t by = 0;
  };
  using Indices = std::vector<size_t>;  // in a list of Changed

  static size_t bytes_of(const Table::value_type& read);
  static size_t bytes_of_prefix(const std::string& prefix);
  void clear_table();
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
  static std::string encoded(const std::vector<Changed>& changed, const Indices& indices);
  void deliver_broadcasts(const std::vector<Changed>& changed);
  // `keys`: an array of keys, encoded; null: all of them.
  void send(uint64_t session, const std::string* keys);

  Session* find_session(uint64_t id) const;

  Needs needs_;
  size_t sessions_ = 0;
  size_t items_ = 0;
  size_t table_bytes_ = 0;
  Table table_;
  StringMap<std::vector<uint64_t>> broadcasts_;  // prefix -> sessions
  std::map<size_t, size_t> prefix_lengths_;      // length -> how many prefixes have it
  std::vector<Word> pending_;
  std::vector<Changed> changed_;
};

}  // namespace weir::server
