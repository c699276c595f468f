#include "server/script/lua/protect.h"

#include <lua.hpp>

namespace weir::server::script {
namespace {

char tag;  // no script can make its address, which is the key

int refuse_write(lua_State* L) { return luaL_error(L, "Attempt to modify a readonly table"); }

}  // namespace

void protect_top(lua_State* L) {
  lua_newtable(L);  // the stand-in
  lua_createtable(L, 0, 3);
  lua_pushlightuserdata(L, &tag);
  lua_pushvalue(L, -4);
  lua_rawset(L, -3);
  lua_pushvalue(L, -3);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, refuse_write);
  lua_setfield(L, -2, "__newindex");
  lua_setmetatable(L, -2);
  lua_remove(L, -2);
}

bool push_protected(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TTABLE || !lua_getmetatable(L, index)) return false;
  lua_pushlightuserdata(L, &tag);
  lua_rawget(L, -2);
  lua_remove(L, -2);
  if (lua_istable(L, -1)) return true;
  lua_pop(L, 1);
  return false;
}

void refuse_protected(lua_State* L, int index) {
  if (!push_protected(L, index)) return;
  lua_pushliteral(L, "Attempt to modify a readonly table");
  lua_error(L);
}

}  // namespace weir::server::script
