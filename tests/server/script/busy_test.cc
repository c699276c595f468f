// While a script runs long: who is answered, what ends it, and that nothing else happens.
#include <gmock/gmock.h>

#include <functional>

#include "tests/server/fake_server.h"

namespace weir::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kBusyScript =
    "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.\r\n";
constexpr std::string_view kBusyFunction =
    "-BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.\r\n";
constexpr std::string_view kLoop = "while true do end";

// Time passes with each look at the clock; what each round of polling does is the test's.
struct BusyTest : ::testing::Test {
  BusyTest() {
    client->call({"CONFIG", "SET", "busy-reply-threshold", "1000", "script-time-limit-ms", "0"});
    client->call({"FUNCTION", "LOAD",
                  "#!lua name=a\nredis.register_function('loop', function(keys)\n"
                  "redis.call('set', keys[1], 'wet') while true do end end)"});
    server->scripting().busy.set_poll([this] {
      ++rounds;
      if (on_round) on_round();
      for (Session* session : server->turn().end_busy_round()) server.flush(session);
    });
    server.clock.tick_per_look_ns = kSecond;
  }

  // Sends and takes what comes back in this round.
  std::string ask(std::initializer_list<std::string_view> words) {
    other->push(request(words));
    for (Session* session : server->turn().end_busy_round()) server.flush(session);
    return other->take();
  }
  // Runs the script; `then` happens in the second round.
  std::string run(std::initializer_list<std::string_view> words, std::function<void()> then) {
    rounds = 0;
    on_round = [this, then] {
      if (rounds == 2) then();
    };
    return client->call(words);
  }

  FakeServer server;
  std::unique_ptr<FakeClient> client = server.connect();
  std::unique_ptr<FakeClient> other = server.connect();
  std::function<void()> on_round;
  int rounds = 0;
};

TEST_F(BusyTest, OthersAreToldAndMayEndIt) {
  client->call({"SET", "k", "dry"});
  const std::string reply =
      run({"EVAL", "redis.call('set','k','wet') while true do end", "0"}, [&] {
        EXPECT_EQ(ask({"GET", "k"}), kBusyScript);
        EXPECT_EQ(ask({"PING"}), kBusyScript);
        EXPECT_THAT(ask({"NOPE"}), StartsWith("-ERR unknown command"));
        EXPECT_THAT(ask({"GET"}), StartsWith("-ERR wrong number"));
        EXPECT_EQ(ask({"FUNCTION", "KILL"}), kBusyScript);
        EXPECT_EQ(ask({"FUNCTION", "STATS"}), kBusyScript);
        EXPECT_EQ(ask({"SHUTDOWN"}), kBusyScript);
        EXPECT_EQ(ask({"SCRIPT", "KILL"}), "+OK\r\n");
      });
  EXPECT_EQ(
      reply,
      "-ERR Script killed by user with SCRIPT KILL... script: "
      "ea1fe606c96f213884727e286e22d5cb98950299, on @user_script:1. Its changes are undone.\r\n");
  // Undone, and everybody is served again.
  EXPECT_EQ(other->call({"GET", "k"}), bulk("dry"));
  EXPECT_EQ(other->call({"SCRIPT", "KILL"}), "-NOTBUSY No scripts in execution right now.\r\n");
  EXPECT_EQ(client->call({"PING"}), "+PONG\r\n");
}

TEST_F(BusyTest, AFunctionHasItsOwnWords) {
  const std::string reply = run({"FCALL", "loop", "1", "k", "x"}, [&] {
    EXPECT_EQ(ask({"GET", "k"}), kBusyFunction);
    EXPECT_EQ(ask({"SCRIPT", "KILL"}), kBusyFunction);
    EXPECT_THAT(ask({"FUNCTION", "STATS"}),
                StartsWith("*4\r\n" + bulk("running_script") + "*6\r\n" + bulk("name") +
                           bulk("loop") + bulk("command") + "*5\r\n" + bulk("FCALL") +
                           bulk("loop") + bulk("1") + bulk("k") + bulk("x") + bulk("duration_ms")));
    EXPECT_EQ(ask({"FUNCTION", "KILL"}), "+OK\r\n");
  });
  EXPECT_THAT(reply, StartsWith("-ERR Script killed by user with SCRIPT KILL... script: loop, on "
                                "@user_function:3. Its changes are undone."));
  EXPECT_EQ(other->call({"EXISTS", "k"}), ":0\r\n");
}

