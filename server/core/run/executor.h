// The only way to the keyspace: runs one command after another, each at one instant.
//
// Invariants
// 1. A command that answers an error leaves nothing behind, except where its row says that what it
//    wrote stays.
// 2. A command that met a failing read answers that failure, whatever it had written or replied.
// 3. Commands change state through the keyspace's turn only.
// 4. A command that finds a bug (base/check.h), changes more than it may, or replies more than its
//    client may be sent is taken back whole, with the script that it is part of, and is answered an
//    error or disconnected. What is too much for memory or for a reply takes back the transaction
//    around it, too. No exception leaves this class, and none passes Lua. What is given up are
//    error codes for what no command can handle.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "server/command/command.h"
#include "server/command/command_table.h"
#include "server/core/run/admission.h"
#include "server/core/run/audit_trail.h"
#include "server/core/run/command_counts.h"
#include "server/core/run/executor_needs.h"
#include "server/core/run/running_command.h"
#include "server/core/run/waiting_sessions.h"
#include "server/session/session.h"
#include "server/session/session_host.h"

namespace weir::server {

class Cluster;

class Executor {
 public:
  explicit Executor(const ExecutorNeeds& needs);
  ~Executor();

  // Runs one request of a session, or refuses it; the reply is appended to the session's output.
  Ran execute(Session& session, Args args);
  // Serves the sessions that wait and may be served now, each as a command of its own.
  void serve_waiting() { waiting_sessions_.serve(); }
  // Runs a resolved command with a writer of its own, as part of the command that is running.
  void run(Session& session, const Command& command, Args args, resp::ReplyWriter& reply);

  // Runs what a session has queued, each as a command of its own, all at the instant of the command
  // that is running. Nothing else comes in between, not even waiters.
  void run_queued(Call& call);

  // Takes back what the running command has changed and published.
  void roll_back() { running_.roll_back(); }

  const CommandTable& table() const { return *needs_.commands; }
  // What is told of those that change settings.
  AuditTrail& audit_trail() { return audit_trail_; }
  // Answers the row that a request means, as the table does; null: there is none.
  const Command* resolve(Args args);
  // Which requests are this server's, and whose the others are.
  Cluster& cluster() { return *cluster_; }
  // Tells whether a command has begun and not ended.
  bool is_running() const { return outer_ != nullptr; }
  // Answers the name of the innermost one, or "". May be called in a signal handler.
  std::string_view running_name() const {
    return outer_ == nullptr ? std::string_view() : outer_->name;
  }
  const CommandMetrics& metrics(const Command& command) const { return counts_.of(command); }
  void reset_metrics() { counts_.reset(); }
  // Counts the error of a command that has run, or of one that was refused (null: there is no such
  // command).
  void count_failed(const Command& command, std::string_view error);
  void count_rejected(const Command* command, std::string_view error);
  // Takes note that the error of the running command, if it answers one, was counted where it came
  // up.
  void note_counted_error() { running_.note_counted_error(); }

 private:
  void reject(Session& session, const Command* command, std::string_view error);
  void queue(Session& session, const Command& command, Args args);
  // Does what execute() does, for other sessions while a script runs long, whose command has not
  // ended.
  void execute_while_busy(Session& session, const Command* command, Args args);
  // A command whose row says so, or that has noted a change, is told if it has not failed.
  bool must_audit(const Command& command) const {
    return command.audit == Audit::kYes ||
           (command.audit == Audit::kIfNoted && !needs_.host->audit().empty());
  }
  void audit(const Call& call, size_t reply_begin);
  void signal_keys(const Session& session, const Command& command, Args args);
  Within within() const;
  CommandMetrics& metrics_of(const Command& command);
  // Those of a command that is about to be counted; inside another they can be taken back.
  CommandMetrics& counted_metrics(const Command& command);

  const ExecutorNeeds needs_;
  std::unique_ptr<Cluster> cluster_;
  Admission admission_;
  CommandCounts counts_;
  AuditTrail audit_trail_;
  RunningCommand running_;
  WaitingSessions waiting_sessions_;
  const Command* recent_ = nullptr;  // the last row found by its name alone
  std::string recent_spelling_;
  CommandMetrics* recent_metrics_ = nullptr;
  const Command* outer_ = nullptr;  // what runs the running command: EXEC, a script, or nothing
};

}  // namespace weir::server
