// Redis' error texts for requests that are refused before a command runs.
#pragma once

#include <string>

#include "server/command/command.h"
#include "server/command/command_table.h"

namespace weir::server {

// True for the first words of a browser whose page makes it connect to a port of this machine.
bool is_cross_protocol_request(Args args);

std::string unknown_command_error(const CommandTable& table, Args args);
std::string arity_error(const Command& command);
// Tells whether the arity fits; `args` is the number of words, the command's name included.
inline bool arity_fits(const Command& command, size_t args) {
  const auto count = static_cast<int64_t>(args);
  return command.arity >= 0 ? count == command.arity : count >= -command.arity;
}

}  // namespace weir::server
