// The turn: the sessions that have a part in it, its commit, and the release of their replies.
//
// Invariants
// 1. What a session was answered in a turn is released only when the turn is committed and
//    Durability covers it, and never before what the session was answered in an earlier turn; or
//    Durability lets it out early (pending_replies.h).
// 2. If a turn cannot be committed, every reply of it that may depend on data becomes the error,
//    and every session that began to wait in it is answered the error.
// 3. A session that ends is forgotten here first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/config/config.h"
#include "server/core/clients/holds.h"
#include "server/core/disk/clock_keeper.h"
#include "server/core/disk/durability.h"
#include "server/core/disk/pending_replies.h"
#include "server/core/disk/storage_health.h"
#include "server/os/clock.h"
#include "server/report/report.h"
#include "server/session/session.h"
#include "server/session/session_directory.h"
#include "server/waiting/waiting.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

class Turn {
 public:
  struct Needs {
    const Config* config;
    Clock* clock;
    ClockKeeper* clock_keeper;
    storage::Keyspace* keys;
    SessionDirectory* sessions;
    Waiting* waiting;
    Holds* holds;
    Durability* durability;
    StorageHealth* health;
    Report* report;
  };
  explicit Turn(const Needs& needs) : needs_(needs) {}

  // Adds a session that has a part in the turn. REQUIRES: it has none yet (Session::join_turn()).
  void add(Session* session);
  void forget(const Session& session);
  // Commits what the sessions did since the last call, and releases replies.
  void end();
  // Commits what the turn has done so far, for a command that needs it in the log. Between two
  // turns, too: whose replies leave then is left as it is.
  void commit_early();
  // Answers the instant of the steady clock at which a turn should end because pending replies may
  // leave then; kNotDue: there is none.
  int64_t ask_at_ns() const { return pending_.ask_at_ns(); }
  // The sessions that may have something to send, or may have to end; valid until the next end().
  const std::vector<Session*>& touched() const { return touched_; }
  // Gives the store up: its log cannot be shortened any more, and is as long as it may become. With
  // the policy `memory` it is not called, and the log grows as long as the disk takes it.
  void give_up_writing_back();
  // Ends the sessions whose replies wait for later turns, because what became of those is unknown.
  void drop_pending_after(uint64_t turn) { pending_.drop_after(turn); }

  // While a script runs long, sessions that have no part in the turn are served in rounds. What
  // they are told depends on no data, so it waits for nothing but what they are owed already.
  void begin_busy_rounds() { busy_mark_ = in_turn_.size(); }
  // Ends a round, and answers the sessions that were served in it.
  std::vector<Session*> end_busy_round();

 private:
  int64_t commit(const std::vector<Session*>& sessions);
  void fail(const std::vector<Session*>& sessions, const std::vector<uint64_t>& begun_waits,
            const std::string& error);
  void fail_sync(const storage::Status& failure);
  void drop_unsynced();
  void finish(Session* session, bool durable, int64_t now_ns);
  void touch(Session* session);
  void note_length();

  Needs needs_;
  storage::Keyspace& keys_ = *needs_.keys;
  std::vector<Session*> in_turn_;
  std::vector<Session*> touched_;
  PendingReplies pending_{needs_.clock, needs_.sessions, needs_.durability};
  uint64_t turns_ended_ = 0;
  size_t busy_mark_ = 0;         // those of in_turn_ after it came while a script ran long
  int64_t begin_steady_ns_ = 0;  // 0: no turn is running
};

}  // namespace weir::server
