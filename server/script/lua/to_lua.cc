#include "server/script/lua/to_lua.h"

#include <cstdlib>
#include <lua.hpp>

#include "resp/numbers.h"
#include "server/script/lua/context.h"
#include "server/script/lua/names.h"

namespace weir::server::script {
namespace {

// All members are plain pointers, so that Lua may leave at any point.
struct Cursor {
  const char* at;
  const char* end;
};

void push_value(lua_State* L, Cursor* cursor);

std::string_view take_line(Cursor* cursor) {
  const char* begin = cursor->at;
  const char* end = begin;
  while (*end != '\r') ++end;
  cursor->at = end + 2;
  return {begin, static_cast<size_t>(end - begin)};
}

int64_t take_number(Cursor* cursor) { return resp::parse_int64(take_line(cursor)).value_or(0); }

std::string_view take_bytes(Cursor* cursor, int64_t size) {
  const std::string_view bytes(cursor->at, static_cast<size_t>(size));
  cursor->at += size + 2;
  return bytes;
}

void push_bulk(lua_State* L, Cursor* cursor) {
  const int64_t size = take_number(cursor);
  if (size < 0) return lua_pushboolean(L, 0);
  push_text(L, take_bytes(cursor, size));
}

void push_array(lua_State* L, Cursor* cursor) {
  const int64_t count = take_number(cursor);
  if (count < 0) return lua_pushboolean(L, 0);
  // Only RESP3's nulls leave holes, and what # answers for a table with holes depends on how it
  // grew.
  lua_createtable(L, context_of(L).protocol == 2 ? static_cast<int>(count) : 0, 0);
  for (int64_t i = 1; i <= count; ++i) {
    push_value(L, cursor);
    lua_rawseti(L, -2, static_cast<int>(i));
  }
}

void push_entries(lua_State* L, Cursor* cursor, Name name, bool has_values) {
  const int64_t count = take_number(cursor);
  lua_newtable(L);
  push_name(L, name);
  lua_newtable(L);  // grown key by key, so its keys are in the order in which Redis shows them
  for (int64_t i = 0; i < count; ++i) {
    push_value(L, cursor);
    if (has_values) {
      push_value(L, cursor);
    } else {
      lua_pushboolean(L, 1);
    }
    // A null is no key in Lua.
    lua_isnil(L, -2) ? lua_pop(L, 2) : lua_rawset(L, -3);
  }
  lua_rawset(L, -3);
}

// The table has room for one field: it is the same as one that grew by it.
void push_named(lua_State* L, Name name, std::string_view text) {
  lua_createtable(L, 0, 1);
  push_name(L, name);
  text == "OK" ? push_name(L, Name::kOkText) : push_text(L, text);
  lua_rawset(L, -3);
}

void push_error(lua_State* L, Cursor* cursor) {
  push_named(L, Name::kErr, take_line(cursor));
  mark_as_counted(L);
}

void push_double(lua_State* L, Cursor* cursor) {
  const std::string_view text = take_line(cursor);
  lua_newtable(L);
  push_name(L, Name::kDouble);
  lua_pushnumber(L, std::strtod(text.data(), nullptr));  // the CR after it ends the number
  lua_rawset(L, -3);
}

void push_verbatim(lua_State* L, Cursor* cursor) {
  const std::string_view bytes = take_bytes(cursor, take_number(cursor));
  lua_newtable(L);
  push_name(L, Name::kVerbatim);
  lua_newtable(L);
  set_text_field(L, "string", bytes.substr(4));
  set_text_field(L, "format", bytes.substr(0, 3));
  lua_rawset(L, -3);
}

void push_value(lua_State* L, Cursor* cursor) {
  luaL_checkstack(L, 6, "a reply nested too deep");
  switch (*cursor->at++) {
    case '+':
      return push_named(L, Name::kOk, take_line(cursor));
    case '-':
      return push_error(L, cursor);
    case ':':
      return lua_pushnumber(L, static_cast<lua_Number>(take_number(cursor)));
    case '$':
      return push_bulk(L, cursor);
    case '*':
      return push_array(L, cursor);
    case '%':
      return push_entries(L, cursor, Name::kMap, true);
    case '~':
      return push_entries(L, cursor, Name::kSet, false);
    case ',':
      return push_double(L, cursor);
    case '(':
      return push_named(L, Name::kBigNumber, take_line(cursor));
    case '=':
      return push_verbatim(L, cursor);
    case '#':
      return lua_pushboolean(L, take_line(cursor) == "t");
    default:
      take_line(cursor);
      return lua_pushnil(L);
  }
}

}  // namespace

void push_reply(lua_State* L, std::string_view bytes) {
  Cursor cursor = {bytes.data(), bytes.data() + bytes.size()};
  // A command that replies nothing (its client wants none) counts as null.
  bytes.empty() ? lua_pushboolean(L, 0) : push_value(L, &cursor);
}

}  // namespace weir::server::script
