// The world a script sees: what Redis 7 shows of Lua's own libraries, read-only.
//
// Only names on the lists here exist. A function that would reach the process, load bytecode, write
// a shared table or outlive the script is absent, replaced or refused.
#pragma once

#include "server/script/lua/context.h"

struct lua_State;

namespace weir::server::script {

// Builds the world of a fresh state, makes it the globals and pushes the table that holds the
// globals, where KEYS and ARGV are put for each run of a script. Raises when memory is short.
void build_world(lua_State* L, World world);

// Pushes the world that a library sees while it is loaded: it can register functions, and log.
void push_loading_world(lua_State* L);

// Makes the table on top of the stack, which is popped, the globals from now on. Raises when memory
// is short.
void show_world(lua_State* L);

// These functions replace Lua's own: base_functions.cc, string_functions.cc, random.cc.
int safe_collectgarbage(lua_State* L);
int safe_getmetatable(lua_State* L);
int safe_setmetatable(lua_State* L);
int safe_rawget(lua_State* L);
int safe_rawset(lua_State* L);
int safe_next(lua_State* L);
int safe_pairs(lua_State* L);
int safe_pcall(lua_State* L);
int safe_xpcall(lua_State* L);
int safe_unpack(lua_State* L);
int safe_load(lua_State* L);
int safe_loadstring(lua_State* L);

// These replace functions of Lua's that may take long; upvalue 1 is Lua's own function.
int safe_tonumber(lua_State* L);
int watched_coroutine(lua_State* L);  // create, wrap
int safe_table_insert(lua_State* L);
int safe_table_remove(lua_State* L);
int safe_table_sort(lua_State* L);
int safe_table_walk(lua_State* L);     // concat, maxn
int safe_string_change(lua_State* L);  // lower, reverse, upper
int safe_rep(lua_State* L);

// These are Lua's patterns: string_functions.cc.
int safe_find(lua_State* L);
int safe_match(lua_State* L);
int safe_gmatch(lua_State* L);
int safe_gsub(lua_State* L);
int seeded_random(lua_State* L);
int seed_random(lua_State* L);

int register_function(lua_State* L);  // register_function.cc

// These are libraries; each pushes its table.
void push_redis_library(lua_State* L, World world);
void push_loading_redis_library(lua_State* L);
void push_bit_library(lua_State* L);
void push_cjson_library(lua_State* L);
void push_struct_library(lua_State* L);
void push_cmsgpack_library(lua_State* L);

}  // namespace weir::server::script
