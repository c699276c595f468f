// The parts that run Lua, what the server does for them, and the one that serves others while Lua
// runs long.
#pragma once

#include "server/core/run/busy_script.h"
#include "server/core/run/script_service.h"
#include "server/script/run/functions.h"
#include "server/script/run/scripts.h"

namespace weir::server {

struct Scripting {
  Scripting(Server* server, const Config* config, Turn* turn)
      : host(server), scripts(&host), functions(&host), busy(config, turn) {}

  ScriptService host;
  script::Scripts scripts;
  script::Functions functions;
  BusyScript busy;
};

}  // namespace weir::server
