// weir's log: one line per event, to a file or to stderr. All of server/ logs through it.
#pragma once

#include <spdlog/spdlog.h>

#include <string>

#include "server/os/log_level.h"

namespace weir::server {

// Opens the log: the file `path`, or stderr if that is empty. Answers why it could not, or "".
std::string start_log(const std::string& path, LogLevel level);
// Opens the log anew under its name, after its file was moved away. Answers why it could not, or
// ""; it then goes on in the old file.
std::string reopen_log();
void set_log_level(LogLevel level);

}  // namespace weir::server
