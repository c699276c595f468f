#include "server/script/libraries/sandbox.h"

#include <lua.hpp>

#include "server/script/lua/protect.h"

namespace weir::server::script {
namespace {

constexpr const char* kBase[] = {"_VERSION", "assert", "error",    "gcinfo", "ipairs",
                                 "rawequal", "select", "tostring", "type"};
constexpr const char* kString[] = {"byte", "char", "dump", "format", "len", "sub"};
constexpr const char* kTable[] = {"foreach", "foreachi", "getn", "setn"};
constexpr const char* kMath[] = {"abs",   "acos", "asin",  "atan", "atan2", "ceil", "cos",   "cosh",
                                 "deg",   "exp",  "floor", "fmod", "frexp", "huge", "ldexp", "log",
                                 "log10", "max",  "min",   "mod",  "modf",  "pi",   "pow",   "rad",
                                 "sin",   "sinh", "sqrt",  "tan",  "tanh"};
constexpr const char* kCoroutine[] = {"resume", "running", "status", "yield"};

constexpr luaL_Reg kReplaced[] = {{"collectgarbage", safe_collectgarbage},
                                  {"getmetatable", safe_getmetatable},
                                  {"setmetatable", safe_setmetatable},
                                  {"rawget", safe_rawget},
                                  {"rawset", safe_rawset},
                                  {"next", safe_next},
                                  {"pairs", safe_pairs},
                                  {"pcall", safe_pcall},
                                  {"xpcall", safe_xpcall},
                                  {"unpack", safe_unpack},
                                  {"load", safe_load},
                                  {"loadstring", safe_loadstring}};

constexpr luaL_Reg kSearching[] = {{"find", safe_find},
                                   {"match", safe_match},
                                   {"gmatch", safe_gmatch},
                                   {"gfind", safe_gmatch},
                                   {"gsub", safe_gsub}};

void open(lua_State* L, lua_CFunction library, const char* name) {
  lua_pushcfunction(L, library);
  lua_pushstring(L, name);
  lua_call(L, 1, 0);
}

// Copies named fields of the table below the top to the table on top.
template <size_t N>
void copy_fields(lua_State* L, const char* const (&names)[N]) {
  for (const char* name : names) {
    lua_getfield(L, -2, name);
    lua_setfield(L, -2, name);
  }
}

// Pushes a table with the named fields of the global library.
template <size_t N>
void push_part(lua_State* L, const char* library, const char* const (&names)[N]) {
  lua_getglobal(L, library);
  lua_newtable(L);
  copy_fields(L, names);
  lua_remove(L, -2);
}

template <size_t N>
void add_functions(lua_State* L, const luaL_Reg (&functions)[N]) {
  for (const luaL_Reg& function : functions) {
    lua_pushcfunction(L, function.func);
    lua_setfield(L, -2, function.name);
  }
}

void set_protected(lua_State* L, const char* name) {
  protect_top(L);
  lua_setfield(L, -2, name);
}

int refuse_global(lua_State* L) {
  return luaL_error(L, "Script attempted to access nonexistent global variable '%s'",
                    lua_isstring(L, 2) ? lua_tostring(L, 2) : luaL_typename(L, 2));
}

// Gives all strings a metatable that indexes the library which scripts see, and that shows a
// stand-in of itself.
void bind_strings(lua_State* L) {
  lua_pushliteral(L, "");
  lua_getmetatable(L, -1);
  lua_getfield(L, -3, "string");
  lua_setfield(L, -2, "__index");
  lua_newtable(L);
  lua_getfield(L, -4, "string");
  lua_setfield(L, -2, "__index");
  protect_top(L);
  lua_setfield(L, -2, "__metatable");
  lua_pop(L, 2);
}

// A global that does not exist is an error and not nil.
void bind_missing_globals(lua_State* L) {
  lua_newtable(L);
  lua_pushcfunction(L, refuse_global);
  lua_setfield(L, -2, "__index");
  lua_newtable(L);
  lua_pushcfunction(L, refuse_global);
  lua_setfield(L, -2, "__index");
  protect_top(L);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
}

// Adds a library's function that may take long, in a wrapper that charges for it.
void add_charged(lua_State* L, const char* library, const char* name, lua_CFunction wrapper) {
  lua_getglobal(L, library);
  lua_getfield(L, -1, name);
  lua_remove(L, -2);
  lua_pushcclosure(L, wrapper, 1);
  lua_setfield(L, -2, name);
}

void add_base(lua_State* L) {
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  lua_insert(L, -2);
  copy_fields(L, kBase);
  lua_remove(L, -2);
  add_functions(L, kReplaced);
  add_charged(L, "_G", "tonumber", safe_tonumber);
}

void add_tables(lua_State* L) {
  push_part(L, "string", kString);
  add_functions(L, kSearching);
  add_charged(L, "string", "rep", safe_rep);
  for (const char* name : {"lower", "reverse", "upper"})
    add_charged(L, "string", name, safe_string_change);
  set_protected(L, "string");
  push_part(L, "table", kTable);
  add_charged(L, "table", "concat", safe_table_walk);
  add_charged(L, "table", "maxn", safe_table_walk);
  add_charged(L, "table", "insert", safe_table_insert);
  add_charged(L, "table", "remove", safe_table_remove);
  add_charged(L, "table", "sort", safe_table_sort);
  set_protected(L, "table");
  push_part(L, "math", kMath);
  lua_pushcfunction(L, seeded_random);
  lua_setfield(L, -2, "random");
  lua_pushcfunction(L, seed_random);
  lua_setfield(L, -2, "randomseed");
  set_protected(L, "math");
  push_part(L, "coroutine", kCoroutine);
  add_charged(L, "coroutine", "create", watched_coroutine);
  add_charged(L, "coroutine", "wrap", watched_coroutine);
  set_protected(L, "coroutine");
}

void add_libraries(lua_State* L, World world) {
  push_redis_library(L, world);
  set_protected(L, "redis");
  push_bit_library(L);
  set_protected(L, "bit");
  push_cjson_library(L);
  set_protected(L, "cjson");
  push_struct_library(L);
  set_protected(L, "struct");
  push_cmsgpack_library(L);
  set_protected(L, "cmsgpack");
}

}  // namespace

void build_world(lua_State* L, World world) {
  open(L, luaopen_base, "");
  open(L, luaopen_string, LUA_STRLIBNAME);
  open(L, luaopen_table, LUA_TABLIBNAME);
  open(L, luaopen_math, LUA_MATHLIBNAME);
  lua_newtable(L);
  add_base(L);
  add_tables(L);
  add_libraries(L, world);
  bind_strings(L);
  bind_missing_globals(L);
  lua_pushvalue(L, -1);
  protect_top(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "_G");
  lua_replace(L, LUA_GLOBALSINDEX);
}

void push_loading_world(lua_State* L) {
  lua_newtable(L);
  push_loading_redis_library(L);
  bind_missing_globals(L);
  set_protected(L, "redis");
  bind_missing_globals(L);
}

void show_world(lua_State* L) {
  lua_getmetatable(L, LUA_GLOBALSINDEX);
  lua_insert(L, -2);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

}  // namespace weir::server::script
