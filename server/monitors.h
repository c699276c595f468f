// Clients that watch what others send: MONITOR.
//
// A line waits until the command that it tells of has ended, so that it never stands inside a
// reply; it then leaves with the turn, like any message.
//
// Invariants
// 1. Where nobody watches, a command costs one look at any().
// 2. A session is known here exactly while its `monitors` says so; forget() is called before it
// ends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/command.h"

namespace weir::server {

class Monitors {
 public:
  explicit Monitors(Server* server) : server_(server) {}

  void add(Session& session);
  void forget(Session& session);
  bool any() const { return !sessions_.empty(); }

  // `from_script`: a script sent it, and not the session itself.
  void show(const Call& call, bool from_script);
  // Between commands.
  void deliver();
  bool has_pending() const { return !pending_.empty(); }

 private:
  Server* server_;
  std::vector<Session*> sessions_;
  std::string pending_;  // whole lines
};

}  // namespace weir::server