TEST_F(BusyTest, ConnectionsSayWhoTheyAre) {
  run({"EVAL", kLoop, "0"}, [&] {
    EXPECT_EQ(ask({"MULTI"}), "+OK\r\n");
    EXPECT_EQ(ask({"GET", "k"}), kBusyScript);
    EXPECT_THAT(ask({"EXEC"}), StartsWith("-EXECABORT Transaction discarded because of: BUSY"));
    EXPECT_EQ(ask({"WATCH", "k"}), "+OK\r\n");
    EXPECT_EQ(ask({"UNWATCH"}), "+OK\r\n");
    EXPECT_THAT(ask({"HELLO", "3"}), StartsWith("%7\r\n"));
    EXPECT_EQ(ask({"RESET"}), "+RESET\r\n");
    EXPECT_EQ(ask({"QUIT"}), "+OK\r\n");
    auto third = server.connect();
    third->push(request({"PING"}));
    for (Session* session : server->turn().end_busy_round()) server.flush(session);
    EXPECT_EQ(third->take(), kBusyScript);
    third->push(request({"SCRIPT", "KILL"}));
  });
}

// What the script has changed already, too.
TEST_F(BusyTest, AWatchThatIsMadeMeanwhileIsToldOfWhatFollows) {
  run({"EVAL", "redis.call('set','k','1') for i = 1, 10000000 do end redis.call('set','k','2')",
       "0"},
      [&] {
        EXPECT_EQ(ask({"WATCH", "k"}), "+OK\r\n");
      });
  ASSERT_GE(rounds, 2);
  EXPECT_EQ(other->call({"MULTI"}), "+OK\r\n");
  EXPECT_EQ(other->call({"SET", "k", "mine"}), "+QUEUED\r\n");
  EXPECT_EQ(other->call({"EXEC"}), "*-1\r\n");
}

// Its handler must not keep it alive, and a transaction goes on after it.
TEST_F(BusyTest, NothingOfTheScriptsKeepsItAlive) {
  for (const std::string_view script :
       {"while true do pcall(function() while true do end end) end",
        "while true do coroutine.wrap(function() while true do end end)() end"}) {
    EXPECT_THAT(run({"EVAL", script, "0"},
                    [&] {
                      ask({"SCRIPT", "KILL"});
                    }),
                HasSubstr("Script killed by user"));
  }
  client->call({"MULTI"});
  client->call({"SET", "k", "1"});
  client->call({"EVAL", "redis.call('incr','k') while true do end", "0"});
  client->call({"INCR", "k"});
  EXPECT_THAT(run({"EXEC"},
                  [&] {
                    ask({"SCRIPT", "KILL"});
                  }),
              AllOf(StartsWith("*3\r\n+OK\r\n-ERR Script killed"), HasSubstr(":2\r\n")));
}

// What is published by a script, and by who was served before it, leaves with the turn's end.
TEST_F(BusyTest, TheTurnStaysWhole) {
  auto listener = server.connect();
  listener->call({"SUBSCRIBE", "c"});
  client->push(request({"SET", "before", "1"}));
  run({"EVAL", "redis.call('publish','c','x') while true do end", "0"}, [&] {
    EXPECT_EQ(ask({"GET", "before"}), kBusyScript);
    EXPECT_EQ(client->take(), "");
    EXPECT_EQ(listener->take(), "");
    ask({"SCRIPT", "KILL"});
  });
  EXPECT_EQ(listener->take(), "");
  EXPECT_EQ(other->call({"GET", "before"}), bulk("1"));
}

// Replies leave in the order of requests, and the one before waits for its sync.
TEST_F(BusyTest, NobodyOvertakesWhatHeIsOwed) {
  client->call({"CONFIG", "SET", "durability", "always"});
  server.disk().deferred = true;
  EXPECT_EQ(other->call({"SET", "a", "1"}), "");
  run({"EVAL", kLoop, "0"}, [&] { EXPECT_EQ(ask({"SCRIPT", "KILL"}), ""); });
  while (server.step_disk()) {
  }
  EXPECT_EQ(other->take(), "+OK\r\n+OK\r\n");
}

TEST_F(BusyTest, ShutdownEndsIt) {
  EXPECT_THAT(run({"EVAL", kLoop, "0"},
                  [&] {
                    ask({"SHUTDOWN", "NOSAVE"});
                  }),
              HasSubstr("Script killed"));
  EXPECT_TRUE(server->shutdown.requested);
}

TEST_F(BusyTest, TheTimeLimitEndsItToo) {
  server.clock.tick_per_look_ns = 0;
  client->call({"CONFIG", "SET", "script-time-limit-ms", "5000"});
  server.clock.tick_per_look_ns = kSecond;
  EXPECT_THAT(run({"EVAL", kLoop, "0"}, [&] { EXPECT_EQ(ask({"PING"}), kBusyScript); }),
              HasSubstr("longer than script-time-limit-ms"));
}

TEST_F(BusyTest, ItIsNotKilledByTheOneBeforeIt) {
  run({"EVAL", kLoop, "0"}, [&] { ask({"SCRIPT", "KILL"}); });
  EXPECT_EQ(run({"EVAL", "for i=1,1e6 do end return 1", "0"}, [] {}), ":1\r\n");
  EXPECT_GT(rounds, 1);
}

}  // namespace
}  // namespace weir::server
