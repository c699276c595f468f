// cmsgpack: MessagePack, as lua-cmsgpack 0.4 reads and writes it. A whole number becomes an
// integer, another number a float if that loses nothing; a table whose keys are 1 to n becomes an
// array.
#include <bit>
#include <cmath>
#include <cstdint>
#include <lua.hpp>

#include "server/script/libraries/sandbox.h"
#include "server/script/libraries/written_text.h"
#include "server/script/lua/context.h"
#include "server/script/lua/looks.h"

namespace weir::server::script {
namespace {

constexpr int kNestingMax = 16;
constexpr lua_Number kTwo63 = 0x1p63;

struct Packer {
  lua_State* L;
  Context& context;
};

void add_big_endian(Packer& packer, unsigned mark, uint64_t value, size_t bytes) {
  char text[9];
  text[0] = static_cast<char>(mark);
  for (size_t i = 0; i < bytes; ++i) text[1 + i] = static_cast<char>(value >> 8 * (bytes - 1 - i));
  add_text(packer.L, packer.context, {text, bytes + 1});
}

void pack_integer(Packer& packer, int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  if (value >= -32 && value <= 127) return add_big_endian(packer, bits & 0xff, 0, 0);
  if (value >= 0) {
    if (value <= 0xff) return add_big_endian(packer, 0xcc, bits, 1);
    if (value <= 0xffff) return add_big_endian(packer, 0xcd, bits, 2);
    if (value <= 0xffffffff) return add_big_endian(packer, 0xce, bits, 4);
    return add_big_endian(packer, 0xcf, bits, 8);
  }
  if (value >= INT8_MIN) return add_big_endian(packer, 0xd0, bits, 1);
  if (value >= INT16_MIN) return add_big_endian(packer, 0xd1, bits, 2);
  if (value >= INT32_MIN) return add_big_endian(packer, 0xd2, bits, 4);
  add_big_endian(packer, 0xd3, bits, 8);
}

bool is_integral(lua_Number number) {
  return number >= -kTwo63 && number < kTwo63 && std::floor(number) == number;
}

void pack_number(Packer& packer, lua_Number number) {
  if (is_integral(number)) return pack_integer(packer, static_cast<int64_t>(number));
  const auto narrow = static_cast<float>(number);
  if (static_cast<lua_Number>(narrow) == number)
    return add_big_endian(packer, 0xca, std::bit_cast<uint32_t>(narrow), 4);
  add_big_endian(packer, 0xcb, std::bit_cast<uint64_t>(number), 8);
}

void pack_string(Packer& packer, int index) {
  size_t size = 0;
  const char* bytes = lua_tolstring(packer.L, index, &size);
  if (size < 32) {
    add_big_endian(packer, 0xa0 | static_cast<unsigned>(size), 0, 0);
  } else if (size <= 0xff) {
    add_big_endian(packer, 0xd9, size, 1);
  } else if (size <= 0xffff) {
    add_big_endian(packer, 0xda, size, 2);
  } else {
    add_big_endian(packer, 0xdb, size, 4);
  }
  add_text(packer.L, packer.context, {bytes, size});
}

struct Marks {
  unsigned tiny;  // holds the count itself, up to 15
  unsigned two_bytes;
  unsigned four_bytes;
};

void pack_count(Packer& packer, const Marks& marks, size_t count) {
  if (count <= 15) return add_big_endian(packer, marks.tiny | static_cast<unsigned>(count), 0, 0);
  if (count <= 0xffff) return add_big_endian(packer, marks.two_bytes, count, 2);
  add_big_endian(packer, marks.four_bytes, count, 4);
}

struct Shape {
  size_t entries = 0;
  bool is_array = true;
};

Shape shape_of(lua_State* L, int table) {
  Shape shape;
  lua_Number key_max = 0;
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
    ++shape.entries;
    const lua_Number key = lua_type(L, -2) == LUA_TNUMBER ? lua_tonumber(L, -2) : 0;
    if (!is_integral(key) || key <= 0) shape.is_array = false;
    key_max = std::max(key_max, key);
  }
  if (key_max != static_cast<lua_Number>(shape.entries)) shape.is_array = false;
  return shape;
}

void pack_value(Packer& packer, int index, int level);

void pack_table(Packer& packer, int index, int level) {
  lua_State* L = packer.L;
  luaL_checkstack(L, 5, "in function to pack a table");
  const Shape shape = shape_of(L, index);
  if (shape.is_array) {
    pack_count(packer, {.tiny = 0x90, .two_bytes = 0xdc, .four_bytes = 0xdd}, shape.entries);
    for (size_t i = 1; i <= shape.entries; ++i) {
      lua_rawgeti(L, index, static_cast<int>(i));
      pack_value(packer, lua_gettop(L), level + 1);
      lua_pop(L, 1);
    }
    return;
  }
  pack_count(packer, {.tiny = 0x80, .two_bytes = 0xde, .four_bytes = 0xdf}, shape.entries);
  for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
    pack_value(packer, lua_gettop(L) - 1, level + 1);
    pack_value(packer, lua_gettop(L), level + 1);
  }
}

