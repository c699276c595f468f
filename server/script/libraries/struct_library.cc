// struct: from numbers and strings to bytes and back, by a format string.
//
//   > < native byte order; ! and a power of two: alignment; x a byte of padding; b B h H l L T
//   integers of 1, 2 and 8 bytes; i I with a size of their own (4, at most 32); f d; s a string
//   that a NUL ends; c with a size; c0 the whole string, in unpack as long as the number before
//   it says.
#include <bit>
#include <cctype>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <lua.hpp>

#include "base/ascii.h"
#include "server/script/libraries/sandbox.h"

namespace weir::server::script {
namespace {

constexpr int kIntegerBytesMax = 32;
constexpr int kAlignmentMax = 8;

struct Format {
  lua_State* L;
  const char* at;
  bool little = true;
  int alignment_max = 1;
};

int take_size(Format& format, int otherwise) {
  if (!is_digit(*format.at)) return otherwise;
  int size = 0;
  do {
    const int digit = *format.at++ - '0';
    if (size > (INT_MAX - digit) / 10) luaL_error(format.L, "integral size overflow");
    size = size * 10 + digit;
  } while (is_digit(*format.at));
  return size;
}

// Answers the bytes of an option whose letter has been taken; 0 for options that set something, and
// s.
size_t option_bytes(Format& format, char option) {
  switch (option) {
    case 'b':
    case 'B':
    case 'x':
      return 1;
    case 'h':
    case 'H':
      return 2;
    case 'f':
      return 4;
    case 'l':
    case 'L':
    case 'T':
    case 'd':
      return 8;
    case 'c':
      return static_cast<size_t>(take_size(format, 1));
    case 'i':
    case 'I': {
      const int size = take_size(format, 4);
      if (size > kIntegerBytesMax) {
        luaL_error(format.L, "integral size %d is larger than limit of %d", size, kIntegerBytesMax);
      }
      return static_cast<size_t>(size);
    }
    default:
      return 0;
  }
}

void apply_control(Format& format, char option) {
  switch (option) {
    case ' ':
      return;
    case '>':
      format.little = false;
      return;
    case '<':
      format.little = true;
      return;
    case '!': {
      const int alignment = take_size(format, kAlignmentMax);
      if (alignment == 0 || (alignment & (alignment - 1)) != 0)
        luaL_error(format.L, "alignment %d is not a power of 2", alignment);
      format.alignment_max = alignment;
      return;
    }
    default:
      luaL_argerror(format.L, 1, lua_pushfstring(format.L, "invalid format option '%c'", option));
  }
}

// Answers how many bytes to skip at `position` so that `bytes` are aligned.
size_t padding(const Format& format, char option, size_t bytes, size_t position) {
  if (bytes == 0 || option == 'c') return 0;
  bytes = std::min(bytes, static_cast<size_t>(format.alignment_max));
  if (bytes <= 1) return 0;
  return (bytes - (position & (bytes - 1))) & (bytes - 1);
}

void add_integer(luaL_Buffer* out, const Format& format, int argument, size_t bytes) {
  const lua_Number number = luaL_checknumber(format.L, argument);
  uint64_t value = 0;
  // Outside their types such conversions mean nothing in C++; these values are what x86-64 answers.
  if (!(number >= 0)) {
    value = number >= -0x1p63 ? static_cast<uint64_t>(static_cast<int64_t>(number)) : 1ULL << 63;
  } else if (number < 0x1p64) {
    value = static_cast<uint64_t>(number);
  }
  for (size_t i = 0; i < bytes; ++i) {
    const size_t place = format.little ? i : bytes - 1 - i;
    luaL_addchar(out, static_cast<char>(place < 8 ? value >> (8 * place) & 0xff : 0));
  }
}

void add_bits(luaL_Buffer* out, const Format& format, uint64_t bits, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    const size_t place = format.little ? i : bytes - 1 - i;
    luaL_addchar(out, static_cast<char>(bits >> (8 * place) & 0xff));
  }
}

// Answers the bytes added.
size_t add_string(luaL_Buffer* out, lua_State* L, int argument, char option, size_t bytes) {
  size_t size = 0;
  const char* text = luaL_checklstring(L, argument, &size);
  if (bytes == 0) bytes = size;
  // The error names the argument after it, as in Redis.
  luaL_argcheck(L, size >= bytes, argument + 1, "string too short");
  luaL_addlstring(out, text, bytes);
  if (option == 's') luaL_addchar(out, '\0');
  return option == 's' ? bytes + 1 : bytes;
}

int struct_pack(lua_State* L) {
  Format format = {.L = L, .at = luaL_checkstring(L, 1)};
  // A missing argument reads as nil, and not as a piece of the text being built.
  lua_pushnil(L);
  int argument = 2;
  size_t total = 0;
  luaL_Buffer out;
  luaL_buffinit(L, &out);
  while (*format.at != '\0') {
    const char option = *format.at++;
    size_t bytes = option_bytes(format, option);
    size_t skipped = padding(format, option, bytes, total);
    total += skipped;
    while (skipped-- > 0) luaL_addchar(&out, '\0');
    switch (option) {
      case 'x':
        luaL_addchar(&out, '\0');
        break;
      case 'f':
        add_bits(&out, format,
                 std::bit_cast<uint32_t>(static_cast<float>(luaL_checknumber(L, argument++))), 4);
        break;
      case 'd':
        add_bits(&out, format, std::bit_cast<uint64_t>(luaL_checknumber(L, argument++)), 8);
        break;
      case 'c':
      case 's':
        bytes = add_string(&out, L, argument++, option, bytes);
        break;
      default:
        if (std::strchr("bBhHlLTiI", option) != nullptr) {
          add_integer(&out, format, argument++, bytes);
        } else {
          apply_control(format, option);
        }
    }
    total += bytes;
  }
  luaL_pushresult(&out);
  return 1;
}

uint64_t bits_at(const Format& format, const char* data, size_t bytes) {
  uint64_t bits = 0;
  for (size_t i = 0; i < bytes; ++i) {
    const size_t place = format.little ? bytes - 1 - i : i;
    bits = bits << 8 | static_cast<unsigned char>(data[place]);
  }
  return bits;
}

void push_integer(const Format& format, char option, const char* data, size_t bytes) {
  const uint64_t bits = bits_at(format, data, bytes);
  if (std::islower(static_cast<unsigned char>(option)) == 0)
    return lua_pushnumber(format.L, static_cast<lua_Number>(bits));
  // Numbers of more than eight bytes are cut to eight, and the place of their sign is counted
  // modulo 64, as Redis does on x86-64.
  const uint64_t sign = ~uint64_t{0} << ((8 * bytes - 1) & 63);
  const uint64_t extended = (bits & sign) != 0 ? bits | sign : bits;
  lua_pushnumber(format.L, static_cast<lua_Number>(static_cast<int64_t>(extended)));
}

struct Data {
  const char* bytes;
  size_t size;
  size_t position;
};

// Replaces the number on top of the stack by as many bytes of the data.
size_t take_counted(Format& format, const Data& data, int results) {
  if (results == 0 || lua_isnumber(format.L, -1) == 0)
    luaL_error(format.L, "format 'c0' needs a previous size");
  const lua_Number size = lua_tonumber(format.L, -1);
  lua_pop(format.L, 1);
  const size_t left = data.size - data.position;
  luaL_argcheck(format.L, size >= 0 && size <= static_cast<lua_Number>(left), 2,
                "data string too short");
  return static_cast<size_t>(size);
}

// Pushes what the option reads, and answers how many values the stack has gained.
int push_option(Format& format, char option, size_t* bytes, Data& data, int results) {
  lua_State* L = format.L;
  const char* from = data.bytes + data.position;
  switch (option) {
    case 'x':
      return 0;
    case 'f':
      lua_pushnumber(L, std::bit_cast<float>(static_cast<uint32_t>(bits_at(format, from, 4))));
      return 1;
    case 'd':
      lua_pushnumber(L, std::bit_cast<double>(bits_at(format, from, 8)));
      return 1;
    case 'c': {
      const bool counted = *bytes == 0;
      if (counted) *bytes = take_counted(format, data, results);
      lua_pushlstring(L, from, *bytes);
      return counted ? 0 : 1;
    }
    case 's': {
      const void* end = std::memchr(from, '\0', data.size - data.position);
      if (end == nullptr) return luaL_error(L, "unfinished string in data");
      *bytes = static_cast<size_t>(static_cast<const char*>(end) - from) + 1;
      lua_pushlstring(L, from, *bytes - 1);
      return 1;
    }
    default:
      if (std::strchr("bBhHlLTiI", option) == nullptr) {
        apply_control(format, option);
        return 0;
      }
      push_integer(format, option, from, *bytes);
      return 1;
  }
}

int struct_unpack(lua_State* L) {
  Format format = {.L = L, .at = luaL_checkstring(L, 1)};
  Data data = {};
  data.bytes = luaL_checklstring(L, 2, &data.size);
  const lua_Integer first = luaL_optinteger(L, 3, 1);
  luaL_argcheck(L, first != 0, 3, "offset must be 1 or greater");
  // A negative offset lies past every end.
  data.position = static_cast<size_t>(first) - 1;
  int results = 0;
  lua_settop(L, 2);
  while (*format.at != '\0') {
    const char option = *format.at++;
    size_t bytes = option_bytes(format, option);
    data.position += padding(format, option, bytes, data.position);
    luaL_argcheck(L, data.position <= data.size && bytes <= data.size - data.position, 2,
                  "data string too short");
    luaL_checkstack(L, 2, "too many results");
    results += push_option(format, option, &bytes, data, results);
    data.position += bytes;
  }
  lua_pushnumber(L, static_cast<lua_Number>(data.position + 1));
  return results + 1;
}

int size(lua_State* L) {
  Format format = {.L = L, .at = luaL_checkstring(L, 1)};
  size_t total = 0;
  while (*format.at != '\0') {
    const char option = *format.at++;
    const size_t bytes = option_bytes(format, option);
    total += padding(format, option, bytes, total);
    if (option == 's') luaL_argerror(L, 1, "option 's' has no fixed size");
    if (option == 'c' && bytes == 0) luaL_argerror(L, 1, "option 'c0' has no fixed size");
    // Unknown letters count nothing here, although pack and unpack refuse them.
    if (std::isalnum(static_cast<unsigned char>(option)) == 0) apply_control(format, option);
    total += bytes;
  }
  lua_pushnumber(L, static_cast<lua_Number>(total));
  return 1;
}

constexpr luaL_Reg kStructFunctions[] = {
    {"pack", struct_pack}, {"unpack", struct_unpack}, {"size", size}};

}  // namespace

void push_struct_library(lua_State* L) {
  lua_newtable(L);
  for (const luaL_Reg& function : kStructFunctions) {
    lua_pushcfunction(L, function.func);
    lua_setfield(L, -2, function.name);
  }
}

}  // namespace weir::server::script
