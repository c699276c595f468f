// cjson.encode: from Lua values to JSON, with lua-cjson's choices: {} is an object, a table whose
// keys are positive integers is an array unless it is mostly holes, numbers have 14 digits.
//
// The text grows in the Context, not in Lua buffers: nesting must not cost C stack by the kilobyte.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <lua.hpp>

#include "server/script/libraries/cjson.h"
#include "server/script/libraries/written_text.h"
#include "server/script/lua/context.h"

namespace weir::server::script {
namespace {

struct Encoder {
  lua_State* L;
  const JsonSettings& settings;
  Context& context;
};

void encode_value(Encoder& encoder, int index, int depth);

void add(Encoder& encoder, const char* text, size_t size) {
  add_text(encoder.L, encoder.context, {text, size});
}

void add(Encoder& encoder, char c) { add(encoder, &c, 1); }

int refuse(Encoder& encoder, int index, const char* why) {
  return luaL_error(encoder.L, "Cannot serialise %s: %s", luaL_typename(encoder.L, index), why);
}

void encode_string(Encoder& encoder, int index) {
  size_t size = 0;
  const char* bytes = lua_tolstring(encoder.L, index, &size);
  add(encoder, '"');
  for (size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    constexpr char kNamed[] = "\"\\/\b\f\n\r\t";
    constexpr char kNames[] = "\"\\/bfnrt";
    const char* named = byte == 0 ? nullptr : std::char_traits<char>::find(kNamed, 8, bytes[i]);
    if (named != nullptr) {
      add(encoder, '\\');
      add(encoder, kNames[named - kNamed]);
    } else if (byte < 0x20 || byte == 0x7f) {
      char text[8];
      std::snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned>(byte));
      add(encoder, text, 6);
    } else {
      add(encoder, bytes[i]);
    }
  }
  add(encoder, '"');
}

void encode_number(Encoder& encoder, int index) {
  const lua_Number number = lua_tonumber(encoder.L, index);
  if (!std::isfinite(number)) {
    using Invalid = JsonSettings::Invalid;
    if (encoder.settings.encode_invalid == Invalid::kRefuse)
      refuse(encoder, index, "must not be NaN or Inf");
    if (encoder.settings.encode_invalid == Invalid::kNull) return add(encoder, "null", 4);
    if (std::isnan(number)) return add(encoder, "nan", 3);
  }
  char text[40];
  const int size = std::snprintf(text, sizeof text, "%.*g", encoder.settings.precision, number);
  add(encoder, text, static_cast<size_t>(size));
}

// Answers the length of the array that a table is, or -1 for an object.
int array_length(Encoder& encoder, int index) {
  lua_State* L = encoder.L;
  int length = 0;
  int items = 0;
  for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
    const lua_Number key = lua_type(L, -2) == LUA_TNUMBER ? lua_tonumber(L, -2) : 0;
    if (!(key >= 1 && key <= INT32_MAX) || std::floor(key) != key) {
      lua_pop(L, 2);
      return -1;
    }
    length = std::max(length, static_cast<int>(key));
    ++items;
  }
  const JsonSettings& settings = encoder.settings;
  const bool sparse = settings.sparse_ratio > 0 && length > settings.sparse_safe &&
                      length > static_cast<int64_t>(items) * settings.sparse_ratio;
  if (sparse && !settings.convert_sparse) refuse(encoder, index, "excessively sparse array");
  return sparse ? -1 : length;
}

void encode_array(Encoder& encoder, int table, int length, int depth) {
  add(encoder, '[');
  for (int i = 1; i <= length; ++i) {
    if (i > 1) add(encoder, ',');
    lua_rawgeti(encoder.L, table, i);
    encode_value(encoder, table + 1, depth);
    lua_pop(encoder.L, 1);
  }
  add(encoder, ']');
}

void encode_object(Encoder& encoder, int table, int depth) {
  lua_State* L = encoder.L;
  const int key = table + 1;
  const int value = table + 2;
  bool first = true;
  add(encoder, '{');
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
    if (!first) add(encoder, ',');
    first = false;
    const int type = lua_type(L, key);
    if (type == LUA_TNUMBER) {
      add(encoder, '"');
      encode_number(encoder, key);
      add(encoder, '"');
    } else if (type == LUA_TSTRING) {
      encode_string(encoder, key);
    } else {
      refuse(encoder, key, "table key must be a number or string");
    }
    add(encoder, ':');
    encode_value(encoder, value, depth);
  }
  add(encoder, '}');
}

void encode_table(Encoder& encoder, int index, int depth) {
  lua_State* L = encoder.L;
  if (depth > encoder.settings.encode_depth_max || lua_checkstack(L, 4) == 0)
    luaL_error(L, "Cannot serialise, excessive nesting (%d)", depth);
  lua_pushvalue(L, index);
  const int table = lua_gettop(L);
  const int length = array_length(encoder, table);
  length > 0 ? encode_array(encoder, table, length, depth) : encode_object(encoder, table, depth);
  lua_settop(L, table - 1);
}

void encode_value(Encoder& encoder, int index, int depth) {
  switch (lua_type(encoder.L, index)) {
    case LUA_TSTRING:
      return encode_string(encoder, index);
    case LUA_TNUMBER:
      return encode_number(encoder, index);
    case LUA_TBOOLEAN:
      return lua_toboolean(encoder.L, index) != 0 ? add(encoder, "true", 4)
                                                  : add(encoder, "false", 5);
    case LUA_TNIL:
      return add(encoder, "null", 4);
    case LUA_TTABLE:
      return encode_table(encoder, index, depth + 1);
    case LUA_TLIGHTUSERDATA:
      if (lua_touserdata(encoder.L, index) == nullptr) return add(encoder, "null", 4);
      break;
    default:
      break;
  }
  refuse(encoder, index, "type not supported");
}

}  // namespace

int json_encode(lua_State* L) {
  luaL_argcheck(L, lua_gettop(L) == 1, 1, "expected 1 argument");
  Context& context = context_of(L);
  context.text.clear();
  Encoder encoder = {L, context.json, context};
  encode_value(encoder, 1, 0);
  push_text(L, context.text);
  return 1;
}

}  // namespace weir::server::script
