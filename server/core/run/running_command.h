// The command that runs: how it begins, how it fails, and how what it did is taken back.
//
// It is one command of a session, or of one that has waited; each of a transaction is one after
// another. What it runs as parts of itself, as a script does, belongs to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "resp/reply.h"
#include "server/core/run/command_counts.h"
#include "server/core/run/effects.h"
#include "server/core/run/executor_needs.h"
#include "server/session/session.h"

namespace weir::server {

class RunningCommand {
 public:
  RunningCommand(const ExecutorNeeds& needs, CommandCounts* counts, AuditTrail* audit);

  void begin(int64_t now_ns);
  // The next command of a transaction begins.
  void begin_next(int64_t now_ns);
  // From here on its reply is no longer than the session may be sent.
  void bound_reply(Session* session);
  bool is_reply_too_long() const { return reply_too_long_; }

  // Calls `body`; what it throws becomes the failure of the command.
  template <typename Body>
  void attempt(const Session& session, const resp::ReplyWriter& reply, const Body& body);

  // Takes back what the command has changed and published.
  void roll_back();
  // Takes back a command that has to be run again; answers why, or kNone.
  Hold take_back_for_retry(size_t reply_begin, Replies* replies);
  // Ends a command whose reply is known: takes back what it changed if it has failed, and counts
  // its error.
  void settle(Session& session, const Command& command, size_t reply_begin);
  // Takes note that the command's error, if it answers one, was counted where it came up.
  void note_counted_error() { error_counted_ = true; }

  // What it has left beside the keyspace.
  Effects& effects() { return effects_; }

 private:
  void note_exception(const Session& session, const resp::ReplyWriter& reply);
  std::string failure_line(const storage::Status& failure);

  const ExecutorNeeds needs_;
  CommandCounts& counts_;
  Effects effects_;
  bool reply_too_long_ = false;
  bool error_counted_ = false;
};

template <typename Body>
void RunningCommand::attempt(const Session& session, const resp::ReplyWriter& reply,
                             const Body& body) {
  try {
    body();
  } catch (...) {
    note_exception(session, reply);
  }
}

}  // namespace weir::server
