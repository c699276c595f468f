// Offline tools, which weir-server runs in place of serving: --check, --restore, --import,
// --new-shard, --leave-shard.
//
// Each prints what it has found on standard output, what is wrong on standard error, each line with
// the program's name, and on a terminal how far it is. The exit code is 0 only if all is well.
#pragma once

#include <optional>
#include <span>

#include "server/command/command_table.h"

namespace weir::server {

// Answers the exit code if the first argument is one of these words.
std::optional<int> run_offline_tool(int argc, char** argv, std::span<const Commands> lists);

// The lines of --help.
const char* offline_tools_usage();

}  // namespace weir::server
