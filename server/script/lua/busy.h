// A script that has run for so long that other clients are told about it.
//
// While it runs, sockets are read, and every request is answered BUSY, except for the few commands
// whose rows say kAllowBusy: above all those that end it. Nothing else happens: no command touches
// data, no message is delivered, no session of the turn is served. Because its turn can be taken
// back, a script can be ended after it has written, too. What is given up is answering the sessions
// that have a part in the turn.
#pragma once

#include <cstdint>
#include <string_view>

#include "server/command/command.h"

namespace weir::server {

struct RunningScript {
  bool is_function = false;
  std::string_view name;  // the function's name, or the script's SHA-1
  Args command;
  int64_t begin_steady_ns = 0;
};

// Answers "BUSY ...", with the command that ends the script.
std::string_view busy_error(const RunningScript& script);

}  // namespace weir::server
