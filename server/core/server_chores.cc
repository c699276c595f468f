// What a server does from time to time, between turns.
#include <algorithm>

#include "server/core/server.h"
#include "server/os/log.h"

namespace weir::server {
namespace {

constexpr int64_t kNsPerS = 1'000'000'000;
constexpr int64_t kCheckpointLookNs = 1'000'000;

}  // namespace

void Server::tick() {
  timeline_.synchronise();
  keys_.begin_command(timeline_.now_ns());
  holds_.end_pause_when_due(clock_->steady_ns());
  note_pressure();
  close_idle_sessions();
  try_to_recover();
  checkpoints_.advance();
  sample_rates();
}

void Server::sample_rates() {
  const int64_t now_ns = clock_->steady_ns();
  command_rate_.sample(now_ns, stats.commands);
  input_rate_.sample(now_ns, stats.bytes_in);
  output_rate_.sample(now_ns, stats.bytes_out);
  stats.working_set_bytes_max = std::max(stats.working_set_bytes_max, keys_.figures().bytes);
}

void Server::reset_stats() {
  stats = {};
  const storage::KeyspaceFigures figures = keys_.figures();
  stats.expired_before = figures.expired;
  stats.evicted_before = figures.evicted;
  executor_.reset_figures();
  errors_ = {};
  client_bounds_.reset_figures();
  limiters_.allowed = limiters_.denied = 0;
}

void Server::close_idle_sessions() {
  const int64_t now_ns = clock_->steady_ns();
  if (now_ns < next_idle_check_steady_ns_) return;
  next_idle_check_steady_ns_ = now_ns + kNsPerS;
  for (const auto& [id, session] : sessions_) {
    if (session->has_unsent()) enforce_output_limit(session.get());
    if (config_.timeout > 0 && !session->waiting() && !session->subscribed() &&
        !session->monitors && now_ns - session->last_interaction_ns > config_.timeout * kNsPerS) {
      spdlog::debug("client {} ({}) closed: idle for over {} s", id, session->peer.address,
                    config_.timeout);
      kill(session.get());
    }
  }
}

std::string Server::start_checkpoint() {
  return keys_.store_failed() ? storage_error() : checkpoints_.ask();
}

std::string Server::checkpoint_now() {
  if (std::string error = start_checkpoint(); !error.empty()) return error;
  // The commands of this turn before SAVE are not committed yet, and a pass must not see them:
  // commit, then wait.
  touched_ = in_turn_;
  commit();
  keys_.begin_command(keys_.now_ns());  // what SAVE may roll back begins here
  if (keys_.store_failed()) {
    checkpoints_.give_up();
    return storage_error();
  }
  while (checkpoints_.pending()) {
    keys_.work(clock_->steady_ns());
    checkpoints_.advance();
    clock_->sleep_ns(kCheckpointLookNs);
  }
  return checkpoints_.last_ok() ? std::string() : "ERR the checkpoint failed, see the log";
}

}  // namespace weir::server
