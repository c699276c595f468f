// What a session may do before others have their turn: so many commands, so much work and time, so
// many bytes of replies. The session asks between commands, so one command may pass the bounds. It
// ends by work as well as by time, because time is seen only when it has passed, and tells a test
// on virtual time nothing.
//
// Sessions whose last slice was long, and those with requests left over, come after all others in a
// turn (Daemon::serve_long). So who asks for little waits for one long command at most, the one
// that runs. A single command is never cut. What is given up are slices that are equally long on
// every machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time_units.h"
#include "server/session/output_queue.h"
#include "server/session/session_host.h"

namespace weir::server {

class Slice {
 public:
  Slice(const SessionHost* host, const OutputQueue* output, size_t commands_max)
      : host_(*host),
        output_(*output),
        work_(host->work()),
        commands_left_(commands_max),
        units_begin_(work_.units()),
        units_end_(host->slice_end()) {}

  // Counts a command that has run.
  void count() {
    --commands_left_;
    if (begin_ns_ == kNotBegun) begin_ns_ = host_.looked_ns();
  }

  // How many commands may still run.
  size_t commands_left() const { return commands_left_; }

  // Charges what every command takes: by the number of its arguments, and by the bytes of its
  // request and reply.
  void charge(size_t arguments, size_t bytes) { work_.charge(arguments, bytes); }

  // Tells whether the slice has ended. Replies count because those of a turn leave together at its
  // end, and changes because one record of the log holds them. The time is that at which the last
  // request began, so a slice passes the bound by one request at most.
  bool ended() const {
    if (commands_left_ == 0 || work_.units() >= units_end_) return true;
    if (begin_ns_ != kNotBegun && host_.looked_ns() - begin_ns_ > kDurationNs) return true;
    return output_.turn_bytes() > kReplyBytesMax || (host_.is_pressed() && host_.turn_is_full());
  }

  // Whether it was used up by work, with its last command or before.
  bool was_long() const { return work_.units() - units_begin_ >= WorkMeter::kSliceUnits; }

 private:
  static constexpr int64_t kDurationNs = kNsPerMs;
  static constexpr size_t kReplyBytesMax = 1 << 20;
  static constexpr int64_t kNotBegun = INT64_MIN;

  const SessionHost& host_;
  const OutputQueue& output_;
  WorkMeter& work_;
  size_t commands_left_;
  uint64_t units_begin_;
  uint64_t units_end_;
  int64_t begin_ns_ = kNotBegun;
};

}  // namespace weir::server
