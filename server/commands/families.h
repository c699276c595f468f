// Every family of commands: a new family is one line here and one in families.cc.
#pragma once

#include <span>

#include "server/command.h"

namespace weir::server {

Commands connection_commands();  // PING, HELLO, AUTH, SELECT, CLIENT ...
Commands throttle_commands();    // CL.THROTTLE, THROTTLE

std::span<const Commands> command_families();

}  // namespace weir::server
