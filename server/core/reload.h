// What SIGHUP asks for: everything that was read from files is read again.
//
// Each participant has a name and tries on its own: one that fails keeps what it has, and the
// others are tried all the same. They are tried in the order in which they joined, in the thread of
// the loop and between turns.
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

  // `name`: what is read, for the log.
  void add(std::string name, Act act) {
    participants_.push_back({std::move(name), std::move(act)});
  }
  // Tries all; the log has one line for each.
  std::vector<Outcome> run() const;

 private:
  struct Participant {
    std::string name;
    Act act;
  };

  std::vector<Participant> participants_;
};

}  // namespace weir::server
