// The only door to the keyspace: runs one command after another, each at one instant.
//
// Invariants
// 1. A command that answers an error leaves nothing behind, except where its row says that what it
//    wrote stays.
// 2. A command that met a failing read answers that failure, whatever it had written or replied.
// 3. Commands change state through the keyspace's turn only.
// 4. A command that finds a bug (base/check.h), changes more than it may, or replies more than its
//    client may be sent is taken back whole, with the script that it is part of, and is answered an
//    error or disconnected. What is too much for memory or for a reply takes back the transaction
//    around it, too. No exception leaves this class, and none passes Lua.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/command/command.h"
#include "server/command/command_table.h"
#include "server/core/run/admission.h"
#include "server/core/run/command_counts.h"
#include "server/core/run/effects.h"
#include "server/session/session.h"
#include "server/session/session_host.h"
#include "server/waiting/waiting.h"

namespace weir::server {

class BusyScript;
class Clock;
class Cluster;
class Office;
class Sessions;
class StorageHealth;
class Timeline;
struct Config;

class Executor {
 public:
  struct Needs {
    CallHost* host;
    const CommandTable* commands;
    const Config* config;
    Clock* clock;
    Timeline* timeline;
    storage::Keyspace* keys;
    Report* report;
    Waiting* waiting;
    Limiters* limiters;
    Sessions* sessions;
    acl::Acl* acl;
    Messages* messages;
    StorageHealth* health;
    Office* office;
    BusyScript* busy;
  };
  explicit Executor(const Needs& needs);
  ~Executor();

  // Runs one request of a session, or refuses it; the reply is appended to the session's output.
  Ran execute(Session& session, Args args);
  // Serves the sessions that wait and may be served now, each as a command of its own.
  void serve_waiting();
  // Runs a resolved command with a writer of its own, as part of the command that is running.
  void run(Session& session, const Command& command, Args args, resp::ReplyWriter& reply);

  // Runs what a session has queued, each as a command of its own, all at the instant of the command
  // that is running. Nothing else comes in between, not even waiters.
  void run_queued(Call& call);

  // Takes back what the running command has changed and published.
  void roll_back();

  const CommandTable& table() const { return *needs_.commands; }
  // Which requests are this server's, and whose the others are.
  Cluster& cluster() { return *cluster_; }
  // Tells whether a command has begun and not ended.
  bool is_running() const { return outer_ != nullptr; }
  const CommandFigures& figures(const Command& command) const { return counts_.of(command); }
  void reset_figures() { counts_.reset(); }
  // Counts the error of a command that has run, or of one that was refused (null: there is no such
  // command).
  void count_failed(const Command& command, std::string_view error);
  void count_rejected(const Command* command, std::string_view error);
  // Takes note that the error of the running command, if it answers one, was counted where it came
  // up.
  void note_counted_error() { error_counted_ = true; }

 private:
  void begin(int64_t now_ns);
  // Calls `body`; what it throws becomes the failure of the running command.
  template <typename Body>
  void attempt(const Session& session, const resp::ReplyWriter& reply, const Body& body);
  void note_exception(const Session& session, const resp::ReplyWriter& reply);
  // Takes back a command that has to be run again; answers why, or kNone.
  Hold take_back_for_retry(size_t reply_begin, Replies* replies);
  std::string failure_line(const storage::Status& failure);
  void reject(Session& session, const Command* command, std::string_view error);
  void queue(Session& session, const Command& command, Args args);
  // Does what execute() does, for other sessions while a script runs long, whose command has not
  // ended.
  void execute_while_busy(Session& session, const Command* command, Args args);
  bool act(Waiter& waiter, Act act);
  void act_once(Call& call, Waiter* waiter, Act act, bool* done);
  void begin_next_queued(int64_t now_ns);
  void settle(Session& session, const Command& command, size_t reply_begin);
  void signal_keys(const Session& session, const Command& command, Args args);
  Within within() const;
  const Command* resolve(Args args);
  CommandFigures& figures_of(const Command& command);
  // Those of a command that is about to be counted; inside another they can be taken back.
  CommandFigures& counted_figures(const Command& command);

  Needs needs_;
  std::unique_ptr<Cluster> cluster_;
  Admission admission_;
  Effects effects_;
  CommandCounts counts_;
  const Command* recent_ = nullptr;  // the last row found by its name alone
  std::string recent_spelling_;
  CommandFigures* recent_figures_ = nullptr;
  const Command* outer_ = nullptr;  // what runs the running command: EXEC, a script, or nothing
  bool reply_too_long_ = false;     // of the running command
  bool error_counted_ = false;      // of the running command
};

template <typename Body>
void Executor::attempt(const Session& session, const resp::ReplyWriter& reply, const Body& body) {
  try {
    body();
  } catch (...) {
    note_exception(session, reply);
  }
}

}  // namespace weir::server
