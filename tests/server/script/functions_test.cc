// Libraries of functions: what is accepted, what functions see, what outlives a restart.
#include <gmock/gmock.h>

#include "server/script/run/function_dump.h"
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kCounter =
    "#!lua name=counter\n"
    "local step = 2\n"
    "redis.register_function('add', function(keys, args)\n"
    "  return redis.call('incrby', keys[1], step * args[1])\n"
    "end)\n"
    "redis.register_function{function_name='peek', description='looks',\n"
    "  callback=function(keys) return redis.call('get', keys[1]) end,\n"
    "  flags={'no-writes', 'allow-stale'}}\n";

struct FunctionsTest : ::testing::Test {
  std::string load(std::string_view code) { return client->call({"FUNCTION", "LOAD", code}); }
  std::string replace(std::string_view code) {
    return client->call({"FUNCTION", "LOAD", "REPLACE", code});
  }
  // The error of a library of this body, without what stands in front of all.
  std::string refusal(std::string body) { return load("#!lua name=a\n" + body); }
  std::string list() { return client->call({"FUNCTION", "LIST", "WITHCODE"}); }
  void restart() {
    client.reset();
    auto next = std::make_unique<FakeServer>(Config(), server->disk().after_kill());
    server = std::move(next);
    client = server->connect();
  }

  std::unique_ptr<FakeServer> server = std::make_unique<FakeServer>();
  std::unique_ptr<FakeClient> client = server->connect();
};

TEST_F(FunctionsTest, RunByName) {
  EXPECT_EQ(load(kCounter), bulk("counter"));
  EXPECT_EQ(client->call({"FCALL", "add", "1", "k", "5"}), ":10\r\n");
  EXPECT_EQ(client->call({"fcall", "ADD", "1", "k", "1"}), ":12\r\n");
  EXPECT_EQ(client->call({"FCALL_RO", "peek", "1", "k"}), bulk("12"));
  EXPECT_EQ(client->call({"FCALL_RO", "add", "1", "k", "1"}),
            "-ERR Can not execute a script with write flag using *_ro command.\r\n");
  EXPECT_EQ(client->call({"FCALL", "nope", "x"}), "-ERR Function not found\r\n");
  EXPECT_EQ(client->call({"FCALL", "add", "x"}), "-ERR Bad number of keys provided\r\n");
  EXPECT_EQ(client->call({"FCALL", "add", "1"}),
            "-ERR Number of keys can't be greater than number of args\r\n");
  EXPECT_EQ(client->call({"FCALL", "add", "-1"}), "-ERR Number of keys can't be negative\r\n");
  EXPECT_EQ(client->call({"FCALL", "add", "1", "k", "x"}),
            "-ERR user_function:4: attempt to perform arithmetic on field '?' (a string value) "
            "script: add, on @user_function:4.\r\n");
}

TEST_F(FunctionsTest, AreRefusedInRedisWords) {
  EXPECT_EQ(load("return 1"), "-ERR Missing library metadata\r\n");
  EXPECT_EQ(load("#!lua"), "-ERR Invalid library metadata\r\n");
  EXPECT_EQ(load("#!lua\n"), "-ERR Library name was not given\r\n");
  EXPECT_EQ(load("#!js name=a\n"), "-ERR Engine 'js' not found\r\n");
  EXPECT_EQ(load("#!lua name=a name=b\n"),
            "-ERR Invalid metadata value, name argument was given multiple times\r\n");
  EXPECT_EQ(load("#!lua foo=a\n"), "-ERR Invalid metadata value given: foo=a\r\n");
  EXPECT_THAT(load("#!lua name=a-b\n"), StartsWith("-ERR Library names can only contain letters"));
  EXPECT_EQ(refusal(""), "-ERR No functions registered\r\n");
  EXPECT_EQ(refusal("if"),
            "-ERR Error compiling function: user_function:2: unexpected symbol near "
            "'<eof>'\r\n");
  const std::string f = "redis.register_function('f',function() end) ";
  EXPECT_EQ(refusal(f + f),
            "-ERR Error registering functions: ERR Function already exists in the library\r\n");
  EXPECT_EQ(refusal("redis.register_function{function_name='f',callback=function() end,"
                    "flags={'x'}}"),
            "-ERR Error registering functions: ERR unknown flag given\r\n");
  EXPECT_EQ(load(std::string("#!lua name=a\n") + f), bulk("a"));
  EXPECT_EQ(load(std::string("#!lua name=a\n") + f), "-ERR Library 'a' already exists\r\n");
  EXPECT_EQ(replace(std::string("#!lua name=a\n") + f), bulk("a"));
  EXPECT_EQ(replace("#!lua name=b\nredis.register_function('F',function() end)"),
            "-ERR Function F already exists\r\n");
  EXPECT_EQ(client->call({"FUNCTION", "DELETE", "b"}), "-ERR Library not found\r\n");
}

