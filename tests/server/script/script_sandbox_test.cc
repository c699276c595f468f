// A script reaches nothing but its keys: not the process, not bytecode, not what other scripts see.
// The published escapes from Redis' sandbox are tried by name.
#include <gmock/gmock.h>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ScriptSandbox : public ::testing::Test {
 protected:
  std::string eval(std::string_view script) { return client_->call({"EVAL", script, "0"}); }

  // Whatever a script tried, the next one finds the world as it was.
  void expect_intact() {
    EXPECT_EQ(eval("return string.format('%s %d',type(redis.call),math.floor(2.5))"),
              bulk("function 2"));
    EXPECT_EQ(eval("return ('x'):rep(2)..cjson.encode({1})..tostring(#KEYS)"), bulk("xx[1]0"));
    EXPECT_EQ(client_->call({"PING"}), "+PONG\r\n");
  }

  FakeServer server_;
  std::unique_ptr<FakeClient> client_ = server_.connect();
};

TEST_F(ScriptSandbox, NothingThatReachesTheProcessIsThere) {
  for (const std::string_view name :
       {"os", "io", "package", "require", "debug", "loadfile", "dofile", "print", "module",
        "getfenv", "setfenv", "newproxy", "jit", "ffi", "arg", "__redis__err__handler"}) {
    EXPECT_THAT(eval("return " + std::string(name)),
                HasSubstr("nonexistent global variable '" + std::string(name) + "'"));
    EXPECT_EQ(eval("return rawget(_G,'" + std::string(name) + "')"), "$-1\r\n");
  }
}

TEST_F(ScriptSandbox, TheGlobalsAreTheseAndNoOthers) {
  EXPECT_EQ(eval("local t={} for k in pairs(_G) do t[#t+1]=k end table.sort(t) "
                 "return table.concat(t,' ')"),
            bulk("ARGV KEYS _G _VERSION assert bit cjson cmsgpack collectgarbage coroutine error "
                 "gcinfo getmetatable ipairs load loadstring math next pairs pcall rawequal rawget "
                 "rawset redis select setmetatable string struct table tonumber tostring type "
                 "unpack xpcall"));
}

TEST_F(ScriptSandbox, BytecodeIsNotLoaded) {
  EXPECT_EQ(eval("return {tostring((loadstring(string.dump(function() return 5 end))))}"),
            "*1\r\n" + bulk("nil"));
  EXPECT_EQ(eval("local d=string.dump(function() end) local done "
                 "return tostring((load(function() if not done then done=1 return d end end)))"),
            bulk("nil"));
  EXPECT_THAT(eval(std::string("\033Lua") + std::string(20, '\0')),
              StartsWith("-ERR Error compiling script"));
  EXPECT_EQ(eval("return loadstring('return 7')()"), ":7\r\n");
  EXPECT_EQ(eval("local n=0 return load(function() n=n+1 return ({'return ','8'})[n] end)()"),
            ":8\r\n");
}

TEST_F(ScriptSandbox, SharedTablesAreReadOnly) {
  for (const std::string_view script : {"foo=1",
                                        "redis=1",
                                        "KEYS={}",
                                        "_G.x=1",
                                        "_G._G=1",
                                        "redis.call=1",
                                        "string.x=1",
                                        "math.huge=1",
                                        "table.sort=nil",
                                        "cjson.null=1",
                                        "cjson.encode=nil",
                                        "struct.x=1",
                                        "cmsgpack.x=1",
                                        "bit.band=1",
                                        "coroutine.wrap=1",
                                        "getmetatable('').__index=1",
                                        "getmetatable(_G).__index=nil",
                                        "getmetatable('').__add=print",
                                        "rawset(_G,'x',1)",
                                        "rawset(string,'x',1)",
                                        "rawset(getmetatable(''),'__index',1)",
                                        "table.insert(string,1)",
                                        "table.insert(_G,1,2)",
                                        "setmetatable(_G,{})",
                                        "setmetatable(string,{})",
                                        "setmetatable(getmetatable(''),{})",
                                        "loadstring('x=1')()",
                                        "(function() y=1 end)()",
                                        "coroutine.wrap(function() z=1 end)()",
                                        "for k,v in pairs(_G) do _G[k]=1 end",
                                        "local f,t=pairs(_G) t.x=1",
                                        "local f,t=pairs(redis) rawset(t,'x',1)"}) {
    EXPECT_THAT(eval(script), AnyOf(HasSubstr("Attempt to modify a readonly table"),
                                    HasSubstr("nonexistent global variable")))
        << script;
  }
  expect_intact();
  EXPECT_EQ(eval("return {type(rawget(_G,'x')),type(string.x),#string,#_G}"),
            "*4\r\n" + bulk("nil") + bulk("nil") + ":0\r\n:0\r\n");
}

