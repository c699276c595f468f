// The parts that run Lua, what the server does for them, and the one that serves others while Lua
// runs long.
#pragma once

#include "server/core/run/busy_script.h"
#include "server/core/run/script_service.h"
#include "server/script/run/functions.h"
#include "server/script/run/scripts.h"

namespace weir::server {

struct Scripting {
  // What those need who run scripts, beside the parts here.
  struct Needs {
    ScriptHost::Needs host;
    Executor* executor;
    ShardRole* shard_role;
    const StorageHealth* health;
    Turn* turn;
  };
  explicit Scripting(const Needs& needs)
      : busy(needs.host.config, needs.turn),
        host(needs.host, {.executor = needs.executor,
                          .shard_role = needs.shard_role,
                          .health = needs.health,
                          .busy = &busy}),
        scripts(&host),
        functions(&host) {}

  BusyScript busy;
  ScriptService host;
  script::Scripts scripts;
  script::Functions functions;
};

}  // namespace weir::server
