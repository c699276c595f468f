// MONITOR: clients that watch what others send.
//
// A line waits until the command that it tells of has ended, so that it never stands inside a
// reply; then it leaves with the turn, like any message.
//
// Invariants
// 1. While no session monitors, a command costs one look at any().
// 2. A session is known here exactly while its `monitors` says so; forget() is called before it
//    ends.
// 3. No more lines are kept than the session that may have most unsent may have; where a command
//    would make more, those who monitor are ended by deliver(), unless the command is taken back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/command/command.h"

namespace weir::server {

class SessionDirectory;
struct Config;

class Monitors {
 public:
  struct Savepoint {
    size_t bytes = 0;
    bool overflowed = false;
  };

  Monitors(SessionDirectory* sessions, const Config* config, WorkMeter* work)
      : directory_(*sessions), config_(*config), work_(*work) {}

  void add(Session& session);
  void forget(Session& session);
  bool any() const { return !sessions_.empty(); }

  // Shows a command. `from_script`: a script sent it, and not the session itself.
  void show(const Call& call, bool from_script);
  // Hands over the lines; to be called between commands.
  void deliver();
  bool has_pending() const { return !pending_.empty() || overflowed_; }
  // Take back the commands that were shown since a savepoint.
  Savepoint savepoint() const { return {.bytes = pending_.size(), .overflowed = overflowed_}; }
  void drop_after(const Savepoint& savepoint);

 private:
  std::string head(const Call& call, bool from_script) const;
  size_t bytes_max() const;
  void end_all();

  SessionDirectory& directory_;
  const Config& config_;
  WorkMeter& work_;  // charged for the bytes of lines that are made, and for each receiver
  std::vector<Session*> sessions_;
  std::string pending_;      // whole lines
  bool overflowed_ = false;  // a line was left out
};

}  // namespace weir::server