// A script that assigns to no global reads the table of globals itself, and not through the
// stand-in. It finds the same, and gets no further than others do.
TEST_F(ScriptSandbox, WhoAssignsToNoGlobalChangesNoneEither) {
  for (const std::string_view script :
       {"local t = _G t.x = 1", "local t = _G t.redis = nil", "rawset(_G, 'redis', 1)",
        "local f = loadstring('redis = 1') f()", "local f = loadstring('KEYS = 1') f()",
        "load((function() local n = 0 return function() n = n + 1 return ({'x ', '= 1'})[n] end "
        "end)())()",
        "pcall(loadstring('tonumber = nil')) local t = redis t.call = nil",
        "coroutine.wrap(loadstring('math = nil'))()", "local m = math m.floor = nil",
        "setmetatable(_G, {})", "local t = getmetatable(_G) t.__index = nil"}) {
    EXPECT_THAT(eval(script), HasSubstr("Attempt to modify a readonly table")) << script;
    expect_intact();
  }
  EXPECT_THAT(eval("return nothing"),
              AllOf(HasSubstr("Script attempted to access nonexistent global variable 'nothing'"),
                    HasSubstr("on @user_script:1.")));
  EXPECT_EQ(eval("return {type(_G.redis), tostring(_G.redis == redis), tostring(_G.KEYS == KEYS), "
                 "tostring(_G._G == _G), tostring(rawget(_G, 'redis') == redis)}"),
            "*5\r\n" + bulk("table") + bulk("true") + bulk("true") + bulk("true") + bulk("true"));
  // Each run has arguments of its own.
  EXPECT_EQ(client_->call({"EVAL", "return {KEYS[1], ARGV[1]}", "1", "a", "b"}),
            "*2\r\n" + bulk("a") + bulk("b"));
  EXPECT_EQ(client_->call({"EVAL", "return {KEYS[1], ARGV[1]}", "1", "c", "d"}),
            "*2\r\n" + bulk("c") + bulk("d"));
  EXPECT_EQ(client_->call({"EVAL", "return {tostring(KEYS[1]), #ARGV}", "0"}),
            "*2\r\n" + bulk("nil") + ":0\r\n");
}

TEST_F(ScriptSandbox, WhatBehavesLikeAWriteReachesNothingShared) {
  for (const std::string_view script :
       {"table.sort(string)", "table.remove(string)", "error(redis)", "error(_G)",
        "return pcall(error,string)", "table.foreach(_G,function(k) return nil end)",
        "return cjson.encode(_G)", "return cmsgpack.pack(redis)", "return redis", "return _G",
        "return {ok=redis}", "setmetatable({},{__index=_G,__newindex=_G}).q=1",
        "setmetatable({},{__newindex=string}).q=1", "string.gsub('a','a',_G)"}) {
    eval(script);
  }
  expect_intact();
  EXPECT_EQ(eval("return {type(rawget(string,'q')),type(rawget(string,'source'))}"),
            "*2\r\n" + bulk("nil") + bulk("nil"));
}

TEST_F(ScriptSandbox, OneScriptLeavesNothingForTheNext) {
  eval(
      "KEYS.secret='s' ARGV[1]='t' math.randomseed(9) redis.setresp(3) "
      "cjson.encode_sparse_array(true) cjson.decode_max_depth(1) collectgarbage('stop')");
  EXPECT_EQ(eval("return {type(KEYS.secret),#ARGV,(math.randomseed(5) or math.random(1000000)),"
                 "select('#',cjson.decode('[[1]]')),pcall(cjson.encode,{[1]=1,[100]=1})}"),
            "*6\r\n" + bulk("nil") + ":0\r\n:524840\r\n:1\r\n$-1\r\n" +
                bulk("Cannot serialise table: excessively sparse array"));
}

