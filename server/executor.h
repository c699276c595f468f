// The only door to the keyspace: runs one command after another, each at one instant.
//
// Invariants
// 1. A command that answers an error leaves nothing behind, except where its row says that what it
// wrote stays.
// 2. A command that met a failing read answers that failure, whatever it had written or replied.
// 3. Commands change state through the keyspace's turn only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/command.h"
#include "server/command_table.h"

namespace weir::server {

struct CommandFigures {
  uint64_t calls = 0;
  uint64_t timed = 0;  // of the calls, the first and every 16th after it
  int64_t timed_ns = 0;
  uint64_t rejected = 0;  // arity, rights, state of the server
  uint64_t failed = 0;    // answered an error
};

class Executor {
 public:
  explicit Executor(Server* server);

  // Runs one request of a session, or refuses it; the reply is appended to the session's output.
  // Answers whether the reply may depend on data, so that it must not stand if the turn cannot be
  // committed.
  bool execute(Session& session, Args args);
  // Runs a resolved command with a writer of its own, as part of the command that is running.
  void run(Session& session, const Command& command, Args args, resp::ReplyWriter& reply);

  const CommandTable& table() const { return table_; }
  const CommandFigures& figures(const Command& command) const {
    return figures_[table_.index_of(command)];
  }
  void reset_figures();

 private:
  std::string refusal(Session& session, const Command* command, Args args);
  const Command* resolve(Args args);
  CommandFigures& figures_of(const Command& command);

  Server* server_;
  CommandTable table_;
  std::vector<CommandFigures> figures_;
  const Command* recent_ = nullptr;  // the last row found by its name alone
  std::string recent_spelling_;
  size_t recent_index_ = 0;
};

// What browsers say first when a page makes them talk to a port of this machine.
bool is_cross_protocol_request(Args args);

// Redis' words, shared by everything that refuses a command.
std::string unknown_command_error(const CommandTable& table, Args args);
std::string arity_error(const Command& command);
bool arity_fits(const Command& command, size_t args);

}  // namespace weir::server
