// EVAL and SCRIPT as commands: arguments, names, what is kept and for how long, what is undone.
#include <gmock/gmock.h>

#include "server/script/run/scripts.h"
#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kNoScriptReply = "-NOSCRIPT No matching script. Please use EVAL.\r\n";
constexpr std::string_view kReturnOne = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";

struct Script : ::testing::Test {
  std::string eval(std::string_view script) { return client->call({"EVAL", script, "0"}); }

  FakeServer server;
  std::unique_ptr<FakeClient> client = server.connect();
};

TEST_F(Script, ArgumentsAreCheckedInRedisWords) {
  EXPECT_EQ(client->call({"EVAL", "x"}), "-ERR wrong number of arguments for 'eval' command\r\n");
  EXPECT_EQ(client->call({"EVAL", "return 1", "x"}),
            "-ERR value is not an integer or out of range\r\n");
  EXPECT_EQ(client->call({"EVAL", "return 1", "-1"}), "-ERR Number of keys can't be negative\r\n");
  EXPECT_EQ(client->call({"EVAL", "return 1", "1"}),
            "-ERR Number of keys can't be greater than number of args\r\n");
  EXPECT_EQ(client->call({"EVALSHA", "abc", "x"}), kNoScriptReply);
  EXPECT_EQ(client->call({"SCRIPT", "FLUSH", "x"}),
            "-ERR SCRIPT FLUSH only support SYNC|ASYNC option\r\n");
  EXPECT_EQ(client->call({"SCRIPT", "KILL"}), "-NOTBUSY No scripts in execution right now.\r\n");
  EXPECT_THAT(client->call({"SCRIPT", "DEBUG", "YES"}), StartsWith("-ERR SCRIPT DEBUG is refused"));
  // Who asks for a debugger sends its script whatever the answer was.
  EXPECT_EQ(client->call({"EVAL", "return 1", "0"}),
            "-ERR there is no script debugger, so the script was not run\r\n");
  EXPECT_EQ(client->call({"EVAL", "return {KEYS[1],ARGV[1],ARGV[2]}", "1", "k", "a", "b"}),
            "*3\r\n$1\r\nk\r\n$1\r\na\r\n$1\r\nb\r\n");
}

TEST_F(Script, IsFoundByItsNameInAnyCase) {
  EXPECT_EQ(client->call({"EVALSHA", kReturnOne, "0"}), kNoScriptReply);
  EXPECT_EQ(client->call({"SCRIPT", "LOAD", "return 1"}), bulk(kReturnOne));
  EXPECT_EQ(client->call({"EVALSHA", "E0E1F9FABFC9D4800C877A703B823AC0578FF8DB", "0"}), ":1\r\n");
  EXPECT_EQ(client->call({"SCRIPT", "EXISTS", kReturnOne, "nosuch"}), "*2\r\n:1\r\n:0\r\n");
  EXPECT_EQ(client->call({"SCRIPT", "FLUSH"}), "+OK\r\n");
  EXPECT_EQ(client->call({"EVALSHA", kReturnOne, "0"}), kNoScriptReply);
}

TEST_F(Script, ThatDoesNotCompileIsNotKept) {
  EXPECT_EQ(client->call({"SCRIPT", "LOAD", "x="}),
            "-ERR Error compiling script (new function): user_script:1: unexpected symbol near "
            "'<eof>'\r\n");
  eval("x=");
  EXPECT_EQ(server->scripting().scripts.metrics().scripts, 0u);
}

TEST_F(Script, KeepsWhatItWroteBeforeAnError) {
  EXPECT_THAT(eval("redis.call('set','a','1') redis.call('nosuch')"), StartsWith("-ERR Unknown"));
  EXPECT_EQ(client->call({"GET", "a"}), bulk("1"));
}

TEST_F(Script, SelectsADatabaseForItselfAlone) {
  EXPECT_EQ(eval("redis.call('select',1) redis.call('set','a','1') return 1"), ":1\r\n");
  EXPECT_EQ(client->call({"GET", "a"}), "$-1\r\n");
  client->call({"SELECT", "1"});
  EXPECT_EQ(client->call({"GET", "a"}), bulk("1"));
}

TEST_F(Script, SeesOneInstant) {
  server.clock.tick_per_look_ns = kMs;
  EXPECT_EQ(eval("local a=redis.call('time') for i=1,100 do redis.call('incr','n') end "
                 "local b=redis.call('time') return a[1]==b[1] and a[2]==b[2]"),
            ":1\r\n");
}

TEST_F(Script, ReadOnlyFormsRefuseWrites) {
  EXPECT_THAT(client->call({"EVAL_RO", "return redis.call('set','a','1')", "0"}),
              StartsWith("-ERR Write commands are not allowed from read-only scripts. script: "));
  EXPECT_THAT(client->call({"EVAL_RO", "return redis.pcall('publish','c','1')", "0"}),
              StartsWith("-ERR Write commands are not allowed from read-only scripts."));
  EXPECT_EQ(client->call({"EVAL_RO", "return redis.call('get','a')", "0"}), "$-1\r\n");
  EXPECT_THAT(eval("#!lua flags=no-writes\nreturn redis.call('set','a',1)"),
              HasSubstr("read-only scripts"));
  EXPECT_EQ(client->call({"EVAL_RO", "#!lua\nreturn 1", "0"}),
            "-ERR Can not execute a script with write flag using *_ro command.\r\n");
  client->call({"SCRIPT", "LOAD", "return 1"});
  EXPECT_EQ(client->call({"EVALSHA_RO", kReturnOne, "0"}), ":1\r\n");
}