void pack_value(Packer& packer, int index, int level) {
  lua_State* L = packer.L;
  switch (lua_type(L, index)) {
    case LUA_TSTRING:
      return pack_string(packer, index);
    case LUA_TBOOLEAN:
      return add_big_endian(packer, lua_toboolean(L, index) != 0 ? 0xc3 : 0xc2, 0, 0);
    case LUA_TNUMBER:
      return pack_number(packer, lua_tonumber(L, index));
    case LUA_TTABLE:
      if (level < kNestingMax) return pack_table(packer, index, level);
      break;
    default:
      break;
  }
  add_big_endian(packer, 0xc0, 0, 0);
}

int msgpack_pack(lua_State* L) {
  const int arguments = lua_gettop(L);
  if (arguments == 0) return luaL_argerror(L, 0, "MessagePack pack needs input.");
  Packer packer = {L, context_of(L)};
  packer.context.text.clear();
  for (int i = 1; i <= arguments; ++i) pack_value(packer, i, 0);
  push_text(L, packer.context.text);
  return 1;
}

struct Unpacker {
  lua_State* L;
  const unsigned char* at;
  const unsigned char* end;
  int depth = 0;
};

// Takes the next bytes as a number, high byte first.
uint64_t take(Unpacker& unpacker, size_t bytes) {
  if (static_cast<size_t>(unpacker.end - unpacker.at) < bytes)
    luaL_error(unpacker.L, "Missing bytes in input.");
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value = value << 8 | *unpacker.at++;
  return value;
}

void unpack_value(Unpacker& unpacker);

void unpack_string(Unpacker& unpacker, uint64_t size) {
  if (static_cast<uint64_t>(unpacker.end - unpacker.at) < size)
    luaL_error(unpacker.L, "Missing bytes in input.");
  lua_pushlstring(unpacker.L, reinterpret_cast<const char*>(unpacker.at), size);
  unpacker.at += size;
}

void descend(Unpacker& unpacker) {
  constexpr int kDepthMax = 1000;  // bounds the C stack
  luaL_checkstack(unpacker.L, 4, "in function to unpack nested data");
  if (++unpacker.depth > kDepthMax) luaL_error(unpacker.L, "Bad data format in input.");
}

void unpack_array(Unpacker& unpacker, uint64_t count) {
  descend(unpacker);
  lua_newtable(unpacker.L);
  for (uint64_t i = 1; i <= count; ++i) {
    unpack_value(unpacker);
    lua_rawseti(unpacker.L, -2, static_cast<int>(i));
  }
  --unpacker.depth;
}

void unpack_map(Unpacker& unpacker, uint64_t count) {
  descend(unpacker);
  lua_newtable(unpacker.L);
  for (uint64_t i = 0; i < count; ++i) {
    unpack_value(unpacker);
    unpack_value(unpacker);
    lua_settable(unpacker.L, -3);
  }
  --unpacker.depth;
}

void push_signed(Unpacker& unpacker, size_t bytes) {
  const int unused = static_cast<int>(64 - 8 * bytes);
  const auto bits = static_cast<int64_t>(take(unpacker, bytes) << unused);
  lua_pushnumber(unpacker.L, static_cast<lua_Number>(bits >> unused));
}

