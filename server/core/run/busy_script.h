// Serves other clients while a script runs long; script/lua/busy.h says what they are answered.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "server/config/config.h"
#include "server/core/disk/turn.h"
#include "server/script/lua/busy.h"

namespace weir::server {

class BusyScript {
 public:
  BusyScript(const Config* config, Turn* turn) : config_(*config), turn_(*turn) {}

  // `poll` reads from sessions that have no part in the turn, and sends what the turn's
  // end_busy_round() has released. The owner of the sockets sets it.
  void set_poll(std::function<void()> poll) { poll_ = std::move(poll); }

  // Lets others be served for a round; a script that has run long calls it from time to time.
  // False: a client has ended the script.
  bool serve(const RunningScript& script);
  // Answers the script that holds all other clients up; null: there is none.
  const RunningScript* current() const { return current_; }
  void kill() { killed_ = true; }

 private:
  const Config& config_;
  Turn& turn_;
  std::function<void()> poll_;
  const RunningScript* current_ = nullptr;
  bool killed_ = false;
  int64_t noted_begin_ns_ = 0;  // of the script that the log has told of
};

}  // namespace weir::server
