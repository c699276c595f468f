// The sessions that do not go on by themselves: those with requests left over for the next turn,
// and those whose next request has to wait (Hold).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "server/command/command.h"
#include "server/session/session.h"
#include "server/session/session_directory.h"

namespace weir::server {

enum class PauseMode { kNone, kWrites, kAll };

class Holds {
 public:
  explicit Holds(const SessionDirectory* sessions) : sessions_(*sessions) {}

  // CLIENT PAUSE. A pause in force is never made shorter or weaker by another.
  void pause(PauseMode mode, int64_t until_steady_ns);
  void unpause();
  void end_pause_when_due(int64_t steady_ns) {
    if (paused() && steady_ns >= pause_until_ns_) unpause();
  }
  bool paused() const { return pause_ != PauseMode::kNone; }
  // Whether the pause holds up a request of the session, which will not be refused.
  bool pauses(const Session& session, const Command& command, CallHost& host, Args args) const;

  // The session ends.
  void forget(const Session& session);

  // After its part in a turn: it is remembered if it has something left to do.
  void remember(const Session& session);
  // Between turns. Those who wait for write-back go on unless `owes_too_much`.
  void end_turn(bool owes_too_much);
  std::vector<Session*> take_runnable();
  // One of them, whose turn has not come.
  void run_later(const Session& session) { runnable_.push_back(session.id); }
  bool has_runnable() const { return !runnable_.empty(); }

 private:
  void resume_all(Hold hold);

  const SessionDirectory& sessions_;
  // Numbers of sessions, since sessions may end meanwhile.
  std::vector<uint64_t> runnable_;
  std::map<Hold, std::vector<uint64_t>> on_hold_;
  std::set<std::pair<Hold, uint64_t>> held_;  // the same: a session is in its list once
  PauseMode pause_ = PauseMode::kNone;
  int64_t pause_until_ns_ = 0;
};

}  // namespace weir::server
