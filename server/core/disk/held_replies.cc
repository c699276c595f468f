#include "server/core/disk/held_replies.h"

#include <algorithm>
#include <utility>

namespace weir::server {

bool HeldReplies::owes(const Session& session) const {
  return std::any_of(held_.begin(), held_.end(),
                     [&](const Held& held) { return held.session == session.id && !held.left; });
}

void HeldReplies::add(Session* session, const Told& told) {
  const OutputQueue& queue = session->replies().queue();
  Held rest{.told = told, .session = session->id, .begin = queue.turn_begin(), .end = queue.end()};
  const auto takes = durability_.early_wait_ns() == kNotDue ? std::nullopt : queue.leading_takes();
  if (takes) {
    Held leading = rest;
    leading.end = rest.begin = takes->end;
    leading.early_permits = takes->permits;
    held_.push_back(leading);
  }
  if (rest.begin < rest.end || !takes) held_.push_back(rest);
}

void HeldReplies::release(const Touch& touch) {
  ask_at_ns_ = kNotDue;
  if (held_.empty()) return;
  release_covered(touch);
  release_early(touch);
  if (!held_.empty() && durability_.gives_up()) give_up(touch);
}

void HeldReplies::release_covered(const Touch& touch) {
  while (!held_.empty()) {
    const Held& held = held_.front();
    if (!held.left) {
      const Coverage coverage = durability_.covers(held.told, clock_.steady_ns());
      if (!coverage.covered) {
        ask_at_ns_ = coverage.ask_at_ns;
        return;
      }
      if (Session* session = sessions_.find_session(held.session)) {
        session->release(held.end);
        touch(session);
      }
    }
    held_.pop_front();
    if (looked_at_ > 0) --looked_at_;
  }
}

void HeldReplies::release_early(const Touch& touch) {
  const int64_t wait_ns = durability_.early_wait_ns();
  if (wait_ns == kNotDue) return;
  const int64_t now_ns = clock_.steady_ns();
  for (; looked_at_ < held_.size(); ++looked_at_) {
    Held& held = held_[looked_at_];
    if (!held.early_permits) continue;
    const int64_t due_ns = held.told.ended_ns + wait_ns;
    if (now_ns < due_ns) {
      ask_at_ns_ = std::min(ask_at_ns_, due_ns);
      return;
    }
    held.left = let_out_early(held, now_ns, touch);
    if (!held.left) held.early_permits.reset();
  }
}

bool HeldReplies::let_out_early(const Held& held, int64_t now_ns, const Touch& touch) {
  Session* const session = sessions_.find_session(held.session);
  if (session == nullptr || session->dead()) return false;
  if (!session->replies().queue().has_released(held.begin)) return false;
  if (!durability_.let_out_early(held.told, *held.early_permits, now_ns)) return false;
  session->release(held.end);
  touch(session);
  return true;
}

void HeldReplies::give_up(const Touch& touch) {
  std::deque<Held> waiting;
  for (size_t i = 0; i < held_.size(); ++i) {
    const Held& held = held_[i];
    if (held.left) continue;
    if (i >= looked_at_ && held.early_permits) {
      waiting.push_back(held);
    } else if (Session* session = sessions_.find_session(held.session)) {
      sessions_.kill(session);
      touch(session);
    }
  }
  held_ = std::move(waiting);
  looked_at_ = 0;
}

// What has left early is no debt any more, whatever becomes of its turn.
void HeldReplies::drop_after(uint64_t turn) {
  std::erase_if(held_, [&](const Held& held) {
    if (held.told.turn <= turn && !held.left) return false;
    Session* const session = held.left ? nullptr : sessions_.find_session(held.session);
    if (session != nullptr) sessions_.kill(session);
    return true;
  });
  looked_at_ = 0;
}

}  // namespace weir::server
