// weir's log: one line per event, to a file or to stderr. All of server/ logs through it.
#pragma once

#include <spdlog/spdlog.h>

#include <string>

#include "base/result.h"
#include "server/os/log_level.h"

namespace weir::server {

// Opens the log: the file `path`, or stderr if that is empty.
Result<void, std::string> start_log(const std::string& path, LogLevel level);
// Opens the log anew under its name, after its file was moved away. If it cannot, the log goes on
// in the old file.
Result<void, std::string> reopen_log();
void set_log_level(LogLevel level);

}  // namespace weir::server
