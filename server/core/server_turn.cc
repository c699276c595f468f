// The end of a turn and what follows from it: commit, sync, release of replies, and what is done
// when the disk fails.
#include <algorithm>

#include "server/core/server.h"
#include "server/os/log.h"
#include "storage/codec.h"

namespace weir::server {
namespace {

constexpr int64_t kNsPerS = 1'000'000'000;
constexpr int64_t kRecoveryIntervalNs = kNsPerS;

}  // namespace

void Server::end_turn() {
  deliver_messages();
  ++turns_ended_;
  touched_.swap(in_turn_);
  in_turn_.clear();
  for (Session* session : touched_) session->touched_in_turn = turns_ended_;
  commit();
  const int64_t now_ns = clock_->steady_ns();
  if (const storage::Status failure = durability_.sync_when_due(now_ns); !failure.ok())
    fail_sync(failure);
  const bool releases = held_.empty() && durability_.covers(keys_.turn(), now_ns);
  for (Session* session : touched_) finish_session_turn(session, releases, now_ns);
  release_held();
  note_turn_length();
  work_on_keys();
  holds_.end_turn(keys_.owes_too_much());
  note_pressure();
  if (keys_.stuck() && config_.storage_failure_policy == FailurePolicy::kDeny) {
    give_up_writing_back();
  }
  timeline_.synchronise();
}

void Server::note_turn_length() {
  if (turn_begin_steady_ns_ == 0) return;
  const int64_t turn_ns = clock_->steady_ns() - turn_begin_steady_ns_;
  turn_begin_steady_ns_ = 0;
  ++stats.turns_run;
  stats.turn_ns += turn_ns;
  stats.turn_ns_max = std::max(stats.turn_ns_max, turn_ns);
  note_latency("turn", turn_ns);
}

void Server::note_latency(std::string_view event, int64_t duration_ns) {
  if (latency_.on()) latency_.note(event, clock_->wall_ns() / kNsPerS, duration_ns);
}

void Server::work_on_keys() {
  const int64_t begin_ns = clock_->steady_ns();
  keys_.work(begin_ns);
  if (latency_.on()) note_latency("write-back", clock_->steady_ns() - begin_ns);
}

void Server::commit() {
  const std::vector<uint64_t> begun_waits = waiting_.take_begun();
  if (!keys_.turn_has_changes()) {
    (void)keys_.commit_turn();
    return;
  }
  store_lead();
  const uint64_t turn_before = keys_.turn();
  const bool keep = config_.storage_failure_policy == FailurePolicy::kMemory;
  const bool failed_before = keys_.store_failed();
  const int64_t begin_ns = clock_->steady_ns();
  const storage::Status status = keys_.commit_turn(keep);
  const int64_t commit_ns = clock_->steady_ns() - begin_ns;
  stats.commit_ns += commit_ns;
  stats.commit_ns_max = std::max(stats.commit_ns_max, commit_ns);
  note_latency("commit", commit_ns);
  if (keys_.turn() != turn_before) ++stats.turns;
  if (keys_.store_failed() && !failed_before) {
    storage_failure_ =
        status.ok() ? storage::Status::failed("the log takes no more records") : status;
    spdlog::error(
        "storage failed: {}; {}", storage_failure_.message(),
        keep ? "going on in memory, owing the disk what changes (storage-failure-policy memory)"
             : "refusing commands that write (storage-failure-policy deny)");
    next_recovery_steady_ns_ = clock_->steady_ns() + kRecoveryIntervalNs;
    if (!keep) drop_unsynced();
  }
  if (!status.ok()) fail_turn(begun_waits);
}

void Server::store_lead() {
  if (timeline_.lead_ns() == stored_lead_ns_) return;
  stored_lead_ns_ = timeline_.lead_ns();
  keys_.begin_command(timeline_.now_ns());
  std::string value;
  storage::put_u64_le(&value, static_cast<uint64_t>(stored_lead_ns_));
  storage::Ref ref = keys_.look_up_system(kLeadKey);
  keys_.put(&ref, storage::Type::kSystem, value, 0);
}

// `begun_waits`: the sessions that began to wait in the turn. What a wait has booked is gone.
void Server::fail_turn(const std::vector<uint64_t>& begun_waits) {
  ++stats.turns_failed;
  ++data_epoch_;
  for (Session* session : touched_) session->fail_turn_replies(storage_error());
  for (const uint64_t id : begun_waits) {
    Session* session = find_session(id);
    if (session == nullptr || waiting_.of_session(id) == nullptr) continue;
    waiting_.forget(id);
    session->fail_wait(storage_error());
  }
}

bool Server::writes_denied() const {
  return keys_.store_failed() && config_.storage_failure_policy == FailurePolicy::kDeny;
}

std::string Server::storage_error() const {
  return "MISCONF the data directory takes no writes (" + storage_failure_.message() +
         "); commands that write are refused until it does, see storage-failure-policy";
}

std::string Server::note_read_failure(const storage::Status& failure) {
  spdlog::error("a record could not be read: {}", failure.message());
  return "MISCONF a record could not be read: " + failure.message();
}

// Nobody knows what of the unsynced turns is on disk. Replies that waited for the sync will never
// be true, so their connections end: to a client that is a command whose outcome is unknown.
void Server::fail_sync(const storage::Status& failure) {
  keys_.mark_store_failed();
  storage_failure_ = failure;
  spdlog::error("storage failed: the log could not be synced: {}", failure.message());
  next_recovery_steady_ns_ = clock_->steady_ns() + kRecoveryIntervalNs;
  if (config_.storage_failure_policy == FailurePolicy::kMemory) return;
  drop_held_after(0);
  if (config_.durability != DurabilityLevel::kAlways) return;
  for (Session* session : touched_) {
    if (session->turn_touched_data()) kill(session);
  }
}

// The log cannot be shortened any more and is as long as it may become. (With the policy `memory`
// it goes on growing as long as the disk takes it.)
void Server::give_up_writing_back() {
  keys_.mark_store_failed();
  storage_failure_ = keys_.write_back_failure();
  spdlog::error("storage failed: what changed cannot be written back: {}",
                storage_failure_.message());
  next_recovery_steady_ns_ = clock_->steady_ns() + kRecoveryIntervalNs;
  drop_unsynced();
}

// From here on nothing waits for a sync, so what does already would leave unsynced.
void Server::drop_unsynced() {
  if (config_.durability != DurabilityLevel::kAlways) return;
  drop_held_after(keys_.store().sync_state().synced_turn);
}

void Server::drop_held_after(uint64_t turn) {
  std::erase_if(held_, [&](const Held& held) {
    if (held.turn <= turn) return false;
    if (Session* session = find_session(held.session)) kill(session);
    return true;
  });
}

void Server::finish_session_turn(Session* session, bool durable, int64_t now_ns) {
  if (durable) {
    session->release(session->produced());
  } else {
    held_.push_back(
        {.turn = keys_.turn(), .session = session->id, .produced = session->produced()});
  }
  session->last_interaction_ns = now_ns;
  session->end_turn();
  enforce_output_limit(session);
  holds_.remember(*session);
}

void Server::release_held() {
  while (!held_.empty() && durability_.covers(held_.front().turn, clock_->steady_ns())) {
    if (Session* session = find_session(held_.front().session)) {
      session->release(held_.front().produced);
      touch(session);
    }
    held_.pop_front();
  }
}

void Server::touch(Session* session) {
  if (session->touched_in_turn == turns_ended_) return;
  session->touched_in_turn = turns_ended_;
  touched_.push_back(session);
}

void Server::try_to_recover() {
  const int64_t now_ns = clock_->steady_ns();
  if (!keys_.store_failed() || now_ns < next_recovery_steady_ns_) return;
  next_recovery_steady_ns_ = now_ns + kRecoveryIntervalNs;
  if (keys_.has_store() && !keys_.store().probe().ok()) return;
  const storage::Status status =
      keys_.reopen(config_.storage_failure_policy == FailurePolicy::kMemory);
  if (!status.ok()) {
    spdlog::error("storage could not be reopened: {}", status.message());
    if (keys_.usable()) return;
    spdlog::critical("the data cannot be used any more; stopping");
    std::_Exit(1);
  }
  ++data_epoch_;
  tracking_.everything_changed();
  durability_.start_anew();
  storage_failure_ = {};
  spdlog::warn("storage works again, newest turn {}", keys_.turn());
}

}  // namespace weir::server
