// Where configuration is written: a file in redis.conf's syntax, and the command line.
//
// A line is "name word [word...]"; blank lines and lines that begin with # say nothing. "include
// path" reads another file in its place: the path is relative to the folder of the including file,
// and may be a glob pattern that matches nothing. "user name rule ..." lines are collected.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/config/config.h"

namespace weir::server {

struct ConfigError {
  std::string message;  // "weir.conf:12: port must be between 0 and 65535, got '70000'"
};

// Reads the whole file; the error does not name a place.
Result<void, ConfigError> read_config_text(const std::string& path, std::string* text);

std::vector<std::string> split_lines(const std::string& text);

// Applies the file's lines to *config, later lines winning. Stops at the first error, which names
// file and line; *config is then half filled.
Result<void, ConfigError> apply_config_file(const std::string& path, Config* config);

// Applies "--name value [value...]" and so on. If it fails, *config is half filled, too.
Result<void, ConfigError> apply_command_line(std::span<const char* const> arguments,
                                             Config* config);

}  // namespace weir::server
