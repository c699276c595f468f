// What SIGHUP asks for, and with watch-files the change of a file: who has taken something from a
// file reads it again. The log opens its file anew.
//
// Each participant has a name and is tried on its own: one that fails keeps what it has, and the
// others are tried all the same. They are tried in the order in which they joined, by the loop's
// thread and between turns.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "server/os/file_watch.h"
#include "server/os/reloaded.h"

namespace weir::server {

class Reload {
 public:
  // Reads again; an error says in one line why what was there before stays in use.
  using Act = std::function<Result<Reloaded, std::string>()>;
  // Answers the paths of the files that it reads, as they are set now.
  using Files = std::function<FileWatch::Paths()>;
  struct Outcome {
    std::string name;
    Result<Reloaded, std::string> read;
  };

  // Adds a participant; its name says in the log what is read. One without files is not watched.
  void add(std::string name, Act act, Files files = {}) {
    participants_.push_back({std::move(name), std::move(act), std::move(files)});
  }
  // Tries all participants, and writes a line into the log for each that has found something new or
  // has failed.
  std::vector<Outcome> run() const;
  // The same if files have changed since they were looked at first; to be called from time to time.
  void run_if_changed(int64_t steady_ns);
  // Files whose paths are new since the last time are watched from now on.
  void note_files() { watch_.note(files()); }
  // The paths of all files are new after this.
  void forget_files() { watch_.forget(); }

 private:
  struct Participant {
    std::string name;
    Act act;
    Files files;
  };

  FileWatch::Paths files() const;

  std::vector<Participant> participants_;
  FileWatch watch_;
};

}  // namespace weir::server
