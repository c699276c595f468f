// The text that a library is writing for a script: JSON, MessagePack.
#pragma once

#include <string_view>

#include "server/script/lua/context.h"

namespace weir::server::script {

// Appends to context.text; raises when the script's memory does not allow it.
void add_text(lua_State* L, Context& context, std::string_view bytes);

}  // namespace weir::server::script
