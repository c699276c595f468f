// The checks before a script or a function runs.
#pragma once

#include <optional>

#include "server/command/command.h"
#include "server/script/script_host.h"

namespace weir::server::script {

// Answers how many of the arguments after the number are keys; nothing when an error has been
// replied.
std::optional<size_t> key_count(Call& call, int64_t count);

// Tells whether a script with these flags may run now; if not, an error has been replied.
bool may_run(const ScriptHost& host, Call& call, uint32_t flags, bool read_only);

}  // namespace weir::server::script
