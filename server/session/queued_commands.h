// Commands with their arguments, in the order in which they were queued.
//
// They lie packed in large blocks, so that queueing moves nothing that is queued already, and that
// any number of them goes in a moment. A command in a block is
//
//     row(8) count(8) count x { size(8) bytes }
//
// and never spans two.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "server/command/command.h"

namespace weir::server {

class QueuedCommands {
 public:
  void add(const Command& command, Args args);
  size_t count() const { return count_; }
  // Answers what the blocks take.
  size_t memory_bytes() const { return block_bytes_; }

  // A walk over all of them, in their order. What it answers holds until it goes on, and as long as
  // the commands are there; nothing may be added meanwhile.
  class Walk {
   public:
    explicit Walk(const QueuedCommands& commands) : commands_(commands) {}
    // Goes on to the next command, to the first at first; false after the last.
    bool next();
    const Command& command() const { return *command_; }
    Args args() const { return args_; }

   private:
    const QueuedCommands& commands_;
    size_t block_ = 0;
    size_t at_ = 0;
    const Command* command_ = nullptr;
    std::vector<std::string_view> args_;
  };

 private:
  std::vector<std::string> blocks_;
  size_t count_ = 0;
  size_t block_bytes_ = 0;
};

}  // namespace weir::server
