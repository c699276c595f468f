// The checks before a script or a function runs.
#pragma once

#include "server/command/command.h"
#include "server/command/error_replied.h"
#include "server/script/lua/script_host.h"

namespace weir::server::script {

// Answers how many of the arguments after the number are keys.
Result<size_t, ErrorReplied> key_count(Call& call, int64_t count);

// Checks that a script with these flags may run now.
Result<void, ErrorReplied> check_may_run(const ScriptHost& host, Call& call, uint32_t flags,
                                         bool read_only);

}  // namespace weir::server::script
