// Checkpoints: SAVE and BGSAVE. Each is a directory beside the data that opens as a data directory
// of its own (checkpoint_folder.h has its name); as many as checkpoint-keep says are kept.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "server/config/config.h"
#include "server/core/disk/remover.h"
#include "server/core/disk/storage_health.h"
#include "server/os/clock.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

class Checkpoints {
 public:
  Checkpoints(const Config* config, storage::Keyspace* keys, Clock* clock,
              const StorageHealth* health)
      : config_(*config), keys_(*keys), clock_(*clock), health_(*health) {}

  // Asks for a checkpoint, which begins when no write-back is running. An error is a whole line.
  Result<void, std::string> ask();
  // Asks for one in another directory, which is neither counted nor kept among the others; `ended`
  // is told whether it is there. The folder of `directory` must be there.
  Result<void, std::string> ask_in(std::string directory, std::function<void(bool made)> ended);
  // Makes a checkpoint and waits for it, as SAVE does. `commit` commits what the commands of the
  // turn have done so far, because a write-back must not see it before that.
  Result<void, std::string> make_now(const std::function<void()>& commit);
  // Begins or ends the checkpoint that is due. The server calls it between turns.
  void advance();

  // Tells whether a checkpoint is asked for or being made.
  bool pending() const { return wanted_ || running_; }
  bool last_ok() const { return last_ok_; }
  // Answers the newest turn that the last checkpoint holds; 0: none was made.
  uint64_t last_turn() const { return last_turn_; }
  // Answers the name of its directory; "": none was made.
  const std::string& last_name() const { return last_name_; }
  uint64_t made() const { return made_; }  // since the start
  uint64_t failed() const { return failed_; }
  // Answers when the newest checkpoint in dir was begun, by its name, those of earlier starts too;
  // Unix time, 0: none. People may move checkpoints away, so it looks again once a minute.
  int64_t newest_s();
  int64_t last_s() const { return last_s_; }  // when the last one was made, Unix time; 0: none

 private:
  // Where a checkpoint goes that is made for somebody, and whom its end is told.
  struct Elsewhere {
    std::string directory;
    std::function<void(bool made)> ended;
  };

  void begin();
  void end_kept();
  void look_for_newest();

  const Config& config_;
  storage::Keyspace& keys_;
  Clock& clock_;
  const StorageHealth& health_;
  bool wanted_ = false;
  std::optional<Elsewhere> elsewhere_;  // of the one that is asked for or made
  bool running_ = false;
  bool last_ok_ = true;
  int64_t last_s_ = 0;
  uint64_t running_turn_ = 0;  // the newest one when the running checkpoint began
  uint64_t last_turn_ = 0;
  uint64_t made_ = 0;
  uint64_t failed_ = 0;
  int64_t newest_s_ = 0;
  std::optional<int64_t> looked_ns_;  // when it was looked for last
  std::string directory_;             // of the one that is being made
  std::string last_name_;
  Remover remover_;
};

}  // namespace weir::server
