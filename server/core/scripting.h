// The parts that run Lua, and the one that serves others while it runs long.
#pragma once

#include "server/core/busy_script.h"
#include "server/script/functions.h"
#include "server/script/scripts.h"

namespace weir::server {

struct Scripting {
  Scripting(ScriptHost* host, const Config* config, Turn* turn)
      : scripts(host), functions(host), busy(config, turn) {}

  script::Scripts scripts;
  script::Functions functions;
  BusyScript busy;
};

}  // namespace weir::server