TEST_F(Script, MayRunLimiters) {
  EXPECT_EQ(eval("return redis.call('cl.throttle','k',1,1,60)"),
            "*5\r\n:0\r\n:2\r\n:1\r\n:-1\r\n:60\r\n");
  EXPECT_EQ(client->call({"CL.THROTTLE", "k", "1", "1", "60"}),
            "*5\r\n:0\r\n:2\r\n:0\r\n:-1\r\n:120\r\n");
}

TEST_F(Script, NullsAndErrorsOfCommandsAreValues) {
  EXPECT_EQ(eval("return type(redis.call('get','nosuch'))"), bulk("boolean"));
  EXPECT_EQ(eval("redis.setresp(3) return type(redis.call('get','nosuch'))"), bulk("nil"));
  EXPECT_EQ(eval("return redis.pcall('incrby','a','x').err"),
            bulk("ERR value is not an integer or out of range"));
}

// A server that opens the data of one that was killed or has stopped.
struct Reopened {
  Reopened() : disk(storage::make_memory_disk({1, 2})) {}
  void start(Config config = {}) {
    client.reset();
    server.reset();
    server = std::make_unique<FakeServer>(std::move(config), disk);
    client = server->connect();
  }
  std::shared_ptr<storage::MemoryDisk> disk;
  std::unique_ptr<FakeServer> server;
  std::unique_ptr<FakeClient> client;
};

TEST(ScriptBodies, SurviveTheServer) {
  Reopened data;
  data.start();
  data.client->call({"SCRIPT", "LOAD", "return 1"});
  data.client->call({"EVAL", "return 'evaluated'", "0"});
  data.client->call({"EVAL", "#!lua flags=no-writes\nreturn redis.call('set','a','b')", "0"});
  data.start();
  EXPECT_EQ((*data.server)->scripting().scripts.metrics().scripts, 3u);
  EXPECT_EQ(data.client->call({"EVALSHA", kReturnOne, "0"}), ":1\r\n");
  EXPECT_EQ(data.client->call({"EVALSHA", "93663fd5ef955e8a2ca7f51ae1e3b766238304a7", "0"}),
            bulk("evaluated"));
  EXPECT_EQ(data.client->call({"EVAL", "return redis.sha1hex(\"return 'evaluated'\")", "0"}),
            bulk("93663fd5ef955e8a2ca7f51ae1e3b766238304a7"));
  data.client->call({"SCRIPT", "FLUSH"});
  data.start();
  EXPECT_EQ((*data.server)->scripting().scripts.metrics().scripts, 0u);
  EXPECT_EQ(data.client->call({"EVALSHA", kReturnOne, "0"}), kNoScriptReply);
}

TEST(ScriptBodies, OfEvalAreBoundedAndThoseLoadedAreNot) {
  Config config;
  config.script_cache_entries_max = 10;
  Reopened data;
  data.start(config);
  data.client->call({"SCRIPT", "LOAD", "return 1"});
  data.client->call({"EVAL", "return 'first'", "0"});
  for (int i = 0; i < 50; ++i) {
    data.client->call({"EVAL", "return " + std::to_string(i) + "+0", "0"});
    data.client->call({"EVAL", "return 'first'", "0"});  // used, so it stays
  }
  const auto metrics = (*data.server)->scripting().scripts.metrics();
  EXPECT_EQ(metrics.scripts, 11u);
  EXPECT_EQ(metrics.evicted, 41u);
  EXPECT_EQ(data.client->call({"EVALSHA", kReturnOne, "0"}), ":1\r\n");
  data.start(config);
  EXPECT_EQ((*data.server)->scripting().scripts.metrics().scripts, 11u);
  EXPECT_EQ((*data.server)->scripting().scripts.metrics().body_bytes, metrics.body_bytes);
  EXPECT_EQ(data.client->call({"EVALSHA", kReturnOne, "0"}), ":1\r\n");
}

TEST(ScriptBodies, AreBoundedInBytes) {
  Config config;
  config.script_cache_bytes_max = 1000;
  Reopened data;
  data.start(config);
  for (int i = 0; i < 20; ++i) {
    data.client->call({"EVAL", "return " + std::to_string(i) + std::string(200, ' '), "0"});
  }
  EXPECT_LE((*data.server)->scripting().scripts.metrics().body_bytes, 1000u);
  EXPECT_GE((*data.server)->scripting().scripts.metrics().scripts, 4u);
}

TEST(ScriptBodies, OfATurnThatFailedAreForgotten) {
  Reopened data;
  data.start();
  data.client->call({"EVAL", "return 'kept'", "0"});
  data.disk->faults.disk_full = true;
  EXPECT_THAT(data.client->call({"SCRIPT", "LOAD", "return 1"}), StartsWith("-"));
  data.disk->faults.disk_full = false;
  data.server->advance(10 * kSecond);
  EXPECT_EQ(data.client->call({"EVALSHA", kReturnOne, "0"}), kNoScriptReply);
  EXPECT_EQ((*data.server)->scripting().scripts.metrics().scripts, 1u);
}

}  // namespace
}  // namespace weir::server
