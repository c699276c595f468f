// Functions of Lua's base library, made safe: they know the stand-ins of lua/protect.h, take text
// and no bytecode, and change nothing that outlives the script.
#include <cstdint>
#include <cstring>
#include <lua.hpp>

#include "server/script/libraries/sandbox.h"
#include "server/script/lua/context.h"
#include "server/script/lua/looks.h"
#include "server/script/lua/protect.h"

namespace weir::server::script {
namespace {

constexpr size_t kDigitNs = 2;
constexpr char kBytecodeMark = LUA_SIGNATURE[0];

// Puts a space before bytecode, so that it is read as text and refused as such.
void space_bytecode(lua_State* L, int index) {
  const char* text = lua_tostring(L, index);
  if (text[0] != kBytecodeMark) return;
  lua_pushliteral(L, " ");
  lua_pushvalue(L, index);
  lua_concat(L, 2);
  lua_replace(L, index);
}

// Compiles the string at `index` under the name at the top of the stack. The parser keeps no
// reference of its own to a chunk's name while it works; the stack keeps it.
int load_text(lua_State* L, int index) {
  space_bytecode(L, index);
  size_t size = 0;
  const char* text = lua_tolstring(L, index, &size);
  const char* name = lua_tostring(L, -1);
  lua_pushlstring(L, name, std::strlen(name));
  if (load_watched(L, {text, size}, lua_tostring(L, -1)) == 0) return 1;
  lua_pushnil(L);
  lua_insert(L, -2);
  return 2;
}

// Calls the handler of xpcall, upvalue 1. It runs where the error was raised. While a script is
// being stopped that is inside the hook, where no hook could stop the handler, so it is not called
// then.
int call_handler(lua_State* L) {
  if (context_of(L).stop != Stop::kNone) return 1;
  lua_settop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, 1, 1);
  return 1;
}

// Calls Lua's own function, upvalue 1, whose time grows with the table. It is called as part of
// this call and not as another one, so that its errors name the place in the script.
int call_charged(lua_State* L, size_t element_ns) {
  if (lua_istable(L, 1)) charge(L, element_ns * lua_objlen(L, 1));
  const lua_CFunction own = lua_tocfunction(L, lua_upvalueindex(1));
  return own(L);
}

}  // namespace

// Digits and blanks are read one after another. Lua's own function reads a text twice: whether it
// is a number, and which.
int safe_tonumber(lua_State* L) {
  const int type = lua_type(L, 1);
  if (type == LUA_TSTRING) charge(L, kDigitNs * lua_objlen(L, 1));
  if (lua_gettop(L) != 1 || (type != LUA_TSTRING && type != LUA_TNUMBER))
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
  if (type == LUA_TNUMBER) return 1;
  const lua_Number number = lua_tonumber(L, 1);  // 0 for what is none, too
  if (number == 0 && lua_isnumber(L, 1) == 0) {
    lua_pushnil(L);
  } else {
    lua_pushnumber(L, number);
  }
  return 1;
}

// Makes a coroutine, or a function that resumes one, whose clock is watched from its beginning.
int watched_coroutine(lua_State* L) {
  const int made = lua_tocfunction(L, lua_upvalueindex(1))(L);
  const bool is_function = lua_getupvalue(L, -1, 1) != nullptr;
  watch(lua_tothread(L, -1));
  if (is_function) lua_pop(L, 1);
  return made;
}

int safe_loadstring(lua_State* L) {
  luaL_checkstring(L, 1);
  luaL_optstring(L, 2, "");
  lua_settop(L, 2);
  if (lua_isnil(L, 2)) lua_pushvalue(L, 1);
  return load_text(L, 1);
}

int safe_load(lua_State* L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  luaL_optstring(L, 2, "=(load)");
  lua_settop(L, 2);
  lua_newtable(L);
  int pieces = 0;
  for (;;) {
    lua_pushvalue(L, 1);
    lua_call(L, 0, 1);
    if (lua_isnil(L, -1)) break;
    if (!lua_isstring(L, -1)) return luaL_error(L, "reader function must return a string");
    size_t size = 0;
    lua_tolstring(L, -1, &size);
    if (size == 0) break;
    lua_rawseti(L, 3, ++pieces);
  }
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  for (int i = 1; i <= pieces; ++i) {
    lua_rawgeti(L, 3, i);
    luaL_addvalue(&buffer);
  }
  luaL_pushresult(&buffer);
  const int text = lua_gettop(L);
  if (lua_isnil(L, 2)) {
    lua_pushliteral(L, "=(load)");
  } else {
    lua_pushvalue(L, 2);
  }
  return load_text(L, text);
}

