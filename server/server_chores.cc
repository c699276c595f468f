// What a server does from time to time, between turns.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "server/log.h"
#include "server/machine.h"
#include "server/server.h"

namespace weir::server {
namespace {

constexpr int64_t kNsPerS = 1'000'000'000;
constexpr size_t kCheckpointsKept = 2;

}  // namespace

void Server::tick() {
  timeline_.synchronise();
  keys_.begin_command(timeline_.now_ns());
  if (pause_mode_ != PauseMode::kNone && clock_->steady_ns() >= pause_until_steady_ns_) unpause();
  close_idle_sessions();
  try_to_recover();
  advance_checkpoint();
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
}

int64_t Server::unsynced_ns() const {
  return unsynced_since_ns_ == 0 ? 0 : clock_->steady_ns() - unsynced_since_ns_;
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
  if (checkpoint_wanted_ || checkpoint_running_) return "ERR Background save already in progress";
  if (config_.storage == StorageForm::kMemory) return "ERR --storage memory has nothing to save to";
  if (keys_.store_failed()) return storage_error();
  checkpoint_wanted_ = true;
  return {};
}

std::string Server::checkpoint_now() {
  if (std::string error = start_checkpoint(); !error.empty()) return error;
  // The commands of this turn before SAVE are not committed yet, and a pass must not see them:
  // commit, then wait.
  touched_ = in_turn_;
  commit();
  keys_.begin_command(keys_.now_ns());  // what SAVE may roll back begins here
  if (keys_.store_failed()) {
    checkpoint_wanted_ = false;
    return storage_error();
  }
  while (checkpoint_wanted_ || checkpoint_running_) {
    keys_.work(clock_->steady_ns());
    advance_checkpoint();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return last_checkpoint_ok_ ? std::string() : "ERR the checkpoint failed, see the log";
}

void Server::advance_checkpoint() {
  if (checkpoint_wanted_ && !keys_.writing_back() && !keys_.store_failed()) {
    const int64_t wall_ms = clock_->wall_ns() / 1'000'000;
    checkpoint_directory_ = config_.dir + "/checkpoints/" + std::to_string(wall_ms);
    std::error_code ignored;
    std::filesystem::create_directories(config_.dir + "/checkpoints", ignored);
    keys_.store().start_checkpoint(checkpoint_directory_);
    checkpoint_wanted_ = false;
    checkpoint_running_ = true;
  }
  if (!checkpoint_running_) return;
  const storage::PassState state = keys_.store().checkpoint_state();
  if (state.running) return;
  checkpoint_running_ = false;
  last_checkpoint_ok_ = state.failure.ok();
  if (!last_checkpoint_ok_) {
    spdlog::error("the checkpoint to {} failed: {}", checkpoint_directory_,
                  state.failure.message());
    return;
  }
  last_checkpoint_s_ = clock_->wall_ns() / kNsPerS;
  spdlog::info("checkpoint written to {}", checkpoint_directory_);
  remove_old_checkpoints(config_.dir + "/checkpoints", kCheckpointsKept);
}

}  // namespace weir::server