void unpack_marked(Unpacker& unpacker, unsigned mark) {
  lua_State* L = unpacker.L;
  switch (mark) {
    case 0xc0:
      return lua_pushnil(L);
    case 0xc2:
    case 0xc3:
      return lua_pushboolean(L, mark == 0xc3);
    case 0xca:
      return lua_pushnumber(
          L, std::bit_cast<float>(static_cast<uint32_t>(take(unpacker, sizeof(float)))));
    case 0xcb:
      return lua_pushnumber(L, std::bit_cast<double>(take(unpacker, sizeof(double))));
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
      return lua_pushnumber(L, static_cast<lua_Number>(take(unpacker, size_t{1} << (mark & 3))));
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
      return push_signed(unpacker, size_t{1} << (mark & 3));
    case 0xd9:
    case 0xda:
    case 0xdb:
      return unpack_string(unpacker, take(unpacker, size_t{1} << (mark - 0xd9)));
    case 0xdc:
    case 0xdd:
      return unpack_array(unpacker, take(unpacker, mark == 0xdc ? 2 : 4));
    case 0xde:
    case 0xdf:
      return unpack_map(unpacker, take(unpacker, mark == 0xde ? 2 : 4));
    default:
      luaL_error(L, "Bad data format in input.");
  }
}

constexpr size_t kMsgpackValueNs = 100;

void unpack_value(Unpacker& unpacker) {
  luaL_checkstack(unpacker.L, 4, "too many values to unpack");
  charge(unpacker.L, kMsgpackValueNs);
  const auto mark = static_cast<unsigned>(take(unpacker, 1));
  if (mark <= 0x7f || mark >= 0xe0)
    return lua_pushnumber(unpacker.L, static_cast<signed char>(mark));
  if ((mark & 0xf0) == 0x80) return unpack_map(unpacker, mark & 0xf);
  if ((mark & 0xf0) == 0x90) return unpack_array(unpacker, mark & 0xf);
  if ((mark & 0xe0) == 0xa0) return unpack_string(unpacker, mark & 0x1f);
  unpack_marked(unpacker, mark);
}

struct Selection {
  int limit;   // how many values; 0: all
  int offset;  // how many bytes to skip
  bool whole;  // answers only the values, and not where reading stopped
};

int unpack_selected(lua_State* L, Selection wanted) {
  size_t size = 0;
  const char* bytes = luaL_checklstring(L, 1, &size);
  if (wanted.offset < 0 || wanted.limit < 0) {
    return luaL_error(L, "Invalid request to unpack with offset of %d and limit of %d.",
                      wanted.offset, static_cast<int>(size));
  }
  if (static_cast<size_t>(wanted.offset) > size) {
    return luaL_error(L, "Start offset %d greater than input length %d.", wanted.offset,
                      static_cast<int>(size));
  }
  const auto* begin = reinterpret_cast<const unsigned char*>(bytes);
  Unpacker unpacker = {.L = L, .at = begin + wanted.offset, .end = begin + size};
  int values = 0;
  while (unpacker.at < unpacker.end && (wanted.limit == 0 || values < wanted.limit)) {
    unpack_value(unpacker);
    ++values;
  }
  if (wanted.whole) return values;
  luaL_checkstack(L, 1, "too many values to unpack");
  const bool ended = unpacker.at == unpacker.end;
  lua_pushnumber(L, ended ? -1 : static_cast<lua_Number>(unpacker.at - begin));
  lua_insert(L, -1 - values);
  return values + 1;
}

int msgpack_unpack(lua_State* L) {
  return unpack_selected(L, {.limit = 0, .offset = 0, .whole = true});
}

int unpack_one(lua_State* L) {
  return unpack_selected(L, {.limit = 1, .offset = luaL_optint(L, 2, 0), .whole = false});
}

int unpack_limit(lua_State* L) {
  const int limit = luaL_checkint(L, 2);
  return unpack_selected(L, {.limit = limit, .offset = luaL_optint(L, 3, 0), .whole = limit == 0});
}

constexpr luaL_Reg kMsgpackFunctions[] = {{"pack", msgpack_pack},
                                          {"unpack", msgpack_unpack},
                                          {"unpack_one", unpack_one},
                                          {"unpack_limit", unpack_limit}};

}  // namespace

void push_cmsgpack_library(lua_State* L) {
  lua_newtable(L);
  for (const luaL_Reg& function : kMsgpackFunctions) {
    lua_pushcfunction(L, function.func);
    lua_setfield(L, -2, function.name);
  }
  set_text_field(L, "_NAME", "cmsgpack");
  set_text_field(L, "_VERSION", "lua-cmsgpack 0.4.0");
  set_text_field(L, "_DESCRIPTION", "MessagePack C implementation for Lua");
}

}  // namespace weir::server::script
