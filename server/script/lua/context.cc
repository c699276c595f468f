#include "server/script/lua/context.h"

#include <lua.hpp>

namespace weir::server::script {
namespace {

constexpr std::string_view kCountedMark =
    "ignore_error_stats_update";  // Redis' name, which scripts see

}  // namespace

Context& context_of(lua_State* L) {
  void* context = nullptr;
  lua_getallocf(L, &context);
  return *static_cast<Context*>(context);
}

void push_text(lua_State* L, std::string_view text) {
  lua_pushlstring(L, text.data(), text.size());
}

void set_text_field(lua_State* L, const char* name, std::string_view text) {
  lua_pushstring(L, name);
  push_text(L, text);
  lua_rawset(L, -3);
}

void push_error_table(lua_State* L, std::string_view text) {
  lua_newtable(L);
  set_text_field(L, "err", text);
}

int raise_error_table(lua_State* L, std::string_view text) {
  push_error_table(L, text);
  return lua_error(L);
}

void mark_as_counted(lua_State* L) {
  lua_pushlstring(L, kCountedMark.data(), kCountedMark.size());
  lua_pushboolean(L, 1);
  lua_rawset(L, -3);
}

bool is_marked_as_counted(lua_State* L, int table) {
  lua_pushlstring(L, kCountedMark.data(), kCountedMark.size());
  lua_rawget(L, table);
  const bool marked = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  return marked;
}

}  // namespace weir::server::script
