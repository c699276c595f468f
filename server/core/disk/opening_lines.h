// What an opening that takes long says about itself: a line in the log every few seconds, which is
// also told to whoever started the server, with the time within which he will hear more.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/time_units.h"
#include "server/os/clock.h"
#include "storage/store/store.h"

namespace weir::server {

class OpeningLines {
 public:
  // `within_ns`: the next line, or the end of the opening, comes within this time.
  using Tell = std::function<void(const std::string& line, int64_t within_ns)>;

  static constexpr int64_t kEveryNs = 3 * kNsPerS;
  // A log of fewer bytes is read in a moment, and nothing is said of it.
  static constexpr uint64_t kLongLogBytes = 16 << 20;
  // What a slow disk and a busy machine may need at the most: for anything, and to read a log,
  // which is read twice.
  static constexpr int64_t kPatienceNs = 30 * kNsPerS;
  static constexpr int64_t kReadBytesPerSecond = 2 << 20;

  // `tell` may be empty.
  OpeningLines(Clock* clock, Tell tell) : clock_(*clock), tell_(std::move(tell)) {}

  void note(const storage::OpeningStep& step);

 private:
  void say(const std::string& line, int64_t within_ns) const;

  Clock& clock_;
  const Tell tell_;
  int64_t begun_ns_ = 0;  // of the replay; 0: not yet
  int64_t said_ns_ = 0;
};

}  // namespace weir::server