TEST_F(FunctionsTest, DoNothingWhileTheyAreLoaded) {
  for (const std::string name : {"call", "pcall", "setresp", "sha1hex", "error_reply"}) {
    EXPECT_EQ(refusal("redis." + name + "('set','a','1')"),
              "-ERR Error registering functions: ERR user_function:2: Script attempted to access "
              "nonexistent global variable '" +
                  name + "'\r\n");
  }
  for (const std::string name : {"pcall", "math", "string", "_G", "KEYS", "setfenv"}) {
    EXPECT_THAT(refusal("return " + name), HasSubstr("nonexistent global variable '" + name))
        << name;
  }
  EXPECT_THAT(refusal("x=1"), HasSubstr("Attempt to modify a readonly table"));
  EXPECT_THAT(refusal("redis.x=1"), HasSubstr("Attempt to modify a readonly table"));
  EXPECT_EQ(client->call({"DBSIZE"}), ":0\r\n");
  server->clock.tick_per_look_ns = kSecond;
  EXPECT_EQ(refusal("while true do end"),
            "-ERR Error registering functions: ERR FUNCTION LOAD timeout\r\n");
  server->clock.tick_per_look_ns = 0;
  EXPECT_EQ(list(), "*0\r\n");
}

TEST_F(FunctionsTest, SeeNothingOfOneAnother) {
  load("#!lua name=a\nlocal n=0 redis.register_function('a',function() n=n+1 return n end)");
  load("#!lua name=b\nredis.register_function('b',function(k,a) return loadstring(a[1])() end)");
  EXPECT_EQ(client->call({"FCALL", "a", "0"}), ":1\r\n");
  EXPECT_EQ(client->call({"FCALL", "a", "0"}), ":2\r\n");
  for (const std::string_view script :
       {"n=1", "return n", "redis.x=1", "string.x=1", "_G.x=1", "rawset(_G,'x',1)", "return KEYS",
        "return a", "getmetatable('').__index.x=1"}) {
    EXPECT_THAT(client->call({"FCALL", "b", "0", script}), StartsWith("-")) << script;
  }
  EXPECT_EQ(client->call({"FCALL", "b", "0", "return redis.register_function"}), "$-1\r\n");
  EXPECT_EQ(client->call({"EVAL", "return redis.register_function", "0"}), "$-1\r\n");
  // What was caught while loading is as little as it was then.
  load(
      "#!lua name=c\nlocal r=redis redis.register_function('c',function() r.call('ping') end) "
      "redis.register_function('d',function() r.register_function('e',function() end) end)");
  EXPECT_THAT(client->call({"FCALL", "c", "0"}), HasSubstr("nonexistent global variable 'call'"));
  EXPECT_THAT(client->call({"FCALL", "d", "0"}), HasSubstr("only be called on FUNCTION LOAD"));
}

TEST_F(FunctionsTest, AreListed) {
  load(kCounter);
  load("#!lua name=other\nredis.register_function('f',function() end)");
  const std::string counter =
      "*6\r\n" + bulk("library_name") + bulk("counter") + bulk("engine") + bulk("LUA") +
      bulk("functions") + "*2\r\n*6\r\n" + bulk("name") + bulk("add") + bulk("description") +
      "$-1\r\n" + bulk("flags") + "*0\r\n*6\r\n" + bulk("name") + bulk("peek") +
      bulk("description") + bulk("looks") + bulk("flags") + "*2\r\n+no-writes\r\n+allow-stale\r\n";
  EXPECT_EQ(client->call({"FUNCTION", "LIST", "LIBRARYNAME", "COUNT*"}), "*1\r\n" + counter);
  EXPECT_THAT(client->call({"FUNCTION", "LIST", "WITHCODE", "LIBRARYNAME", "c*"}),
              HasSubstr(bulk("library_code") + bulk(kCounter)));
  EXPECT_EQ(client->call({"FUNCTION", "LIST", "LIBRARYNAME"}),
            "-ERR library name argument was not given\r\n");
  EXPECT_EQ(client->call({"FUNCTION", "LIST", "X"}), "-ERR Unknown argument X\r\n");
  client->call({"HELLO", "3"});
  EXPECT_EQ(client->call({"FUNCTION", "STATS"}),
            "%2\r\n" + bulk("running_script") + "_\r\n" + bulk("engines") + "%1\r\n" + bulk("LUA") +
                "%2\r\n" + bulk("libraries_count") + ":2\r\n" + bulk("functions_count") + ":3\r\n");
}

