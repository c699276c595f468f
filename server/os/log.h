// weir's log: one line per event, to a file or to stderr. All of server/ logs through it.
//
// Lines name what others choose: clients, users, keys, files, words of scripts and of other
// servers. So each line passes log_text() on its way out, whatever its format is.
//
// On stderr each line begins with "<N>", its priority as syslog(3) numbers them, where systemd's
// journal takes it: `journalctl -p warning` finds it then.
#pragma once

#include <fmt/core.h>

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/os/log_format.h"
#include "server/os/log_level.h"
#include "server/os/reloaded.h"

namespace weir::server {

// Answers an event's text in printable ASCII: any other byte as \xHH, so that nothing in it ends
// the line or is obeyed by a terminal.
std::string log_text(std::string_view text);
// Opens the log: the file `path`, or stderr if that is empty.
Result<void, std::string> start_log(const std::string& path, LogLevel level,
                                    LogFormat format = LogFormat::kText);
// Opens the log anew under its name, after its file was moved away. If it cannot, the log goes on
// in the old file.
Result<Reloaded, std::string> reopen_log();
void set_log_level(LogLevel level);
// Sends what is still in memory to the file.
void flush_log();

// How much an event matters.
enum class EventLevel { kDebug, kInfo, kWarning, kError, kCritical };

// What a line has beside its text: ` name=value` after it, or a member of the object of JSON. The
// name is a word; the value any text.
struct LogField {
  std::string_view name;
  std::string value;
};
// Writes a line whatever `loglevel` leaves out, short of `nothing`.
void log_always(EventLevel level, std::string_view text, std::span<const LogField> fields);

// Answers what a line on stderr begins with: "<4>" where the journal takes it, else "".
std::string_view stderr_priority(EventLevel level);

// Where lines go, for who has to write one without the log, in a signal handler.
struct LogTarget {
  int descriptor;
  LogFormat format;
  bool has_priorities;  // the journal takes what goes to stderr
};
// May be called in a signal handler.
LogTarget log_target();

// Writes a line whose text `format` and its arguments make, in fmt's syntax. One function serves
// all callers, since what formats takes long to compile.
void write_log(EventLevel level, fmt::string_view format, fmt::format_args args);

template <typename... Args>
void log_event(EventLevel level, fmt::format_string<Args...> format, Args&&... args) {
  write_log(level, format, fmt::make_format_args(args...));
}

template <typename... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
  write_log(EventLevel::kDebug, format, fmt::make_format_args(args...));
}
template <typename... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  write_log(EventLevel::kInfo, format, fmt::make_format_args(args...));
}
template <typename... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  write_log(EventLevel::kWarning, format, fmt::make_format_args(args...));
}
template <typename... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  write_log(EventLevel::kError, format, fmt::make_format_args(args...));
}
template <typename... Args>
void log_critical(fmt::format_string<Args...> format, Args&&... args) {
  write_log(EventLevel::kCritical, format, fmt::make_format_args(args...));
}

}  // namespace weir::server
