// A script that runs or grows without end is stopped, and everybody else is served.
#include <gmock/gmock.h>

#include "server/script/run/scripts.h"
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct ScriptBounds : ::testing::Test {
  std::string eval(std::string_view script) { return client->call({"EVAL", script, "0"}); }

  FakeServer server;
  std::unique_ptr<FakeClient> client = server.connect();
};

// The records of a shard's turns are of whoever can write to its log.
TEST_F(ScriptBounds, OfNumbersInRecordsNobodyCountsTo) {
  storage::Keyspace& keys = server->keys();
  const auto put = [&](std::string_view key, std::string_view value) {
    storage::Ref record = keys.look_up_system(key);
    keys.put(&record, storage::Type::kSystem, value, 0);
  };
  keys.running().begin_command(server->timeline().now_ns());
  const std::string head = std::string("\1\0", 2) + std::string(20, 'n');
  put("scripts", "\xff\xff\xff\xff");
  for (const char* number : {"3", "5", "4294967294", "4294967295", "x", "07"})
    put("script/" + std::string(number), head + "return 1");
  server->scripting().scripts.open();
  ASSERT_TRUE(keys.commit_turn().ok());
  EXPECT_EQ(server->scripting().scripts.metrics().scripts, 1u) << "of one name";
  for (int i = 0; i < 600; ++i)
    EXPECT_EQ(eval("return " + std::to_string(i)), ":" + std::to_string(i) + "\r\n");
  EXPECT_EQ(client->call({"SCRIPT", "FLUSH"}), "+OK\r\n");
  EXPECT_EQ(eval("return 7"), ":7\r\n");
}

// As with Redis, whose own limit is what unpack() can put on the stack.
TEST_F(ScriptBounds, OfArgumentsAreThoseOfUnpack) {
  for (const int count : {7990, 7994, 7999}) {
    const std::string script =
        "local t={} for i=1," + std::to_string(count) + " do t[i]='x' end return ";
    EXPECT_EQ(eval(script + "redis.call('del','k') + redis.call('lpush','k',unpack(t))"),
              ":" + std::to_string(count) + "\r\n")
        << count;
    client->call({"DEL", "k"});
  }
}

// Each look at the clock, one in some instructions, finds a second gone.
TEST_F(ScriptBounds, OfTimeAreKeptWhateverTheScriptDoes) {
  server.clock.tick_per_look_ns = kSecond;
  for (const std::string_view script :
       {"while true do end", "while true do pcall(function() while true do end end) end",
        "local function f() return f() end f()",
        "while true do coroutine.wrap(function() while true do end end)() end",
        "while true do pcall(coroutine.wrap(function() while true do end end)) end",
        "repeat local ok=pcall(redis.call,'incr','n') until false",
        "xpcall(function() while true do end end,function() while true do end end)",
        "local t=setmetatable({},{__index=function(t,k) return t[k+1] end}) while true do "
        "pcall(function() return t[1] end) end",
        "for i=1,1e18 do string.format('%d',i) end"}) {
    EXPECT_THAT(eval(script), StartsWith("-ERR the script ran longer than script-time-limit-ms "
                                         "(500) and was stopped, its changes are undone"))
        << script;
  }
  server.clock.tick_per_look_ns = 0;
  EXPECT_EQ(eval("local n=0 for i=1,300000 do n=n+1 end return n"), ":300000\r\n");
}

