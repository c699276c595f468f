// Whether a script may assign to a global variable: what says no is trusted with the table of
// globals (script/run/engine.cc), so nothing that assigns may say no.
#include "server/script/lua/bytecode.h"

#include <gtest/gtest.h>

#include <lua.hpp>
#include <string>
#include <string_view>

namespace weir::server::script {
namespace {

bool may_assign(const std::string& script) {
  lua_State* L = luaL_newstate();
  EXPECT_EQ(luaL_loadbuffer(L, script.data(), script.size(), "@user_script"), 0) << script;
  const bool may = may_assign_globals(L);
  EXPECT_EQ(lua_gettop(L), 1);
  lua_close(L);
  return may;
}

TEST(Bytecode, WhatAssignsToAGlobalIsSeen) {
  for (const std::string_view script :
       {"x = 1", "redis = nil", "function f() end", "local a a, b = 1, 2", "if KEYS then x = 1 end",
        "return function() x = 1 end", "local function f() local function g() x = 1 end end",
        "local a = {b = function() return function() c = 1 end end}", "for i = 1, 2 do x = i end",
        "local s, n, t = 'text', 1.5, true y = s return nil", "do local a = 1 end x = 1",
        "local u = 1 return function() u = 2 x = u end"}) {
    EXPECT_TRUE(may_assign(std::string(script))) << script;
  }
}

TEST(Bytecode, WhatAssignsToNoneIsFree) {
  for (const std::string_view script :
       {"", "return 1", "local x = 1 x = 2 return x", "return redis.call('GET', KEYS[1])",
        "local t = {} t.x = 1 t[1], t[2] = 3, nil", "_G.x = 1", "KEYS.x = 1",
        "local function f(a, ...) a = ... return f end return f(1, 2, 3)",
        "local u = 1 return function() u = 2 return u end",
        "local s, n, t = 'text', -1.5e300, true return s .. n, t, nil, false"}) {
    EXPECT_FALSE(may_assign(std::string(script))) << script;
  }
}

TEST(Bytecode, WhatIsTooLongIsNotTrusted) {
  std::string script = "return {";
  for (int i = 0; i < 30'000; ++i) script += std::to_string(i) + ".5,";
  EXPECT_TRUE(may_assign(script + "}"));
}

TEST(Bytecode, DeepFunctionsAreLookedInto) {
  std::string begin;
  std::string end;
  for (int i = 0; i < 80; ++i) {
    begin += "local f = function() ";
    end += " end";
  }
  EXPECT_FALSE(may_assign(begin + "return 1" + end));
  EXPECT_TRUE(may_assign(begin + "x = 1" + end));
}

}  // namespace
}  // namespace weir::server::script
