// What scripts and libraries of functions ask of the server that runs them.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "server/command/command.h"

namespace weir::server {

class Clock;
class CommandTable;
class Session;
struct Config;
struct RunningScript;

class ScriptHost {
 public:
  virtual const Config& config() const = 0;
  virtual Clock& clock() const = 0;
  virtual WorkMeter& work() = 0;
  virtual storage::Keyspace& keys() = 0;
  // Answers another number whenever records may have changed otherwise than by commands.
  virtual uint64_t data_epoch() const = 0;
  virtual uint64_t random() = 0;

  virtual const CommandTable& commands() const = 0;
  // Tells whether the session's user may run the request, and if not why; a denial is noted.
  virtual Result<void, std::string> allow_in_script(Session& session, const Command& command,
                                                    Args args) = 0;
  // Tells whether a cluster's node may run the request in a script, and if not why. A script that
  // does not say that it crosses slots uses the keys of one, that of the keys it was given or else
  // of its first.
  virtual Result<void, std::string> check_slots(const Command& command, Args args,
                                                bool crosses_slots) = 0;
  // Runs a command with a writer of its own, as part of the running command.
  virtual void run_in_script(Session& session, const Command& command, Args args,
                             resp::ReplyWriter& reply) = 0;
  // Counts a command that a script could not run. `command`: null: there is none.
  virtual void note_refused_in_script(const Command* command, std::string_view error) = 0;
  // The running command's reply, if that is an error, has been counted where it came up.
  virtual void note_counted_error() = 0;
  // Takes back what the running command has changed and published.
  virtual void roll_back() = 0;
  virtual bool writes_denied() const = 0;
  virtual std::string storage_error() const = 0;
  // A script goes on. To be called every kBeatNs while it does.
  static constexpr int64_t kBeatNs = 100 * kNsPerMs;
  virtual void beat() = 0;
  // Serves other clients while a script runs long. False: a client has ended the script.
  virtual bool serve_while_busy(const RunningScript& script) = 0;

 protected:
  ~ScriptHost() = default;
};

}  // namespace weir::server
