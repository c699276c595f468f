// What is checked before a script or a function runs.
#pragma once

#include <optional>

#include "server/command.h"

namespace weir::server::script {

// How many of the arguments behind the number are keys; nothing when the error has been replied.
std::optional<size_t> key_count(Call& call, int64_t count);

// Whether one with these flags may run now; else the error has been replied.
bool may_run(Call& call, uint32_t flags, bool read_only);

}  // namespace weir::server::script
