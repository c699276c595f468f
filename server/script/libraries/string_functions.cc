// Functions of Lua's string library: find, match, gmatch and gsub, which answer as Lua 5.1's do,
// quirks included, while the clock is looked at (pattern.h); and rep.
#include <cstdint>
#include <cstring>
#include <lua.hpp>
#include <string_view>

#include "base/ascii.h"
#include "server/script/libraries/pattern.h"
#include "server/script/libraries/sandbox.h"
#include "server/script/lua/context.h"
#include "server/script/lua/looks.h"

namespace weir::server::script {
namespace {

constexpr char kEscape = '%';

std::string_view check_text(lua_State* L, int index) {
  size_t size = 0;
  const char* text = luaL_checklstring(L, index, &size);
  return {text, size};
}

// Answers where to begin, counted from 0: the third argument, from the end if it is negative.
size_t begin_argument(lua_State* L, size_t size) {
  const auto end = static_cast<int64_t>(size);
  int64_t at = luaL_optinteger(L, 3, 1);
  if (at < 0) at += end + 1;
  if (at <= 1) return 0;
  return static_cast<size_t>(at - 1 > end ? end : at - 1);
}

// Only the part before a NUL decides whether a text is a pattern.
bool is_plain(const char* pattern) { return std::strpbrk(pattern, "^$*+?.([%-") == nullptr; }

int find_plain(lua_State* L, std::string_view text, size_t from, std::string_view wanted) {
  charge(L, (text.size() - from) / 4 + wanted.size());
  const void* found =
      wanted.empty() ? text.data() + from
                     : memmem(text.data() + from, text.size() - from, wanted.data(), wanted.size());
  if (found == nullptr) {
    lua_pushnil(L);
    return 1;
  }
  const lua_Integer at = static_cast<const char*>(found) - text.data();
  lua_pushinteger(L, at + 1);
  lua_pushinteger(L, at + static_cast<lua_Integer>(wanted.size()));
  return 2;
}

int search(lua_State* L, bool finds) {
  const std::string_view text = check_text(L, 1);
  const std::string_view wanted = check_text(L, 2);
  const size_t from = begin_argument(L, text.size());
  if (finds && (lua_toboolean(L, 4) != 0 || is_plain(wanted.data())))
    return find_plain(L, text, from, wanted);
  const bool anchored = wanted.front() == '^';
  const char* const pattern = wanted.data() + (anchored ? 1 : 0);
  PatternMatch match(L, text.data(), text.size());
  for (const char* at = text.data() + from; at <= text.data() + text.size(); ++at) {
    if (const char* end = match.match_at(at, pattern)) {
      if (!finds) return match.push_captures(at, end);
      lua_pushinteger(L, at - text.data() + 1);
      lua_pushinteger(L, end - text.data());
      return match.push_captures(nullptr, nullptr) + 2;
    }
    if (anchored) break;
  }
  lua_pushnil(L);
  return 1;
}

// The upvalues are the text, the pattern, and where to go on.
int next_match(lua_State* L) {
  size_t size = 0;
  const char* text = lua_tolstring(L, lua_upvalueindex(1), &size);
  const char* pattern = lua_tostring(L, lua_upvalueindex(2));
  PatternMatch match(L, text, size);
  for (const char* at = text + lua_tointeger(L, lua_upvalueindex(3)); at <= text + size; ++at) {
    const char* end = match.match_at(at, pattern);
    if (end == nullptr) continue;
    lua_pushinteger(L, end - text + (end == at ? 1 : 0));
    lua_replace(L, lua_upvalueindex(3));
    return match.push_captures(at, end);
  }
  return 0;
}

// Adds the third argument as a text in which %1 stands for a capture, %0 for the whole match.
void add_template(lua_State* L, luaL_Buffer* out, PatternMatch* match, std::string_view found) {
  size_t size = 0;
  const char* text = lua_tolstring(L, 3, &size);
  for (size_t i = 0; i < size; ++i) {
    if (text[i] != kEscape) {
      luaL_addchar(out, text[i]);
      continue;
    }
    const char next = text[++i];  // at the very end this is the string's own NUL
    if (!is_digit(next)) {
      luaL_addchar(out, next);
    } else if (next == '0') {
      luaL_addlstring(out, found.data(), found.size());
    } else {
      match->push_capture(next - '1', found.data(), found.data() + found.size());
      luaL_addvalue(out);
    }
  }
}

// Adds what a function or a table says; nil and false keep what was found.
void add_asked(lua_State* L, luaL_Buffer* out, PatternMatch* match, std::string_view found) {
  const char* const end = found.data() + found.size();
  if (lua_isfunction(L, 3)) {
    lua_pushvalue(L, 3);
    lua_call(L, match->push_captures(found.data(), end), 1);
  } else {
    match->push_capture(0, found.data(), end);
    lua_gettable(L, 3);
  }
  if (lua_toboolean(L, -1) == 0) {
    lua_pop(L, 1);
    lua_pushlstring(L, found.data(), found.size());
  } else if (lua_isstring(L, -1) == 0) {
    luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
  }
  luaL_addvalue(out);
}

// Raises as Lua does when an allocation of so many bytes is refused.
void refuse_memory(lua_State* L, size_t bytes) { lua_newuserdata(L, bytes); }

}  // namespace

// Calls Lua's own function, upvalue 1, unless it would copy nothing a billion times, or find out
// only at the end that there is no room.
int safe_rep(lua_State* L) {
  const size_t size = check_text(L, 1).size();
  const int count = luaL_checkint(L, 2);
  if (size == 0 || count <= 0) {
    lua_pushliteral(L, "");
    return 1;
  }
  const Memory& memory = context_of(L).memory;
  const size_t count_size = static_cast<size_t>(count);
  if (size > memory.room() / count_size) lua_gc(L, LUA_GCCOLLECT, 0);
  if (size > memory.room() / count_size) refuse_memory(L, memory.room());
  charge(L, size * count_size / 2);
  return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

int safe_find(lua_State* L) { return search(L, true); }

int safe_match(lua_State* L) { return search(L, false); }

int safe_gmatch(lua_State* L) {
  luaL_checkstring(L, 1);
  luaL_checkstring(L, 2);
  lua_settop(L, 2);
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, next_match, 3);
  return 1;
}

int safe_gsub(lua_State* L) {
  const std::string_view text = check_text(L, 1);
  const char* pattern = luaL_checkstring(L, 2);
  const int type = lua_type(L, 3);
  const int count_max = luaL_optint(L, 4, static_cast<int>(text.size()) + 1);
  const bool anchored = *pattern == '^';
  if (anchored) ++pattern;
  const bool is_template = type == LUA_TSTRING || type == LUA_TNUMBER;
  luaL_argcheck(L, is_template || type == LUA_TFUNCTION || type == LUA_TTABLE, 3,
                "string/function/table expected");
  PatternMatch match(L, text.data(), text.size());
  luaL_Buffer out;
  luaL_buffinit(L, &out);
  const char* at = text.data();
  const char* const text_end = at + text.size();
  int count = 0;
  while (count < count_max) {
    const char* const end = match.match_at(at, pattern);
    if (end != nullptr) {
      ++count;
      const std::string_view found(at, static_cast<size_t>(end - at));
      is_template ? add_template(L, &out, &match, found) : add_asked(L, &out, &match, found);
    }
    if (end != nullptr && end > at) {
      at = end;
    } else if (at < text_end) {
      luaL_addchar(&out, *at++);
    } else {
      break;
    }
    if (anchored) break;
  }
  luaL_addlstring(&out, at, static_cast<size_t>(text_end - at));
  luaL_pushresult(&out);
  lua_pushinteger(L, count);
  return 2;
}

}  // namespace weir::server::script
