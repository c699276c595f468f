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

  // Begins a pause, for CLIENT PAUSE. Another one never makes a pause in force shorter or weaker.
  void pause(PauseMode mode, int64_t until_steady_ns);
  void unpause();
  void end_pause_when_due(int64_t steady_ns) {
    if (paused() && steady_ns >= pause_until_ns_) unpause();
  }
  bool paused() const { return pause_ != PauseMode::kNone; }
  // Tells whether the pause holds up a request of the session. REQUIRES: the number of its
  // arguments fits the command.
  bool pauses(const Session& session, const Command& command, CallHost& host, Args args) const;

  // Forgets a session that ends.
  void forget(const Session& session);

  // Remembers a session after its part in a turn, if it has something left to do.
  void remember(const Session& session);
  // Lets sessions go on between turns; those that wait for write-back do so unless `owes_too_much`.
  void end_turn(bool owes_too_much);
  std::vector<Session*> take_runnable();
  // Puts back one of those taken, which was not served.
  void run_later(const Session& session) { runnable_.push_back(session.id); }
  bool has_runnable() const { return !runnable_.empty(); }

 private:
  void resume_all(Hold hold);

  const SessionDirectory& sessions_;
  // The numbers of sessions, because a session may end meanwhile.
  std::vector<uint64_t> runnable_;
  std::map<Hold, std::vector<uint64_t>> on_hold_;
  std::set<std::pair<Hold, uint64_t>> held_;  // as on_hold_, so that a session is in its list once
  PauseMode pause_ = PauseMode::kNone;
  int64_t pause_until_ns_ = 0;
};

}  // namespace weir::server
