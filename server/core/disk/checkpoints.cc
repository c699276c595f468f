#include "server/core/disk/checkpoints.h"

#include <filesystem>
#include <utility>

#include "base/time_units.h"
#include "server/config/config_options.h"
#include "server/core/disk/checkpoint_folder.h"
#include "server/os/log.h"

namespace weir::server {
namespace {

constexpr int64_t kLookNs = kNsPerMs;  // how long SAVE sleeps between two looks
constexpr int64_t kNewestIsGoodNs = 60 * kNsPerS;

}  // namespace

Result<void, std::string> Checkpoints::ask() {
  if (keys_.store_in_use().failed()) return health_.error();
  if (pending()) return "ERR Background save already in progress";
  if (!keeps_files(config_.storage)) {
    return "ERR --storage " + value_text(*find_option("storage"), config_) +
           " has nothing to save to";
  }
  wanted_ = true;
  return {};
}

Result<void, std::string> Checkpoints::ask_in(std::string directory,
                                              std::function<void(bool made)> ended) {
  if (auto asked = ask(); !asked) return asked;
  elsewhere_ = Elsewhere{.directory = std::move(directory), .ended = std::move(ended)};
  return {};
}

Result<void, std::string> Checkpoints::make_now(const std::function<void()>& commit) {
  if (auto asked = ask(); !asked) return asked;
  commit();
  keys_.running().begin_command(keys_.running().now_ns());  // what SAVE may roll back begins here
  if (keys_.store_in_use().failed()) {
    wanted_ = false;
    return health_.error();
  }
  while (pending()) {
    keys_.work().step(clock_.steady_ns());
    advance();
    clock_.sleep_ns(kLookNs);
  }
  if (!last_ok_) return "ERR the checkpoint failed, see the log";
  return {};
}

void Checkpoints::begin() {
  const std::string folder = config_.dir + "/checkpoints";
  directory_ = folder + "/" + checkpoint_name(clock_.wall_ns() / kNsPerMs, keys_.turn());
  if (elsewhere_) {
    directory_ = elsewhere_->directory;
  } else {
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    remover_.remove(unfinished_checkpoints(folder));
  }
  keys_.store_in_use()->start_checkpoint(directory_);
  running_turn_ = keys_.turn();
  wanted_ = false;
  running_ = true;
}

void Checkpoints::advance() {
  if (wanted_ && !keys_.work().writing_back() && !keys_.store_in_use().failed()) begin();
  if (!running_) return;
  const storage::JobState state = keys_.store_in_use()->checkpoint_state();
  if (state.running) return;
  running_ = false;
  if (!state.failure.ok())
    log_error("the checkpoint to {} failed: {}", directory_, state.failure.message());
  if (elsewhere_) return std::exchange(elsewhere_, std::nullopt)->ended(state.failure.ok());
  last_ok_ = state.failure.ok();
  if (!last_ok_) ++failed_;
  if (last_ok_) end_kept();
}

int64_t Checkpoints::newest_s() {
  if (!looked_ns_ || clock_.steady_ns() - *looked_ns_ >= kNewestIsGoodNs) look_for_newest();
  return newest_s_;
}

void Checkpoints::look_for_newest() {
  looked_ns_ = clock_.steady_ns();
  newest_s_ = newest_checkpoint_s(config_.dir + "/checkpoints");
}

void Checkpoints::end_kept() {
  last_s_ = clock_.wall_ns() / kNsPerS;
  last_turn_ = running_turn_;
  ++made_;
  log_info("checkpoint written to {}", directory_);
  last_name_ = std::filesystem::path(directory_).filename();
  look_for_newest();
  remover_.remove(
      give_up_old_checkpoints(config_.dir + "/checkpoints", config_.checkpoint_keep, last_name_));
}

}  // namespace weir::server
