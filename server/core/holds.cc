#include "server/core/holds.h"

#include <algorithm>

namespace weir::server {

void Holds::pause(PauseMode mode, int64_t until_steady_ns) {
  pause_ = std::max(pause_, mode);
  pause_until_ns_ = std::max(pause_until_ns_, until_steady_ns);
}

void Holds::unpause() {
  pause_ = PauseMode::kNone;
  pause_until_ns_ = 0;
  resume_all(Hold::kPause);
}

bool Holds::pauses(const Session& session, const Command& command) const {
  if (!paused() || command.name.starts_with("client")) return false;
  const uint32_t flags = command.name == "exec" ? session.transaction.flags() : command.flags;
  return pause_ == PauseMode::kAll || (flags & (kWrites | kMayReplicate)) != 0;
}

void Holds::remember(const Session& session) {
  if (session.hold() != Hold::kNone) {
    on_hold_[session.hold()].push_back(session.id);
  } else if (session.runnable()) {
    runnable_.push_back(session.id);
  }
}

void Holds::resume_all(Hold hold) {
  std::vector<uint64_t>& ids = on_hold_[hold];
  runnable_.insert(runnable_.end(), ids.begin(), ids.end());
  ids.clear();
}

// Those who wait for a long list go on one at a time: what one of them waits for is often what all
// do.
void Holds::end_turn(bool owes_too_much) {
  if (on_hold_.empty()) return;
  std::vector<uint64_t>& opening = on_hold_[Hold::kOpening];
  if (!opening.empty()) {
    runnable_.push_back(opening.front());
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
