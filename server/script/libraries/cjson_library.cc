// cjson: its table and its settings. The settings belong to one script: the next one finds the
// defaults, where in Redis it finds what the last script set.
#include <cstdint>
#include <lua.hpp>

#include "server/script/libraries/cjson.h"
#include "server/script/libraries/sandbox.h"
#include "server/script/lua/context.h"

namespace weir::server::script {
namespace {

struct Range {
  int min;
  int max;
};

// A setting takes as many arguments as it has parts, or fewer.
JsonSettings& settings_of(lua_State* L, int arguments_max) {
  luaL_argcheck(L, lua_gettop(L) <= arguments_max, arguments_max + 1, "found too many arguments");
  lua_settop(L, arguments_max);
  return context_of(L).json;
}

void integer_option(lua_State* L, int index, int* value, Range range) {
  if (!lua_isnil(L, index)) {
    const int asked = luaL_checkint(L, index);
    if (asked < range.min || asked > range.max) {
      luaL_argerror(L, index,
                    lua_pushfstring(L, "expected integer between %d and %d", range.min, range.max));
    }
    *value = asked;
  }
  lua_pushnumber(L, *value);
}

void flag_option(lua_State* L, int index, bool* value) {
  static const char* const kWords[] = {"off", "on", nullptr};
  if (lua_isboolean(L, index)) {
    *value = lua_toboolean(L, index) != 0;
  } else if (!lua_isnil(L, index)) {
    *value = luaL_checkoption(L, index, nullptr, kWords) == 1;
  }
  lua_pushboolean(L, *value);
}

int encode_sparse_array(lua_State* L) {
  JsonSettings& settings = settings_of(L, 3);
  flag_option(L, 1, &settings.convert_sparse);
  integer_option(L, 2, &settings.sparse_ratio, {0, INT32_MAX});
  integer_option(L, 3, &settings.sparse_safe, {0, INT32_MAX});
  return 3;
}

int encode_max_depth(lua_State* L) {
  integer_option(L, 1, &settings_of(L, 1).encode_depth_max, {1, INT32_MAX});
  return 1;
}

int decode_max_depth(lua_State* L) {
  integer_option(L, 1, &settings_of(L, 1).decode_depth_max, {1, INT32_MAX});
  return 1;
}

int encode_number_precision(lua_State* L) {
  integer_option(L, 1, &settings_of(L, 1).precision, {1, 14});
  return 1;
}

int encode_keep_buffer(lua_State* L) {
  flag_option(L, 1, &settings_of(L, 1).keep_buffer);
  return 1;
}

int encode_invalid_numbers(lua_State* L) {
  using Invalid = JsonSettings::Invalid;
  static const char* const kWords[] = {"off", "on", "null", nullptr};
  JsonSettings& settings = settings_of(L, 1);
  if (lua_isboolean(L, 1)) {
    settings.encode_invalid = lua_toboolean(L, 1) != 0 ? Invalid::kAccept : Invalid::kRefuse;
  } else if (!lua_isnil(L, 1)) {
    settings.encode_invalid = static_cast<Invalid>(luaL_checkoption(L, 1, nullptr, kWords));
  }
  if (settings.encode_invalid == Invalid::kNull) {
    lua_pushliteral(L, "null");
  } else {
    lua_pushboolean(L, settings.encode_invalid == Invalid::kAccept);
  }
  return 1;
}

int decode_invalid_numbers(lua_State* L) {
  flag_option(L, 1, &settings_of(L, 1).decode_invalid);
  return 1;
}

int new_library(lua_State* L) {
  push_cjson_library(L);
  return 1;
}

constexpr luaL_Reg kJsonFunctions[] = {{"encode", json_encode},
                                       {"decode", json_decode},
                                       {"encode_sparse_array", encode_sparse_array},
                                       {"encode_max_depth", encode_max_depth},
                                       {"decode_max_depth", decode_max_depth},
                                       {"encode_number_precision", encode_number_precision},
                                       {"encode_keep_buffer", encode_keep_buffer},
                                       {"encode_invalid_numbers", encode_invalid_numbers},
                                       {"decode_invalid_numbers", decode_invalid_numbers},
                                       {"new", new_library}};

}  // namespace

void push_cjson_library(lua_State* L) {
  lua_newtable(L);
  for (const luaL_Reg& function : kJsonFunctions) {
    lua_pushcfunction(L, function.func);
    lua_setfield(L, -2, function.name);
  }
  lua_pushlightuserdata(L, nullptr);
  lua_setfield(L, -2, "null");
  set_text_field(L, "_NAME", "cjson");
  set_text_field(L, "_VERSION", "2.1.0");
}

}  // namespace weir::server::script
