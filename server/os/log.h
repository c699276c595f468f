// weir's log: one line per event, to a file or to stderr. All of server/ logs through it.
//
// Lines name what others choose: clients, users, keys, files, words of scripts and of other
// servers. So each line passes log_text() on its way out.
#pragma once

#include <spdlog/spdlog.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "server/os/log_level.h"

namespace weir::server {

// Answers an event's text in printable ASCII: any other byte as \xHH, so that nothing in it ends
// the line or is obeyed by a terminal.
std::string log_text(std::string_view text);
// Opens the log: the file `path`, or stderr if that is empty.
Result<void, std::string> start_log(const std::string& path, LogLevel level);
// Opens the log anew under its name, after its file was moved away. If it cannot, the log goes on
// in the old file.
Result<void, std::string> reopen_log();
void set_log_level(LogLevel level);

}  // namespace weir::server
