// How far long work is: one line on a terminal that is written over, and nothing where the output
// is a file or a pipe. A last look leaves the line empty, for what is said next.
#pragma once

#include <cstdint>
#include <string>

#include "server/os/clock.h"

namespace weir::server {

class Progress {
 public:
  // Writes to standard error if that is a terminal, or in any case to the descriptor given.
  explicit Progress(Clock* clock, int descriptor = -1);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Whether it is time to show something, so that a caller need not make a text in vain.
  bool is_due();
  // "checking files [#####.....]  52 %  1.2 GB of 2.3 GB, 12 s left". `all` 0: no bar.
  void show(const std::string& what, uint64_t done, uint64_t all, const std::string& rest);
  void clear();

 private:
  std::string left(uint64_t done, uint64_t all) const;

  Clock& clock_;
  const int descriptor_;
  int64_t begun_ns_ = 0;  // of what is shown
  int64_t shown_ns_ = 0;
  std::string what_;
  bool is_shown_ = false;
};

// "512 bytes", "1.2 MB"; a MB is 1,000,000.
std::string size_text(uint64_t bytes);

}  // namespace weir::server
