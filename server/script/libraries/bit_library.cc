// bit: operations on the low 32 bits of numbers, as BitOp defines them.
#include <bit>
#include <cstdint>
#include <cstring>
#include <lua.hpp>

#include "base/ascii.h"
#include "server/script/libraries/sandbox.h"

namespace weir::server::script {
namespace {

// Rounds to the nearest integer, modulo 2^32: adding 2^52 + 2^51 leaves it in a double's low bits.
uint32_t bits_at(lua_State* L, int index) {
  const volatile double shifted = luaL_checknumber(L, index) + 6755399441055744.0;
  const double copy = shifted;
  return static_cast<uint32_t>(std::bit_cast<uint64_t>(copy));
}

int push_bits(lua_State* L, uint32_t bits) {
  lua_pushnumber(L, static_cast<int32_t>(bits));
  return 1;
}

int to_bits(lua_State* L) { return push_bits(L, bits_at(L, 1)); }
int bit_not(lua_State* L) { return push_bits(L, ~bits_at(L, 1)); }

template <typename Operation>
int fold(lua_State* L, Operation operation) {
  uint32_t bits = bits_at(L, 1);
  for (int i = lua_gettop(L); i > 1; --i) bits = operation(bits, bits_at(L, i));
  return push_bits(L, bits);
}

int bit_and(lua_State* L) {
  return fold(L, [](uint32_t a, uint32_t b) { return a & b; });
}
int bit_or(lua_State* L) {
  return fold(L, [](uint32_t a, uint32_t b) { return a | b; });
}
int bit_xor(lua_State* L) {
  return fold(L, [](uint32_t a, uint32_t b) { return a ^ b; });
}

template <typename Operation>
int shift(lua_State* L, Operation operation) {
  const uint32_t bits = bits_at(L, 1);
  return push_bits(L, operation(bits, static_cast<int>(bits_at(L, 2) & 31)));
}

int shift_left(lua_State* L) {
  return shift(L, [](uint32_t bits, int by) { return bits << by; });
}
int shift_right(lua_State* L) {
  return shift(L, [](uint32_t bits, int by) { return bits >> by; });
}
int shift_signed(lua_State* L) {
  return shift(L, [](uint32_t bits, int by) {
    return static_cast<uint32_t>(static_cast<int32_t>(bits) >> by);
  });
}
int rotate_left(lua_State* L) {
  return shift(L, [](uint32_t bits, int by) { return std::rotl(bits, by); });
}
int rotate_right(lua_State* L) {
  return shift(L, [](uint32_t bits, int by) { return std::rotr(bits, by); });
}

int swap_bytes(lua_State* L) { return push_bits(L, __builtin_bswap32(bits_at(L, 1))); }

// The number of digits may be any 32-bit number; the smallest has no positive counterpart, so the
// bound is applied before the sign is removed.
int to_hex(lua_State* L) {
  constexpr int kDigitsMax = 8;
  uint32_t bits = bits_at(L, 1);
  const int32_t asked = lua_isnone(L, 2) ? kDigitsMax : static_cast<int32_t>(bits_at(L, 2));
  const std::string_view digits = asked < 0 ? "0123456789ABCDEF" : kHexDigits;
  const int count = asked <= -kDigitsMax || asked >= kDigitsMax ? kDigitsMax
                    : asked < 0                                 ? -asked
                                                                : asked;
  char text[kDigitsMax];
  for (int i = count; i-- > 0; bits >>= 4) text[i] = digits[bits & 15];
  lua_pushlstring(L, text, static_cast<size_t>(count));
  return 1;
}

constexpr luaL_Reg kBitFunctions[] = {
    {"tobit", to_bits},      {"bnot", bit_not},         {"band", bit_and},
    {"bor", bit_or},         {"bxor", bit_xor},         {"lshift", shift_left},
    {"rshift", shift_right}, {"arshift", shift_signed}, {"rol", rotate_left},
    {"ror", rotate_right},   {"bswap", swap_bytes},     {"tohex", to_hex}};

}  // namespace

void push_bit_library(lua_State* L) {
  lua_newtable(L);
  for (const luaL_Reg& function : kBitFunctions) {
    lua_pushcfunction(L, function.func);
    lua_setfield(L, -2, function.name);
  }
}

}  // namespace weir::server::script
