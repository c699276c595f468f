// What is done with a Config: it is loaded at the start, and CONFIG GET, CONFIG SET and CONFIG
// REWRITE show, change and keep it.
//
// Invariants:
//  1. config_set and load_config change nothing when they report an error.
//  2. Every error is one line, whatever bytes the input holds.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "server/config/config.h"
#include "server/config/config_file.h"

namespace weir::server {

// Fills *config from the defaults, then from the file if argv[1] does not begin with "--", then
// from "--name value [value...]"; the later wins. argv[0] is ignored.
Result<void, ConfigError> load_config(int argc, const char* const* argv, Config* config);

// CONFIG GET: answers the names that match any of the glob patterns, with their values as text.
// Names are in lower case and table order, aliases included, each once.
std::vector<std::pair<std::string, std::string>> config_get(
    const Config& config, std::span<const std::string_view> patterns);

// CONFIG SET name value [name value ...]: sets all or nothing. The error is Redis' text ("ERR
// ..."). *changed receives the names (never aliases) whose value differs now; the caller applies
// those that need more than the field.
Result<void, std::string> config_set(Config* config, std::span<const std::string_view> pairs,
                                     std::vector<std::string>* changed = nullptr);

// CONFIG REWRITE: makes config.config_file say what `config` says, its users too. Comments, order
// and lines that already say it are kept; the file is replaced atomically. The error is a whole
// line, "ERR ...".
Result<void, std::string> config_rewrite(const Config& config);

// Writes one line per option for --help: name, accepted values, default, what it does.
std::string config_usage();

}  // namespace weir::server
