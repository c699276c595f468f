// Read-only tables in stock Lua.
//
// A shared table stays hidden: scripts get a stand-in, an empty table whose metatable reads from
// the shared one and refuses writes. Reads take one step more. Functions that write past metatables
// (rawset, table.insert) must ask here first.
//
// Invariant: no function gives a script the hidden table, nor the stand-in's metatable.
#pragma once

struct lua_State;

namespace weir::server::script {

// Replaces the table on top of the stack by a stand-in for it.
void protect_top(lua_State* L);

// If a stand-in is at `index`, pushes the table that it hides and answers true; otherwise pushes
// nothing.
bool push_protected(lua_State* L, int index);

// Raises an error when a stand-in is at `index`.
void refuse_protected(lua_State* L, int index);

}  // namespace weir::server::script
