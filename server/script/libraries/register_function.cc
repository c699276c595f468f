// redis.register_function: called by a library while it is loaded.
//
// Invariant: a registration is in the list, whole, before Lua may raise.
#include <lua.hpp>

#include "server/script/libraries/sandbox.h"
#include "server/script/lua/context.h"
#include "server/script/lua/shebang.h"

namespace weir::server::script {
namespace {

// Where the parts of a registration are on the stack; 0: the part was not given.
struct Parts {
  int name = 0;
  int function = 0;
  int description = 0;
  uint32_t flags = 0;
};

std::string_view field_text_at(lua_State* L, int index) {
  size_t size = 0;
  const char* bytes = lua_tolstring(L, index, &size);
  return {bytes, size};
}

uint32_t flags_of(lua_State* L, int table) {
  uint32_t flags = 0;
  for (int i = 1;; ++i) {
    lua_rawgeti(L, table, i);
    if (lua_isnil(L, -1)) break;
    const uint32_t flag = lua_type(L, -1) == LUA_TSTRING ? script_flag(field_text_at(L, -1)) : 0;
    if (flag == 0) raise_error_table(L, "ERR unknown flag given");
    flags |= flag;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return flags;
}

// Takes the entry whose key and value are on top of the stack. What is kept of it is copied below.
void take_named(lua_State* L, Parts* parts) {
  if (lua_type(L, -2) != LUA_TSTRING) {
    raise_error_table(L, lua_isnumber(L, -2)
                             ? "ERR unknown argument given to redis.register_function"
                             : "ERR named argument key given to redis.register_function is not a "
                               "string");
  }
  const std::string_view key = field_text_at(L, -2);
  const auto keep = [L](int place) {
    lua_pushvalue(L, -1);
    lua_replace(L, place);
    return place;
  };
  if (key == "function_name") {
    if (lua_isstring(L, -1) == 0)
      raise_error_table(
          L, "ERR function_name argument given to redis.register_function must be a string");
    parts->name = keep(2);
  } else if (key == "description") {
    if (lua_isstring(L, -1) == 0)
      raise_error_table(L,
                        "ERR description argument given to redis.register_function must be a "
                        "string");
    parts->description = keep(3);
  } else if (key == "callback") {
    if (!lua_isfunction(L, -1))
      raise_error_table(
          L, "ERR callback argument given to redis.register_function must be a function");
    parts->function = keep(4);
  } else if (key == "flags") {
    if (!lua_istable(L, -1))
      raise_error_table(L,
                        "ERR flags argument to redis.register_function must be a table "
                        "representing function flags");
    parts->flags = flags_of(L, lua_gettop(L));
  } else {
    raise_error_table(L, "ERR unknown argument given to redis.register_function");
  }
}

Parts named_parts(lua_State* L) {
  if (!lua_istable(L, 1)) {
    raise_error_table(L,
                      "ERR calling redis.register_function with a single argument is only "
                      "applicable to Lua table (representing named arguments).");
  }
  Parts parts;
  lua_settop(L, 4);
  for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1)) take_named(L, &parts);
  if (parts.name == 0)
    raise_error_table(L, "ERR redis.register_function must get a function name argument");
  if (parts.function == 0)
    raise_error_table(L, "ERR redis.register_function must get a callback argument");
  return parts;
}

Parts positional_parts(lua_State* L) {
  if (lua_isstring(L, 1) == 0)
    raise_error_table(L, "ERR first argument to redis.register_function must be a string");
  if (!lua_isfunction(L, 2))
    raise_error_table(L, "ERR second argument to redis.register_function must be a function");
  return {.name = 1, .function = 2};
}

// Adds a registration. Null: the library has one of that name. Never raises.
Registration* add(Context& context, std::string_view name) {
  for (const Registration& other : *context.registering) {
    if (other.name == name) return nullptr;
  }
  context.registering->emplace_back().name = name;
  return &context.registering->back();
}

}  // namespace

int register_function(lua_State* L) {
  Context& context = context_of(L);
  if (context.registering == nullptr) {
    return raise_error_table(
        L, "ERR redis.register_function can only be called on FUNCTION LOAD command");
  }
  const int arguments = lua_gettop(L);
  if (arguments < 1 || arguments > 2)
    return raise_error_table(L, "ERR wrong number of arguments to redis.register_function");
  const Parts parts = arguments == 1 ? named_parts(L) : positional_parts(L);
  const std::string_view name = field_text_at(L, parts.name);
  if (!is_name(name)) return raise_error_table(L, kNameError);
  Registration* added = add(context, name);
  if (added == nullptr) return raise_error_table(L, "ERR Function already exists in the library");
  added->flags = parts.flags;
  if (parts.description != 0) added->description = field_text_at(L, parts.description);
  lua_pushvalue(L, parts.function);
  added->reference = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

}  // namespace weir::server::script
