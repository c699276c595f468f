// A script that has run for so long that others are told about it.
//
// While it runs, sockets are read, and whoever asks for anything is answered BUSY, but for the few
// commands whose rows say kAllowBusy: above all those that end it. Nothing else happens: no command
// touches data, no message is delivered, no session of the turn is served.
#pragma once

#include <cstdint>
#include <string_view>

#include "server/command.h"

namespace weir::server {

struct RunningScript {
  bool is_function = false;
  std::string_view name;  // the function's, or the script's SHA-1
  Args command;
  int64_t begin_steady_ns = 0;
};

// "BUSY ...", with the command that ends it.
std::string_view busy_error(const RunningScript& script);

}  // namespace weir::server
