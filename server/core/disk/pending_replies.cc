#include "server/core/disk/pending_replies.h"

#include <algorithm>
#include <utility>

namespace weir::server {

bool PendingReplies::owes(const Session& session) const {
  return std::any_of(pending_.begin(), pending_.end(), [&](const Pending& pending) {
    return pending.session == session.id && !pending.left;
  });
}

void PendingReplies::add(Session* session, const Told& told) {
  const OutputQueue& queue = session->replies().queue();
  Pending rest{
      .told = told, .session = session->id, .begin = queue.turn_begin(), .end = queue.end()};
  const auto takes = durability_.early_wait_ns() == kNotDue ? std::nullopt : queue.leading_takes();
  if (takes) {
    Pending leading = rest;
    leading.end = rest.begin = takes->end;
    leading.early_permits = takes->permits;
    pending_.push_back(leading);
  }
  if (rest.begin < rest.end || !takes) pending_.push_back(rest);
}

void PendingReplies::release(const Touch& touch) {
  ask_at_ns_ = kNotDue;
  if (pending_.empty()) return;
  release_covered(touch);
  release_early(touch);
  if (!pending_.empty() && durability_.gives_up()) give_up(touch);
}

void PendingReplies::release_covered(const Touch& touch) {
  while (!pending_.empty()) {
    const Pending& pending = pending_.front();
    if (!pending.left) {
      const Coverage coverage = durability_.covers(pending.told, clock_.steady_ns());
      if (!coverage.covered) {
        ask_at_ns_ = coverage.ask_at_ns;
        return;
      }
      if (Session* session = sessions_.find_session(pending.session)) {
        session->release(pending.end);
        touch(session);
      }
    }
    pending_.pop_front();
    if (looked_at_ > 0) --looked_at_;
  }
}

void PendingReplies::release_early(const Touch& touch) {
  const int64_t wait_ns = durability_.early_wait_ns();
  if (wait_ns == kNotDue) return;
  const int64_t now_ns = clock_.steady_ns();
  for (; looked_at_ < pending_.size(); ++looked_at_) {
    Pending& pending = pending_[looked_at_];
    if (!pending.early_permits) continue;
    const int64_t due_ns = pending.told.ended_ns + wait_ns;
    if (now_ns < due_ns) {
      ask_at_ns_ = std::min(ask_at_ns_, due_ns);
      return;
    }
    pending.left = let_out_early(pending, now_ns, touch);
    if (!pending.left) pending.early_permits.reset();
  }
}

bool PendingReplies::let_out_early(const Pending& pending, int64_t now_ns, const Touch& touch) {
  Session* const session = sessions_.find_session(pending.session);
  if (session == nullptr || session->dead()) return false;
  if (!session->replies().queue().has_released(pending.begin)) return false;
  if (!durability_.let_out_early(pending.told, *pending.early_permits, now_ns)) return false;
  session->release(pending.end);
  touch(session);
  return true;
}

void PendingReplies::give_up(const Touch& touch) {
  std::deque<Pending> waiting;
  for (size_t i = 0; i < pending_.size(); ++i) {
    const Pending& pending = pending_[i];
    if (pending.left) continue;
    if (i >= looked_at_ && pending.early_permits) {
      waiting.push_back(pending);
    } else if (Session* session = sessions_.find_session(pending.session)) {
      sessions_.kill(session);
      touch(session);
    }
  }
  pending_ = std::move(waiting);
  looked_at_ = 0;
}

// What has left early is not owed any more, whatever becomes of its turn.
void PendingReplies::drop_after(uint64_t turn) {
  std::erase_if(pending_, [&](const Pending& pending) {
    if (pending.told.turn <= turn && !pending.left) return false;
    Session* const session = pending.left ? nullptr : sessions_.find_session(pending.session);
    if (session != nullptr) sessions_.kill(session);
    return true;
  });
  looked_at_ = 0;
}

}  // namespace weir::server
