// Makes the reply from what a script returned.
#pragma once

#include <cstddef>

#include "resp/reply.h"

struct lua_State;

namespace weir::server::script {

struct ReplyRules {
  int script_protocol = 2;  // redis.setresp
  size_t bytes_max = 0;     // the most bytes of the reply, counted from the buffer's beginning
};

// Writes the value on top of the stack, and answers whether it fits. If not, the buffer holds half
// a reply, which the caller cuts off. Metatables are not used. May raise (memory).
// REQUIRES: the function that runs may push names (names.h).
bool write_reply(lua_State* L, resp::ReplyWriter& reply, const ReplyRules& rules);

}  // namespace weir::server::script
