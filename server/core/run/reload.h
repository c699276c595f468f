// What SIGHUP asks for: who has taken something from a file reads it again. So far that is the log,
// which opens its file anew.
//
// Each participant has a name and is tried on its own: one that fails keeps what it has, and the
// others are tried all the same. They are tried in the order in which they joined, by the loop's
// thread and between turns.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace weir::server {

class Reload {
 public:
  // Reads again; an error says in one line why what was there before stays in use.
  using Act = std::function<Result<void, std::string>()>;
  struct Outcome {
    std::string name;
    Result<void, std::string> read;
  };

  // Adds a participant; its name says in the log what is read.
  void add(std::string name, Act act) {
    participants_.push_back({std::move(name), std::move(act)});
  }
  // Tries all participants, and writes a line for each into the log.
  std::vector<Outcome> run() const;

 private:
  struct Participant {
    std::string name;
    Act act;
  };

  std::vector<Participant> participants_;
};

}  // namespace weir::server
