// Checkpoints: SAVE and BGSAVE. Each is a directory beside the data that opens as a data directory
// of its own; the two newest are kept.
#pragma once

#include <cstdint>
#include <string>

#include "server/config/config.h"
#include "server/os/clock.h"
#include "storage/keyspace.h"

namespace weir::server {

class Checkpoints {
 public:
  Checkpoints(const Config* config, storage::Keyspace* keys, Clock* clock)
      : config_(*config), keys_(*keys), clock_(*clock) {}

  // Asks for one, which begins when no pass is running. Answers "" or an error line.
  // REQUIRES: the store has not failed.
  std::string ask();
  // It will not be made after all, if it has not begun.
  void give_up() { wanted_ = false; }
  // Begins or ends what is due. Called between turns.
  void advance();

  // One is asked for, or being made.
  bool pending() const { return wanted_ || running_; }
  bool last_ok() const { return last_ok_; }
  int64_t last_s() const { return last_s_; }  // when the last one was made, Unix time; 0: none

 private:
  void begin();

  const Config& config_;
  storage::Keyspace& keys_;
  Clock& clock_;
  bool wanted_ = false;
  bool running_ = false;
  bool last_ok_ = true;
  int64_t last_s_ = 0;
  std::string directory_;  // of the one that is being made
};

}  // namespace weir::server
