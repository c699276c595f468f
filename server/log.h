// weir's log: one line per event, to a file or to stderr. Everything in server/ logs through here.
#pragma once

#include <spdlog/spdlog.h>

#include <string>

#include "server/config.h"

namespace weir::server {

// Opens the log as configured, or says why it could not.
std::string start_log(const Config& config);
// The log file has been moved away: opens it anew under its name.
void reopen_log();
void set_log_level(LogLevel level);

}  // namespace weir::server
