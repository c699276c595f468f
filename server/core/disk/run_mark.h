// `RUNNING` in a data directory: a server uses the directory and has not ended. Who finds it at a
// start knows that the last run did not end cleanly, and may read in it why.
//
//     weir 0.1.0, pid 4711, since 2026-11-26T10:00:00Z
//     signal 11 (SIGSEGV) at 2026-11-26T10:05:00.123+00:00; the command that ran is get
//
// The second line is a crash's (server/os/crash_report.h). A run that was killed, whose machine has
// stopped, or that has ended itself because of an error leaves none.
//
// It is for people: the data needs no repair after any end, and no decision hangs on this file. So
// it is not synced, and where it cannot be written the server goes on without it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/format/file.h"

namespace weir::server {

// What a run has left that did not end cleanly.
struct UncleanEnd {
  std::string run;    // "weir 0.1.0, pid 4711, since ..."; "" if that could not be written
  std::string crash;  // "signal 11 ..."; "" if it did not crash
};

class RunMark {
 public:
  // REQUIRES: the directory is locked by this process.
  explicit RunMark(const std::string& directory) : path_(directory + "/RUNNING") {}

  // Makes the mark of this run, which began at an instant of Unix time. Answers what the last one
  // has left; nothing if it ended cleanly, or if there was none.
  std::optional<UncleanEnd> begin(int64_t now_s);
  // What is written there comes after the line of begin(); -1: there is no mark.
  int descriptor() const { return file_.get(); }
  // The run ends cleanly.
  void end();

 private:
  const std::string path_;
  storage::Descriptor file_;
};

}  // namespace weir::server
