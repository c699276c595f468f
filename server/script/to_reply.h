// From what a script returned to its reply.
#pragma once

#include <cstddef>

#include "resp/reply.h"

struct lua_State;

namespace weir::server::script {

struct ReplyRules {
  int script_protocol = 2;  // redis.setresp
  size_t bytes_max = 0;     // of the reply, counted from the buffer's beginning
};

// Writes the value on top of the stack. Answers whether it fits; else what stands in the buffer is
// half a reply, and the caller cuts it off. Metatables are not asked. May raise (memory).
bool write_reply(lua_State* L, resp::ReplyWriter& reply, const ReplyRules& rules);

}  // namespace weir::server::script
