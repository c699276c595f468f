// A server's part in its shard, if it is a member of one: what is to be asked between turns, and
// what changes when the server becomes the shard's primary, and when it is that no more.
//
// Invariants
// 1. Promotions and demotions are between turns.
// 2. What was kept beside the keyspace, and was right for one history of it, is forgotten whenever
//    another member may have gone on with the data: names of scripts, libraries, ids, lists of
//    bookings, copies that clients track.
// 3. At a demotion no reply leaves that has waited: for a turn which is not committed, or,
//    if it is that of a read, for the proof that nobody else was the primary. Its session ends, and
//    to its client the outcome is unknown.
// 4. Sessions that are told of changes end with it, too: nobody would tell them of the next
//    primary's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "server/command/command.h"
#include "server/core/disk/durability.h"
#include "server/core/shard/membership.h"
#include "server/core/shard/settings_store.h"
#include "server/os/clock.h"
#include "server/waiting/waiting.h"
#include "storage/format/status.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

class Messages;
class Server;
class Session;
class Sessions;
class StorageHealth;
class Turn;
struct Limiters;

namespace script {
class Functions;
class Scripts;
}  // namespace script

class ShardRole {
 public:
  struct Needs {
    const Config* config;
    Membership* membership;   // null: the server is of no shard
    InstantSource* instants;  // null: instants are those of this machine's clock
    Timeline* timeline;
    storage::Keyspace* keys;
    Sessions* sessions;
    Waiting* waiting;
    Messages* messages;
    Limiters* limiters;
    StorageHealth* health;
    Durability* durability;
    Turn* turn;
    script::Scripts* scripts;
    script::Functions* functions;
    std::function<void()> read_policies;  // the file of policies, if there is one
  };
  explicit ShardRole(Needs needs);

  // The error for a session whose wait ends with the role, as it leads to who has its keys now; "":
  // it leads nowhere.
  using EndOfWait = std::function<std::string(const Session& session, Waiter& waiter)>;
  void end_waits_by(EndOfWait end_of_wait) { end_of_wait_ = std::move(end_of_wait); }

  Membership* membership() const { return membership_; }
  // Tells whether requests for data are served.
  bool serves() const { return membership_ == nullptr || membership_->serves(); }
  // Answers the error line for a request that depends on data or may change it, and is not served.
  Result<void, std::string> admit(const Session& session, const Command& command) const {
    return membership_ == nullptr ? Result<void, std::string>() : admit_in_shard(session, command);
  }
  // Answers how many permits the reply of the command that has just run tells of, if it may leave
  // before the shared log has its turn.
  std::optional<uint64_t> early_permits(const Command& command) const {
    const bool may = command.has(kTakes | kCounts) && leaves_early(command);
    return may ? told_permits() : std::nullopt;
  }
  // What the shard makes of a command that has run.
  struct Outcome {
    std::optional<uint64_t> early_permits = {};  // as above
    // It was let in because its reply would leave early, and has turned out otherwise while the log
    // is away: it has failed.
    bool is_taken_back = false;
    bool waits_for_commits = false;  // its reply tells of what is to be committed
  };
  Outcome after(const Command& command) {
    return membership_ == nullptr ? Outcome() : after_in_shard(command);
  }

  // The data of the server is open: begins to follow the shard's log. `disk` says whether it takes
  // writes.
  storage::Status begin(Server* server, const storage::Status& disk);
  // The source of instants leads the timeline. False: there is none.
  bool lead_time();
  // What Membership has of these names; nothing happens in a server of no shard.
  void listen() {
    if (membership_ != nullptr) membership_->listen();
  }
  void act() {
    if (membership_ != nullptr) membership_->act();
  }
  void heartbeat() {
    if (membership_ != nullptr) membership_->heartbeat();
  }
  int64_t next_ns() { return membership_ == nullptr ? kNotDue : membership_->next_ns(); }

  // The server serves data from now on, at the instants that its timeline has now. What the first
  // turn has to bring is committed.
  void promote();
  // The settings of the cluster that this shard is a part of.
  SettingsStore& settings() { return settings_; }
  // Takes over, in a turn of its own, what another shard has told of them. False: it cannot now.
  // REQUIRES: no turn is in progress.
  bool take_settings(std::string_view shard, const storage::ShardInstance& instance,
                     const SettingsPage& page);
  // Forgets some of what was deleted long ago.
  void forget_settings();
  // The server has its data as its own log has them. Waits end with Redis' error for a master that
  // became a replica. A failure leaves it without data. `has_other_data`: the directory is another
  // one than before.
  storage::Status demote(bool has_other_data = false);
  // The server cannot tell any more whether others have changed the data: clients that keep copies
  // of it, or are told of changes, are to begin anew, so their sessions end.
  void cut_listeners();

 private:
  Result<void, std::string> admit_in_shard(const Session& session, const Command& command) const;
  bool leaves_early(const Command& command) const;
  std::optional<uint64_t> told_permits() const;
  Outcome after_in_shard(const Command& command);
  bool fails_late(const Command& command, std::optional<uint64_t> early_permits);
  void follow_others(bool follows);
  void forget_history();
  void end_waits();

  Needs needs_;
  Membership* const membership_;
  SettingsStore settings_;
  uint64_t forgotten_up_to_ = 0;  // of the journal of settings
  EndOfWait end_of_wait_ = [](const Session&, Waiter&) { return std::string(); };
};

}  // namespace weir::server
