#include "server/core/clients/holds.h"

#include <algorithm>

namespace weir::server {
namespace {

bool may_write(const Command& command, CallHost& host, Args args) {
  return command.may_write == nullptr ? command.has(kWrites | kMayReplicate)
                                      : command.may_write(host, args);
}

}  // namespace

void Holds::pause(PauseMode mode, int64_t until_steady_ns) {
  pause_ = std::max(pause_, mode);
  pause_until_ns_ = std::max(pause_until_ns_, until_steady_ns);
}

void Holds::unpause() {
  pause_ = PauseMode::kNone;
  pause_until_ns_ = 0;
  resume_all(Hold::kPause);
}

bool Holds::pauses(const Session& session, const Command& command, CallHost& host,
                   Args args) const {
  if (!paused() || command.has(kOfClient)) return false;
  if (pause_ == PauseMode::kAll) return true;
  if (!command.has(kRunsQueued)) return may_write(command, host, args);
  for (QueuedCommands::Walk next(session.transaction().queued()); next.next();) {
    if (may_write(next.command(), host, next.args())) return true;
  }
  return false;
}

void Holds::remember(const Session& session) {
  if (session.hold() != Hold::kNone) {
    if (held_.emplace(session.hold(), session.id).second)
      on_hold_[session.hold()].push_back(session.id);
  } else if (session.runnable()) {
    runnable_.push_back(session.id);
  }
}

void Holds::forget(const Session& session) {
  if (held_.erase({session.hold(), session.id}) > 0)
    std::erase(on_hold_[session.hold()], session.id);
}

void Holds::resume_all(Hold hold) {
  std::vector<uint64_t>& ids = on_hold_[hold];
  runnable_.insert(runnable_.end(), ids.begin(), ids.end());
  for (const uint64_t id : ids) held_.erase({hold, id});
  ids.clear();
}

// The sessions that wait for a long list go on one at a time, because they often wait for the same
// list.
void Holds::end_turn(bool owes_too_much) {
  if (on_hold_.empty()) return;
  std::vector<uint64_t>& opening = on_hold_[Hold::kOpening];
  if (!opening.empty()) {
    runnable_.push_back(opening.front());
    held_.erase({Hold::kOpening, opening.front()});
    opening.erase(opening.begin());
  }
  if (!owes_too_much) resume_all(Hold::kWriteBack);
}

std::vector<Session*> Holds::take_runnable() {
  std::vector<Session*> sessions;
  for (const uint64_t id : runnable_) {
    Session* session = sessions_.find_session(id);
    if (session != nullptr && session->runnable()) sessions.push_back(session);
  }
  runnable_.clear();
  return sessions;
}

}  // namespace weir::server