TEST_F(FunctionsTest, OutliveARestartAndFlushall) {
  load(kCounter);
  client->call({"FCALL", "add", "1", "k", "1"});
  EXPECT_EQ(client->call({"FLUSHALL"}), "+OK\r\n");
  const std::string before = list();
  restart();
  EXPECT_EQ(list(), before);
  EXPECT_EQ(client->call({"FCALL", "add", "1", "k", "1"}), ":2\r\n");
  EXPECT_EQ(client->call({"FUNCTION", "DELETE", "counter"}), "+OK\r\n");
  restart();
  EXPECT_EQ(list(), "*0\r\n");
  load(kCounter);
  EXPECT_EQ(client->call({"FUNCTION", "FLUSH", "ASYNC"}), "+OK\r\n");
  restart();
  EXPECT_EQ(client->call({"FCALL", "add", "1", "k", "1"}), "-ERR Function not found\r\n");
}

TEST_F(FunctionsTest, OfAFailedTurnAreGone) {
  load(kCounter);
  server->disk().faults.disk_full = true;
  EXPECT_THAT(load("#!lua name=b\nredis.register_function('b',function() end)"),
              StartsWith("-MISCONF"));
  EXPECT_EQ(client->call({"FCALL", "b", "0"}), "-ERR Function not found\r\n");
  EXPECT_EQ(client->call({"FCALL_RO", "peek", "1", "k"}), "$-1\r\n");
  EXPECT_THAT(client->call({"FCALL", "add", "1", "k", "1"}), StartsWith("-MISCONF"));
}

TEST_F(FunctionsTest, AreDumpedAndRestored) {
  load(kCounter);
  const std::string reply = client->call({"FUNCTION", "DUMP"});
  const std::string payload = reply.substr(reply.find('\n') + 1, reply.size() - 6 - 2);
  const auto restore = [&](std::string_view policy) {
    return client->call({"FUNCTION", "RESTORE", payload, policy});
  };
  const std::string before = list();
  EXPECT_EQ(client->call({"FUNCTION", "RESTORE", payload}),
            "-ERR Library counter already exists\r\n");
  EXPECT_EQ(restore("APPEND"), "-ERR Library counter already exists\r\n");
  EXPECT_EQ(restore("replace"), "+OK\r\n");
  EXPECT_EQ(list(), before);
  load("#!lua name=b\nredis.register_function('b',function() end)");
  EXPECT_EQ(restore("FLUSH"), "+OK\r\n");
  EXPECT_EQ(list(), before);
  EXPECT_THAT(restore("x"), StartsWith("-ERR Wrong restore policy given"));
  client->call({"FUNCTION", "FLUSH"});
  load("#!lua name=b\nredis.register_function('ADD',function() return 'mine' end)");
  EXPECT_EQ(restore("REPLACE"), "-ERR Function add already exists\r\n");
  EXPECT_EQ(client->call({"FCALL", "add", "0"}), bulk("mine"));
  std::string broken = payload;
  broken[20] ^= 1;
  EXPECT_EQ(client->call({"FUNCTION", "RESTORE", broken}),
            "-ERR DUMP payload version or checksum are wrong\r\n");
}

// Bytes that Redis 7.0.15 answered.
TEST(FunctionDump, IsThatOfRedis) {
  const std::string plain(
      "\xf5@C#!lua name=a\nredis.register_function('f',function() return 'a' end)\n\x00\x91\xc3\xb8"
      "p^VB)",
      80);
  const auto codes = script::parse_dump(plain);
  ASSERT_TRUE(codes.ok()) << codes.error();
  ASSERT_EQ(codes->size(), 1u);
  EXPECT_THAT((*codes)[0], StartsWith("#!lua name=a\nredis.register_function('f'"));
  EXPECT_EQ(script::dump_libraries({(*codes)[0]}), plain);
  EXPECT_EQ(script::dump_libraries({}), std::string("\n\0]\x9b\\@\x0f\x7f\xa2\xda", 10));
  for (size_t size = 0; size < plain.size(); ++size)
    EXPECT_FALSE(script::parse_dump(plain.substr(0, size)).ok()) << size;
  const std::string large(20'000, 'x');
  EXPECT_EQ(script::parse_dump(script::dump_libraries({large, "", large})).value(),
            (std::vector<std::string>{large, "", large}));
}

// The same library with 300 dashes after it, which Redis compresses.
TEST(FunctionDump, IsReadWhereRedisCompresses) {
  const std::string_view digits =
      "f5c3404a416f1f23216c7561206e616d653d610a72656469732e72656769737465725f66756e6308"
      "74696f6e282766272ce0000c08292072657475726e2020150520656e64292de0ff00e01800012d2d"
      "0a0089249ea16d5366ec";
  std::string packed;
  for (size_t i = 0; i < digits.size(); i += 2)
    packed.push_back(static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  const auto codes = script::parse_dump(packed);
  ASSERT_TRUE(codes.ok()) << codes.error();
  EXPECT_EQ((*codes)[0], "#!lua name=a\nredis.register_function('f',function() return 'f' end)" +
                             std::string(300, '-'));
}

}  // namespace
}  // namespace weir::server
