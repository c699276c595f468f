// math.random as scripts of Redis see it: the 48-bit linear congruential generator of POSIX
// (lrand48). Every run begins with another number; after math.randomseed() the numbers are Redis'
// own.
#include <cmath>
#include <cstdint>
#include <lua.hpp>

#include "server/script/libraries/sandbox.h"
#include "server/script/lua/context.h"
#include "server/script/lua/script_host.h"

namespace weir::server::script {
namespace {

constexpr uint64_t kMask = (uint64_t{1} << 48) - 1;

// Answers a number in [0, 1).
double next(Context& context) {
  const uint64_t before = context.random ? *context.random : context.host->random();
  const uint64_t number = (before * 0x5deece66d + 0xb) & kMask;
  context.random = number;
  constexpr uint64_t kRange = INT32_MAX;
  return static_cast<double>((number >> 17) % kRange) / static_cast<double>(kRange);
}

}  // namespace

int seeded_random(lua_State* L) {
  const double random = next(context_of(L));
  const int arguments = lua_gettop(L);
  if (arguments == 0) {
    lua_pushnumber(L, random);
    return 1;
  }
  if (arguments > 2) return luaL_error(L, "wrong number of arguments");
  const int low = arguments == 1 ? 1 : luaL_checkint(L, 1);
  const int high = luaL_checkint(L, arguments);
  luaL_argcheck(L, low <= high, arguments, "interval is empty");
  const double width = static_cast<double>(int64_t{high} - low + 1);
  lua_pushnumber(L, std::floor(random * width) + low);
  return 1;
}

int seed_random(lua_State* L) {
  const auto seed = static_cast<uint32_t>(luaL_checkint(L, 1));
  context_of(L).random = uint64_t{seed} << 16 | 0x330e;
  return 0;
}

}  // namespace weir::server::script