// CVE-2022-0543: Debian's Redis left `package`, and with it io and the shell.
TEST_F(ScriptSandbox, Cve20220543) {
  EXPECT_THAT(eval("local f=package.loadlib('/usr/lib/x86_64-linux-gnu/liblua5.1.so.0',"
                   "'luaopen_io') return f().popen('id','r'):read('*a')"),
              HasSubstr("nonexistent global variable 'package'"));
}

// CVE-2022-24735: functions planted in shared tables ran with another user's rights.
TEST_F(ScriptSandbox, Cve202224735) {
  EXPECT_THAT(eval("rawset(redis,'call',function() return 'evil' end)"), HasSubstr("readonly"));
  EXPECT_THAT(eval("setmetatable(_G,{__index=function() return 'evil' end})"),
              HasSubstr("readonly"));
  expect_intact();
}

// CVE-2024-31449: bit.tohex with the smallest count overran its buffer.
TEST_F(ScriptSandbox, Cve202431449) {
  EXPECT_EQ(eval("return bit.tohex(65535,-2147483648)"), bulk("0000FFFF"));
  EXPECT_EQ(eval("return bit.tohex(65535,2147483647)"), bulk("0000ffff"));
  EXPECT_EQ(eval("return bit.tohex(65535,-2147483647)"), bulk("0000FFFF"));
}

// CVE-2024-46981: finalizers ran in a state being torn down. There is no newproxy, so no script
// makes a finalizer, and a table's __gc means nothing in Lua 5.1.
TEST_F(ScriptSandbox, Cve202446981) {
  EXPECT_THAT(eval("local p=newproxy(true)"), HasSubstr("nonexistent global variable 'newproxy'"));
  eval("for i=1,100 do setmetatable({},{__gc=function() redis.call('set','gc','ran') end}) end");
  eval("collectgarbage() collectgarbage()");
  EXPECT_EQ(client_->call({"GET", "gc"}), "$-1\r\n");
  EXPECT_EQ(client_->call({"SCRIPT", "FLUSH"}), "+OK\r\n");
  expect_intact();
}

// CVE-2025-49844: a chunk's name could be collected while its text was being parsed.
TEST_F(ScriptSandbox, Cve202549844) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(eval("local text='local t={'..string.rep('{\"a\"..1},',500)..'} return 1' "
                   "for i=1,20 do "
                   "local f=loadstring(text,'@'..string.rep('n',100)..i..'\\0'..math.random()) "
                   "collectgarbage() f() end return 1"),
              ":1\r\n");
  }
  expect_intact();
}

// CVE-2025-46817: unpack counted beyond 32 bits.
TEST_F(ScriptSandbox, Cve202546817) {
  for (const std::string_view bounds :
       {"0,2147483647", "-2147483648,2147483647", "1,2147483647", "-2147483648,-1",
        "2147483646,2147483647,1", "-1e300,1e300"}) {
    EXPECT_THAT(eval("return {unpack({1,2}," + std::string(bounds) + ")}"),
                AnyOf(HasSubstr("too many results to unpack"), StartsWith("*")));
  }
  EXPECT_EQ(eval("return #{unpack({},2147483646,2147483647)}"), ":0\r\n");
  expect_intact();
}

// CVE-2025-46818: metatables of basic types were shared and open.
TEST_F(ScriptSandbox, Cve202546818) {
  EXPECT_THAT(eval("getmetatable('').__index=function() return 'evil' end"), HasSubstr("readonly"));
  EXPECT_THAT(eval("setmetatable('',{})"), HasSubstr("table expected"));
  EXPECT_EQ(eval("return {getmetatable(1)==nil,getmetatable(true)==nil}"), "*2\r\n:1\r\n:1\r\n");
  EXPECT_EQ(eval("return getmetatable('').__index==string"), ":1\r\n");
  expect_intact();
}

// CVE-2025-46819: long brackets and their ends were read past the end of the text.
TEST_F(ScriptSandbox, Cve202546819) {
  for (const std::string_view script :
       {"return [==[", "return [=", "--[==[", "return [[x]", "x=[==[]=]", "return ]]"}) {
    EXPECT_THAT(eval(script), StartsWith("-ERR Error compiling script")) << script;
    EXPECT_EQ(eval("return tostring((loadstring('" + std::string(script) + "')))"), bulk("nil"));
  }
  EXPECT_THAT(eval("return " + std::string("[") + std::string(100000, '=')),
              StartsWith("-ERR Error compiling script"));
  expect_intact();
}

}  // namespace
}  // namespace weir::server
