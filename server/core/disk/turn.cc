#include "server/core/disk/turn.h"

#include <algorithm>
#include <string>

#include "server/os/log.h"

namespace weir::server {

void Turn::add(Session* session) {
  if (begin_steady_ns_ == 0) {
    begin_steady_ns_ = needs_.clock->steady_ns();
    needs_.report->loop.begin(begin_steady_ns_);
  }
  in_turn_.push_back(session);
}

void Turn::forget(const Session& session) {
  std::erase(in_turn_, &session);
  std::erase(touched_, &session);
}

void Turn::end() {
  ++turns_ended_;
  touched_.swap(in_turn_);
  in_turn_.clear();
  for (Session* session : touched_) session->activity().touch(turns_ended_);
  const bool runs = begin_steady_ns_ != 0;
  const int64_t now_ns = commit(touched_);
  if (!runs) needs_.report->loop.begin(now_ns);
  if (const storage::Status failure = needs_.durability->sync_when_due(now_ns); !failure.ok())
    fail_sync(failure);
  const auto may_tell = [&](bool touched_data) {
    const Told told{.turn = keys_.turn(), .touched_data = touched_data, .ended_ns = now_ns};
    return needs_.durability->covers(told, now_ns).covered;
  };
  const bool releases_data = pending_.empty() && may_tell(true);
  const bool releases_others = releases_data || may_tell(false);
  for (Session* session : touched_) {
    const OutputQueue& queue = session->replies().queue();
    const bool may_leave =
        releases_data || (releases_others && queue.owes_nothing() && !queue.turn_tells_of_data());
    finish(session, may_leave, now_ns);
  }
  pending_.release([this](Session* session) { touch(session); });
  note_length();
}

void Turn::commit_early() { commit(in_turn_); }

void Turn::note_length() {
  if (begin_steady_ns_ == 0) return;
  const int64_t now_ns = needs_.clock->steady_ns();
  needs_.report->end_phase("release", now_ns);
  needs_.report->note_turn(now_ns - std::exchange(begin_steady_ns_, 0));
}

// Commits what these sessions did, and answers the instant of the steady clock at which that was
// done.
int64_t Turn::commit(const std::vector<Session*>& sessions) {
  const std::vector<uint64_t> begun_waits = needs_.waiting->take_begun();
  if (!keys_.running().has_changes()) {
    (void)keys_.commit_turn();
    const int64_t now_ns = needs_.clock->steady_ns();
    if (begin_steady_ns_ != 0) needs_.report->end_phase("requests", now_ns);
    return now_ns;
  }
  needs_.clock_keeper->store();
  const uint64_t turn_before = keys_.turn();
  const bool keep = !needs_.health->denies();
  const bool failed_before = keys_.store_in_use().failed();
  const int64_t begin_ns = needs_.clock->steady_ns();
  if (begin_steady_ns_ == 0) needs_.report->loop.begin(begin_ns);
  needs_.report->end_phase("requests", begin_ns);
  const storage::Status status = keys_.commit_turn(keep);
  const int64_t end_ns = needs_.clock->steady_ns();
  needs_.report->end_phase("commit", end_ns);
  needs_.report->note_commit(end_ns - begin_ns);
  if (keys_.turn() != turn_before) ++needs_.report->stats.turns;
  if (keys_.store_in_use().failed() && !failed_before) {
    const storage::Status failure =
        status.ok() ? storage::Status::failed("the log takes no more records") : status;
    needs_.health->fail(
        failure,
        failure.message() +
            (keep ? "; going on in memory, owing the disk what changes (storage-failure-policy "
                    "memory)"
                  : "; refusing commands that write (storage-failure-policy deny)"));
    if (!keep) drop_unsynced();
  }
  if (!status.ok())
    fail(sessions, begun_waits, status.is_refusal() ? status.message() : needs_.health->error());
  return end_ns;
}

// `begun_waits` are the sessions that began to wait in the turn. They wait no more, because what a
// wait has booked was taken back.
void Turn::fail(const std::vector<Session*>& sessions, const std::vector<uint64_t>& begun_waits,
                const std::string& error) {
  ++needs_.report->stats.turns_failed;
  needs_.health->note_other_data();
  needs_.clock_keeper->take_back();
  for (Session* session : sessions) session->replies().fail_turn(error);
  for (const uint64_t id : begun_waits) {
    Session* session = needs_.sessions->find_session(id);
    if (session == nullptr || needs_.waiting->of_session(id) == nullptr) continue;
    needs_.waiting->forget(id);
    session->replies().writer().error(error);
    session->end_wait();
  }
}

// What of the unsynced turns is on disk is unknown. Replies that waited for the sync may never
// leave, so their connections end: to a client that is a command whose outcome is unknown.
void Turn::fail_sync(const storage::Status& failure) {
  const bool unwritten = keys_.store_in_use()->appended_turn() < keys_.logged_turn();
  const char* what =
      unwritten ? "the log takes no more records: " : "the log could not be synced: ";
  needs_.health->fail(failure, what + failure.message());
  if (!needs_.health->denies()) return;
  drop_pending_after(0);
  if (needs_.config->durability != DurabilityLevel::kAlways && !unwritten) return;
  for (Session* session : touched_) {
    if (session->replies().queue().turn_touched_data()) needs_.sessions->kill(session);
  }
}

void Turn::give_up_writing_back() {
  const storage::Status failure = keys_.work().write_back_failure();
  needs_.health->fail(failure, "what changed cannot be written back: " + failure.message());
  drop_unsynced();
}

// After this no reply waits for a sync, so those that wait already would leave unsynced: their
// sessions end.
void Turn::drop_unsynced() {
  uint64_t kept = keys_.store_in_use()->appended_turn();
  if (needs_.config->durability == DurabilityLevel::kAlways)
    kept = std::min(kept, keys_.store_in_use()->sync_state().synced_turn);
  drop_pending_after(kept);
}

void Turn::finish(Session* session, bool durable, int64_t now_ns) {
  const size_t produced = session->replies().queue().end();
  if (durable) {
    session->release(produced);
  } else {
    const bool touched_data = session->replies().queue().turn_tells_of_data();
    pending_.add(session, {.turn = keys_.turn(), .touched_data = touched_data, .ended_ns = now_ns});
  }
  session->activity().note_interaction(now_ns);
  session->replies().queue().end_turn();
  needs_.sessions->enforce_output_limit(session);
  needs_.holds->remember(*session);
}

void Turn::touch(Session* session) {
  if (session->activity().touch(turns_ended_)) touched_.push_back(session);
}

std::vector<Session*> Turn::end_busy_round() {
  const auto begin = in_turn_.begin() + static_cast<std::ptrdiff_t>(busy_mark_);
  const std::vector<Session*> served(begin, in_turn_.end());
  in_turn_.resize(busy_mark_);
  const int64_t now_ns = needs_.clock->steady_ns();
  for (Session* session : served) {
    finish(session, !pending_.owes(*session), now_ns);
  }
  begin_busy_rounds();  // after those that were ended just now
  return served;
}

}  // namespace weir::server
