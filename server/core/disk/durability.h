// When the replies of a turn may leave, and the syncs that let them.
//
// With `always` a turn's replies wait until a sync has covered it. With `everysec` they leave at
// once, unless the oldest change has waited for a sync for two seconds. With `no` they never wait
// for a sync. What depends on data always waits until its turn has been written into the log, and
// what does not (PING) waits for nothing: a slow disk is nothing to it.
// Nor does any reply wait after the store has failed: storage-failure-policy says what is promised
// then.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "server/config/config.h"
#include "server/waiting/waiting.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

// Whether replies may leave.
struct Coverage {
  bool covered = false;
  // If not covered: the instant of the steady clock at which to ask again. kNotDue: time alone
  // changes nothing, and whatever does (the end of a sync) begins a turn.
  int64_t ask_at_ns = kNotDue;
};

// What is to be told to clients.
struct Told {
  uint64_t turn = 0;          // the newest one when it came about
  bool touched_data = false;  // it depends on data
  int64_t ended_ns = 0;       // when its turn ended
};

class Durability {
 public:
  Durability(const Config* config, storage::Keyspace* keys) : config_(*config), keys_(*keys) {}
  virtual ~Durability() = default;

  // Answers whether it may be told. Where what depends on data may be, the rest may, too. Instants
  // are of the steady clock.
  virtual Coverage covers(const Told& told, int64_t steady_ns) const;
  // Answers how long the reply of a command that has taken permits waits; then it may leave without
  // being covered. kNotDue: it waits as all others do.
  virtual int64_t early_wait_ns() const { return kNotDue; }
  // Whether it leaves now; if so, what it tells is counted as told.
  virtual bool let_out_early(const Told& /*told*/, uint64_t /*permits*/, int64_t /*steady_ns*/) {
    return false;
  }
  // Whether what is not covered will not be soon: those who wait for it are to be ended.
  virtual bool gives_up() const { return false; }
  // Starts a sync if one is due, and answers how the last one failed, or an append. The turn calls
  // it once, at its end.
  storage::Status sync_when_due(int64_t steady_ns);
  // Answers how long the oldest change has waited for a sync; 0 when all are synced.
  int64_t unsynced_ns(int64_t steady_ns) const;
  // Takes note that the store was opened anew: everything in it is synced.
  void start_anew() { unsynced_since_ns_ = 0; }

 private:
  const Config& config_;
  storage::Keyspace& keys_;
  int64_t last_sync_ns_ = 0;       // when the last sync began
  int64_t unsynced_since_ns_ = 0;  // 0: everything is synced
};

// Makes the durability of a server; the empty one makes that of this machine's own disk.
using DurabilityFactory =
    std::function<std::unique_ptr<Durability>(const Config* config, storage::Keyspace* keys)>;

}  // namespace weir::server
