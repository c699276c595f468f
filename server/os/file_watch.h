// Tells when files that were read have changed, by what the system says of them: device, inode,
// size and times.
//
// It asks by path, once a second, and follows links. So it sees what a watch of a directory
// (inotify) does not: a link somewhere in the path that leads elsewhere now, as Kubernetes swaps
// `..data`; a target that changed in another directory; a directory that was replaced; a file
// system that tells of nothing. And it takes none of the system's instances of inotify, which
// containers share and use up. What is given up: a change is seen up to two seconds late.
//
// A change is told once the files have looked the same twice, so that several that are replaced
// together, or one that is written in pieces, are told of once, afterwards.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/time_units.h"

namespace weir::server {

class FileWatch {
 public:
  using Paths = std::vector<std::string>;

  static constexpr int64_t kEveryNs = kNsPerS;

  // Answers which of the files, or directories, are others than when they were told last, or when
  // these paths were given first. To be called from time to time.
  Paths look(const Paths& paths, int64_t steady_ns);
  // The next look() only remembers what there is.
  void forget() { paths_.clear(); }

 private:
  struct State {
    bool is_there = false;
    dev_t device = 0;
    ino_t inode = 0;
    int64_t bytes = 0;
    int64_t modified_ns = 0;
    int64_t changed_ns = 0;  // of the inode: rights, too
    bool operator==(const State&) const = default;
  };

  static std::vector<State> states_of(const Paths& paths);

  Paths paths_;
  std::vector<State> told_;
  std::vector<State> seen_;  // at the last look
  int64_t next_ns_ = 0;
};

}  // namespace weir::server
