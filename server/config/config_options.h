// The table of configuration options: one row per option.
//
// Everything that knows an option by name (the file, the command line, CONFIG, --help) goes through
// these rows. To add an option: a field in Config, a row in config_options.cc, a paragraph in
// weir.conf (a test compares the three).
//
// Invariant: names and aliases are lower case and unique.
#pragma once

#include <span>
#include <string_view>

#include "server/config/option.h"

namespace weir::server {

std::span<const Option> config_options();

// Finds an option by name or alias, in any case; null if there is none.
const Option* find_option(std::string_view name);

// Tells whether the value of an option is a secret, of Redis' options too that weir has not: who
// sets one of those by mistake has shown it all the same.
bool is_secret_option(std::string_view name);

// Finds the option whose name is a few typing errors away from `name`; null if none is near.
const Option* nearest_option(std::string_view name);

}  // namespace weir::server
