// What scripts and libraries of functions ask of the server that runs them.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "server/command/command.h"
#include "server/config/config.h"
#include "server/os/clock.h"

namespace weir::server {

class CommandTable;
struct RunningScript;

namespace acl {
class Acl;
}  // namespace acl

// What a script uses as it is lies on floors below and is handed over; the rest is done by those
// who run the script.
class ScriptHost {
 public:
  struct Needs {
    CallHost* call_host;
    const Config* config;
    Clock* clock;
    storage::Keyspace* keys;
    const CommandTable* commands;
    acl::Acl* acl;
  };

  const Config& config() const { return *needs_.config; }
  Clock& clock() const { return *needs_.clock; }
  WorkMeter& work() const { return needs_.call_host->work(); }
  uint64_t random() const { return needs_.call_host->random(); }
  storage::Keyspace& keys() const { return *needs_.keys; }
  const CommandTable& commands() const { return *needs_.commands; }
  acl::Acl& acl() const { return *needs_.acl; }

  // Answers another number whenever records may have changed otherwise than by commands.
  virtual uint64_t data_epoch() const = 0;
  virtual bool writes_denied() const = 0;
  virtual std::string storage_error() const = 0;
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
  // A script goes on. To be called every kHeartbeatNs while it does.
  static constexpr int64_t kHeartbeatNs = 100 * kNsPerMs;
  virtual void heartbeat() = 0;
  // Serves other clients while a script runs long. False: a client has ended the script.
  virtual bool serve_while_busy(const RunningScript& script) = 0;

 protected:
  explicit ScriptHost(const Needs& needs) : needs_(needs) {}
  ~ScriptHost() = default;

 private:
  Needs needs_;
};

}  // namespace weir::server
