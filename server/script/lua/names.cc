#include "server/script/lua/names.h"

#include <lua.hpp>

namespace weir::server::script {
namespace {

constexpr const char* kNames[] = {
    "err", "ok", "double", "map", "set", "big_number", "verbatim_string", "KEYS", "ARGV", "OK"};
constexpr int kNameCount = static_cast<int>(Name::kLast) + 1;
static_assert(sizeof kNames / sizeof *kNames == kNameCount);

}  // namespace

void push_with_names(lua_State* L, lua_CFunction function) {
  for (const char* name : kNames) lua_pushstring(L, name);
  lua_pushcclosure(L, function, kNameCount);
}

void push_name(lua_State* L, Name name) {
  lua_pushvalue(L, lua_upvalueindex(static_cast<int>(name) + 1));
}

}  // namespace weir::server::script