// The engine sets the pace of collection; a script may only ask for work to be done now.
int safe_collectgarbage(lua_State* L) {
  static const char* const kNames[] = {"stop", "restart",  "collect",    "count",
                                       "step", "setpause", "setstepmul", nullptr};
  constexpr int kPause = 200;  // Lua's default
  switch (luaL_checkoption(L, 1, "collect", kNames)) {
    case 2:
      charge(L, context_of(L).memory.used());
      lua_gc(L, LUA_GCCOLLECT, 0);
      break;
    case 3:
      lua_pushnumber(L, lua_gc(L, LUA_GCCOUNT, 0) + lua_gc(L, LUA_GCCOUNTB, 0) / 1024.0);
      return 1;
    case 4:
      lua_pushboolean(L, lua_gc(L, LUA_GCSTEP, luaL_optint(L, 2, 0)));
      return 1;
    case 5:
    case 6:
      lua_pushnumber(L, kPause);
      return 1;
    default:
      break;
  }
  lua_pushnumber(L, 0);
  return 1;
}

int safe_getmetatable(lua_State* L) {
  luaL_checkany(L, 1);
  if (push_protected(L, 1)) lua_replace(L, 1);
  if (lua_getmetatable(L, 1) == 0) {
    lua_pushnil(L);
    return 1;
  }
  luaL_getmetafield(L, 1, "__metatable");
  return 1;
}

int safe_setmetatable(lua_State* L) {
  const int type = lua_type(L, 2);
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_argcheck(L, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table expected");
  refuse_protected(L, 1);
  if (luaL_getmetafield(L, 1, "__metatable") != 0)
    return luaL_error(L, "cannot change a protected metatable");
  lua_settop(L, 2);
  lua_setmetatable(L, 1);
  return 1;
}

int safe_rawget(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checkany(L, 2);
  lua_settop(L, 2);
  if (push_protected(L, 1)) lua_replace(L, 1);
  lua_rawget(L, 1);
  return 1;
}

int safe_rawset(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checkany(L, 2);
  luaL_checkany(L, 3);
  lua_settop(L, 3);
  refuse_protected(L, 1);
  lua_rawset(L, 1);
  return 1;
}

int safe_next(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 2);
  if (push_protected(L, 1)) lua_replace(L, 1);
  if (lua_next(L, 1) != 0) return 2;
  lua_pushnil(L);
  return 1;
}

int safe_pairs(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_pushcfunction(L, safe_next);
  lua_pushvalue(L, 1);
  lua_pushnil(L);
  return 3;
}

// An error that is a table with a text under "err" is answered as that text.
int safe_pcall(lua_State* L) {
  lua_pushboolean(L, 1);
  lua_insert(L, 1);
  if (lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 0) == 0) return lua_gettop(L);
  lua_settop(L, 2);
  if (lua_istable(L, 2)) {
    lua_pushliteral(L, "err");
    lua_rawget(L, 2);
    lua_isstring(L, 3) ? lua_replace(L, 2) : lua_pop(L, 1);
  }
  lua_pushboolean(L, 0);
  lua_replace(L, 1);
  return 2;
}

int safe_xpcall(lua_State* L) {
  luaL_checkany(L, 2);
  lua_settop(L, 2);
  lua_pushcclosure(L, call_handler, 1);
  lua_insert(L, 1);
  const bool failed = lua_pcall(L, 0, LUA_MULTRET, 1) != 0;
  lua_pushboolean(L, !failed);
  lua_replace(L, 1);
  return lua_gettop(L);
}

int safe_unpack(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  const int64_t first = luaL_optint(L, 2, 1);
  const int64_t last = luaL_opt(L, luaL_checkint, 3, static_cast<int>(lua_objlen(L, 1)));
  if (first > last) return 0;
  const int64_t count = last - first + 1;
  if (count > INT32_MAX || lua_checkstack(L, static_cast<int>(count)) == 0)
    return luaL_error(L, "too many results to unpack");
  for (int64_t i = first; i <= last; ++i) lua_rawgeti(L, 1, static_cast<int>(i));
  return static_cast<int>(count);
}

int safe_table_insert(lua_State* L) {
  refuse_protected(L, 1);
  return call_charged(L, 2);
}

int safe_table_remove(lua_State* L) {
  refuse_protected(L, 1);
  return call_charged(L, 2);
}

int safe_table_walk(lua_State* L) { return call_charged(L, 5); }

int safe_string_change(lua_State* L) {
  charge(L, 2 * lua_objlen(L, 1));
  return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

int safe_table_sort(lua_State* L) {
  refuse_protected(L, 1);
  constexpr size_t kElementNs = 100;
  return call_charged(L, kElementNs);
}

}  // namespace weir::server::script