// Few instructions, each of which may last for ever.
TEST_F(ScriptBounds, OfTimeCountTheWorkOfFunctions) {
  server.clock.tick_per_look_ns = kSecond;
  for (const std::string_view script :
       {"return string.find(string.rep('a',3000),string.rep('a?',1500)..string.rep('a',3000))",
        "return string.find(string.rep('a',100000),'.-.-.-.-b')",
        "return string.match(string.rep('a',100000),'.*.*.*b')",
        "return string.gsub(string.rep('a',1000000),'.-b','x')",
        "return string.gsub(string.rep('(',1000000),'%b()','x')",
        "for w in string.gmatch(string.rep('a',1000000),'.-b') do end",
        "return string.find(string.rep('a',300000),'['..string.rep('b',300000)..']')",
        "local s='x' while true do pcall(function() s=s..s end) end",
        "while true do redis.sha1hex(string.rep('x',1e6)) end",
        "while true do string.rep('x',1e6) end",
        "local t={} for i=1,10000 do t[i]=i end for i=1,100 do table.sort(t) end",
        "local t={} for i=1,60 do t={t,t} end return cjson.encode(t)",
        "local t={} for i=1,15 do t={t,t,t,t,t} end return cmsgpack.pack(t)",
        "local t={} for i=1,60 do t={t,t} end return t",
        "local s=string.rep('9',1e6) for i=1,10 do local n=s+0 end",
        "local s=string.rep('9',1e6) for i=1,10 do local n=tonumber(s) end",
        "local s,t=string.rep('a',1e6),string.rep('a',1e6)..'b' for i=1,10 do local n=s<t end",
        "coroutine.wrap(function() local s=string.rep('9',1e6) for i=1,10 do local n=s+0 end "
        "end)()",
        "local s=string.rep('9',1e6) local c=coroutine.create(function() for i=1,10 do local n=s+0 "
        "end "
        "end) coroutine.resume(c)",
        "return cjson.decode('['..string.rep('1,',5000)..'1]')",
        "return #cmsgpack.unpack('\\220\\19\\136'..string.rep('\\1',5000))",
        "redis.log(redis.LOG_DEBUG,string.rep('x',1e5))",
        "return loadstring(string.rep('if x then else',1e5))",
        "for i=1,100 do redis.call('get','k') end"}) {
    EXPECT_THAT(eval(script), HasSubstr("ran longer than script-time-limit-ms")) << script;
  }
  std::string slow;
  for (int i = 0; i < 100'000; ++i) slow += "if x then else";
  EXPECT_THAT(eval(slow),
              StartsWith("-ERR Error compiling script (new function): it takes longer"));
  server.clock.tick_per_look_ns = 0;
  EXPECT_EQ(eval("return string.rep('',1e9)"), "$0\r\n\r\n");
  EXPECT_EQ(eval("local s=string.rep('a',2e6) return s:find(string.rep('a',1e6)..'b',1,true)"),
            "$-1\r\n");
}

TEST_F(ScriptBounds, OfTimeUndoWhatWasWritten) {
  client->call({"SET", "a", "before"});
  server.clock.tick_per_look_ns = kSecond;
  EXPECT_THAT(eval("redis.call('set','a','after') redis.call('set','b','1') while true do end"),
              HasSubstr("its changes are undone"));
  server.clock.tick_per_look_ns = 0;
  EXPECT_EQ(client->call({"GET", "a"}), bulk("before"));
  EXPECT_EQ(client->call({"EXISTS", "b"}), ":0\r\n");
  EXPECT_EQ(client->call({"DBSIZE"}), ":1\r\n");
  EXPECT_EQ(server->scripting().scripts.metrics().scripts, 1u);  // it is known all the same
}

TEST_F(ScriptBounds, OfTimeCanBeLifted) {
  EXPECT_EQ(client->call({"CONFIG", "SET", "script-time-limit-ms", "0"}), "+OK\r\n");
  server.clock.tick_per_look_ns = kSecond;
  EXPECT_EQ(eval("for i=1,3000000 do end return 1"), ":1\r\n");
}

// Whatever it catches: without the bound it would have gone on otherwise.
TEST_F(ScriptBounds, OfMemoryUndoTheScriptAndSpareTheServer) {
  EXPECT_EQ(client->call({"CONFIG", "SET", "script-memory-max", "4mb"}), "+OK\r\n");
  for (const std::string_view script :
       {"local t={} while true do t[#t+1]={} end", "local s='x' while true do s=s..s end",
        "return string.rep('x',1e9)", "return #string.rep('x',1e9)",
        "local t={} for i=1,1e7 do t[i]=i end return #t",
        "local s=string.rep('x',1e6) return table.concat({s,s,s,s,s,s})",
        "local s=string.rep('x',1e5) local t={} for i=1,1000 do t[i]=s end return cjson.encode(t)",
        "local s=string.rep('x',1e5) local t={} for i=1,1000 do t[i]=s end return cmsgpack.pack(t)",
        "local s='x' return pcall(function() while true do s=s..s end end) and 1 or error('y'..s)",
        "pcall(string.rep,'x',1e9) return 'caught'",
        "coroutine.resume(coroutine.create(function() return string.rep('x',1e9) end)) return 1",
        "redis.call('append','a',string.rep('x',1e6)) return string.rep('x',4e6)",
        "local s=string.rep('x',1e6) while true do redis.call('append','a',s) s=s..s end"}) {
    EXPECT_THAT(eval("redis.call('set','n','1') " + std::string(script)),
                AllOf(StartsWith("-ERR the script needs more memory than script-memory-max "
                                 "(4194304 bytes), its changes are undone; script: "),
                      Not(HasSubstr("@user_script"))))
        << script;
    EXPECT_EQ(client->call({"DBSIZE"}), ":0\r\n") << script;
    EXPECT_EQ(eval("local t={} for i=1,1000 do t[i]={i} end return #t"), ":1000\r\n");
  }
  EXPECT_LT(server->scripting().scripts.metrics().engine_bytes, 6u << 20);
}

TEST_F(ScriptBounds, OfMemoryUndoAFunctionInATransactionAlone) {
  client->call({"CONFIG", "SET", "script-memory-max", "4mb"});
  client->call({"FUNCTION", "LOAD",
                "#!lua name=l\nredis.register_function('f', function(keys) "
                "redis.call('set',keys[1],'1') return string.rep('x',1e9) end)"});
  client->call({"MULTI"});
  client->call({"SET", "before", "1"});
  client->call({"FCALL", "f", "1", "k"});
  client->call({"SET", "after", "1"});
  EXPECT_THAT(client->call({"EXEC"}),
              AllOf(StartsWith("*3\r\n+OK\r\n-ERR the script needs more memory"),
                    HasSubstr("its changes are undone; script: f\r\n+OK\r\n")));
  EXPECT_EQ(client->call({"EXISTS", "before", "k", "after"}), ":2\r\n");
}

TEST_F(ScriptBounds, OfAReplyAreBoundsOfMemory) {
  client->call({"CONFIG", "SET", "script-memory-max", "4mb"});
  for (const std::string_view script :
       {"local t={1} for i=1,40 do t={t,t} end return t",
        "local s=string.rep('x',1e5) local t={} for i=1,1000 do t[i]=s end return t"}) {
    EXPECT_THAT(eval("redis.call('set','n','1') " + std::string(script)),
                StartsWith("-ERR the script's reply is larger than script-memory-max (4194304 "
                           "bytes), its changes are undone; script: "));
    EXPECT_EQ(client->call({"EXISTS", "n"}), ":0\r\n");
  }
  EXPECT_EQ(client->call({"PING"}), "+PONG\r\n");
}

// As with Redis: what ends by an error of its own keeps what it wrote before, and so does a script
// whose command weir refuses where Redis would have taken it, because the script may catch that.
TEST_F(ScriptBounds, ErrorsOfTheScriptAndItsCommandsKeepWhatItWrote) {
  for (const std::string_view ending :
       {"error('own')", "error({})", "redis.call('incr','text')",
        "redis.call('get',string.rep('k',70000))", "redis.call('hrandfield','h',-2000000)",
        "local function f() return 1+f() end f()"}) {
    client->call({"FLUSHALL"});
    client->call({"SET", "text", "x"});
    client->call({"HSET", "h", "f", "v"});
    const std::string reply = eval("redis.call('set','n','1') " + std::string(ending));
    EXPECT_THAT(reply, StartsWith("-")) << ending;
    EXPECT_THAT(reply, Not(HasSubstr("undone"))) << ending;
    EXPECT_EQ(client->call({"GET", "n"}), bulk("1")) << ending;
  }
}

TEST_F(ScriptBounds, OfDepth) {
  EXPECT_THAT(eval("local function f() return 1+f() end f()"), HasSubstr("stack overflow"));
  EXPECT_THAT(eval("local t={} for i=1,100000 do t={t} end return cjson.encode(t)"),
              HasSubstr("excessive nesting (1001)"));
  EXPECT_THAT(eval("cjson.encode_max_depth(1e9) local t={} for i=1,1e5 do t={t} end "
                   "return cjson.encode(t)"),
              HasSubstr("excessive nesting"));
  EXPECT_THAT(eval("cjson.decode_max_depth(1e9) return cjson.decode(string.rep('[',1e6))"),
              HasSubstr("too many nested data structures"));
  EXPECT_THAT(eval("return cmsgpack.unpack(string.rep('\\145',1e6))"), StartsWith("-ERR"));
  EXPECT_THAT(eval("local t={} t[1]=t return t"), HasSubstr("reached lua stack limit"));
  EXPECT_THAT(eval("return loadstring('return '..string.rep('(',1e5))"), StartsWith("$-1"));
  EXPECT_THAT(eval("local t={} t.x=t return redis.call('echo',t)"), StartsWith("-ERR"));
  EXPECT_EQ(client->call({"PING"}), "+PONG\r\n");
}

}  // namespace
}  // namespace weir::server
