// What compiled code says of itself.
#pragma once

struct lua_State;

namespace weir::server::script {

// Tells whether the function on top of the stack, or one that it makes when it runs, may assign to
// a global variable: one instruction of Lua 5.1 does, and nothing else can name the table of
// globals. True also of code that is too long to look at. Never raises.
bool may_assign_globals(lua_State* L);

}  // namespace weir::server::script
