// The audit: what a line says, by which ways it comes, and what is not told.
#include "tests/server/audit_fixture.h"

namespace weir::server {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::string_view kLast =
    "warning loglevel is nothing: this is the last line, of the audit, too";

class AuditTest : public AuditFixture {};

TEST_F(AuditTest, WhatOnlyLooksIsNotTold) {
  for (const Words& words : std::vector<Words>{{"CONFIG", "GET", "*"},
                                               {"CONFIG", "SET", "timeout", "0"},
                                               {"ACL", "LOG"},
                                               {"CLIENT", "KILL", "ID", "99"},
                                               {"CLIENT", "UNBLOCK", "99"},
                                               {"RL.TAKE", "k", "9/1m"},
                                               {"CL.THROTTLE", "k2", "9", "1", "60"},
                                               {"RL.RESET", "nothing"},
                                               {"RL.REFUND", "nothing", "1"},
                                               {"RL.POLICY", "DEL", "nothing"},
                                               {"RL.POLICY", "RELOAD", "DIFF"},
                                               {"RL.TOP"},
                                               {"WEIR", "CLOCK"},
                                               {"SET", "a", "1"}}) {
    call(words);
    EXPECT_THAT(told(), IsEmpty()) << words[0];
  }
}

TEST_F(AuditTest, AnOptionIsToldWithWhatItWas) {
  call({"CONFIG", "SET", "timeout", "7", "maxmemory", "1gb"});
  EXPECT_THAT(
      told(),
      ElementsAre(begin_of("config|set") +
                      " arguments=\"timeout 7 maxmemory 1gb\" changed=timeout before=0 after=7",
                  begin_of("config|set") +
                      " arguments=\"timeout 7 maxmemory 1gb\" changed=maxmemory before=0 "
                      "after=1073741824"));
  call({"CONFIG", "SET", "limiting", "shadow"});
  EXPECT_THAT(told(), ElementsAre(HasSubstr("changed=limiting before=on after=shadow")));
}

TEST_F(AuditTest, APolicyIsToldWithWhatItWas) {
  call({"RL.POLICY", "SET", "api", "1/1m"});
  EXPECT_THAT(told(), ElementsAre(HasSubstr(" changed=api before=\"\" after=\"GCRA 1/1m")));
  call({"RL.POLICY", "DEL", "api"});
  EXPECT_THAT(told(),
              ElementsAre(MatchesRegex(".* changed=api before=\"GCRA 1/1m.*\" after=\"\"")));
  write("policies", "policy a 1/1s\npolicy b 2/1s\n");
  call({"RL.POLICY", "RELOAD"});
  EXPECT_THAT(told(), ElementsAre(HasSubstr("changed=a before=\"\" after=\"GCRA 1/1s"),
                                  HasSubstr("changed=b before=\"\" after=\"GCRA 2/1s")));
}

TEST_F(AuditTest, ALoadThatChangesAPasswordAloneIsTold) {
  const auto load = [this](char digit) {
    write("users", "user default on nopass ~* &* +@all\nuser ann on #" + std::string(64, digit) +
                       " ~k* +get\n");
    call({"ACL", "LOAD"});
    return told();
  };
  EXPECT_THAT(load('a'), ElementsAre(HasSubstr(" changed=ann before=\"\" after=\"user ann")));
  const auto lines = load('b');
  EXPECT_THAT(lines, ElementsAre(HasSubstr(" changed=ann before=\"user ann on #(redacted) ")));
  EXPECT_THAT(lines, Each(Not(HasSubstr("bbbb"))));
  EXPECT_THAT(load('b'), IsEmpty());
}

TEST_F(AuditTest, AUserIsToldWithoutPasswords) {
  call({"ACL", "SETUSER", "ann", "on", ">secret", "~k*", "+get"});
  EXPECT_THAT(told(), ElementsAre(HasSubstr(
                          " arguments=\"ann on >(redacted) ~k* +get\" changed=ann before=\"\" "
                          "after=\"user ann on #(redacted) ~k* resetchannels -@all +get\"")));
  call(
      {"ACL", "SETUSER", "ann", "<secret", "#" + std::string(64, 'a'), "!" + std::string(64, 'a')});
  call({"ACL", "DELUSER", "ann"});
  call({"CONFIG", "SET", "requirepass", "secret"});
  const auto lines = told();
  EXPECT_THAT(lines, SizeIs(3));
  EXPECT_THAT(lines, Each(Not(HasSubstr("secret"))));
  EXPECT_THAT(lines, Each(Not(HasSubstr("aaaa"))));
  EXPECT_THAT(lines[0], HasSubstr("arguments=\"ann <(redacted) #(redacted) !(redacted)\""));
  EXPECT_THAT(lines[1], HasSubstr("changed=ann before=\"user ann on ~k* "));
  EXPECT_THAT(lines[2], HasSubstr("arguments=\"requirepass (redacted)\" changed=requirepass "
                                  "before=\"\" after=\"(redacted)\""));
}

TEST_F(AuditTest, UsersOfAFileAreToldWhereTheyDiffer) {
  write("users", "user default on nopass ~* &* +@all\nuser ann on nopass +get\nuser bob on +set\n");
  call({"ACL", "LOAD"});
  EXPECT_THAT(told(), ElementsAre(HasSubstr("changed=ann before=\"\" after=\"user ann on nopass"),
                                  HasSubstr("changed=bob before=\"\" after=\"user bob on")));
  write("users", "user default on nopass ~* &* +@all\nuser bob on +set\n");
  call({"ACL", "LOAD"});
  EXPECT_THAT(told(), ElementsAre(MatchesRegex(".* changed=ann before=\"user ann.*\" after=\"\"")));
}

TEST_F(AuditTest, SaysWhoAndFromWhere) {
  call({"ACL", "SETUSER", "ops", "on", ">secret", "~*", "&*", "+@all"});
  Peer peer = FakeServer::foreign_peer();
  peer.type = ConnectionType::kTls;
  peer.loopback = true;  // or it would not be let in
  auto other = server_->connect(peer);
  send(*other, {"AUTH", "ops", "secret"});
  send(*other, {"SELECT", "3"});
  (void)told();
  send(*other, {"FLUSHDB"});
  EXPECT_THAT(told(), ElementsAre("info audit: FLUSHDB user=ops client=2 address=192.0.2.7:50001 "
                                  "via=tls database=3 arguments=\"\""));
}

TEST_F(AuditTest, WhatFailsOrIsDeniedIsNotTold) {
  call({"CONFIG", "SET", "timeout", "7", "maxmemory", "much"});
  call({"ACL", "SETUSER", "ann", "+@nonsense"});
  call({"FLUSHALL", "NOW"});
  call({"RL.TAKE", "k", "9/1m", "FORCE", "UPTO"});
  EXPECT_THAT(told(), IsEmpty());
  call({"ACL", "SETUSER", "ann", "on", ">secret", "~*", "+@all", "-@admin", "-@dangerous"});
  auto other = server_->connect();
  send(*other, {"AUTH", "ann", "secret"});
  (void)told();
  EXPECT_THAT(send(*other, {"FLUSHALL"}), HasSubstr("NOPERM"));
  EXPECT_THAT(send(*other, {"CONFIG", "SET", "timeout", "9"}), HasSubstr("NOPERM"));
  EXPECT_THAT(told(), IsEmpty());
  call({"CONFIG", "SET", "timeout", "9"});  // nothing was kept of those before
  EXPECT_THAT(told(), ElementsAre(HasSubstr("changed=timeout before=0 after=9")));
}

TEST_F(AuditTest, InATransactionAndInAScript) {
  call({"MULTI"});
  call({"CONFIG", "SET", "timeout", "7"});
  call({"FLUSHALL"});
  EXPECT_THAT(told(), IsEmpty());
  call({"EXEC"});
  EXPECT_THAT(
      told(),
      ElementsAre(HasSubstr("CONFIG SET user=default client=1 address=127.0.0.1:50001 via=tcp "
                            "database=0 within=transaction arguments=\"timeout 7\""),
                  HasSubstr("FLUSHALL user=default client=1 address=127.0.0.1:50001 via=tcp "
                            "database=0 within=transaction arguments=")));
  call({"EVAL", "redis.call('RL.TAKE', 'k', '9/1m', 'FORCE') redis.call('FLUSHALL')", "0"});
  EXPECT_THAT(told(),
              ElementsAre(HasSubstr("RL.TAKE user=default client=1"), HasSubstr("FLUSHALL")));
  call({"EVAL", "redis.pcall('FLUSHALL', 'NOW') redis.pcall('FLUSHALL')", "0"});
  EXPECT_THAT(told(), ElementsAre(HasSubstr("within=script arguments=\"\"")));
}

TEST_F(AuditTest, WhatIsTakenBackIsNotTold) {
  call({"CONFIG", "SET", "script-time-limit-ms", "10"});
  (void)told();
  server_->clock.tick_per_look_ns = kMs;
  EXPECT_THAT(call({"EVAL", "redis.call('FLUSHALL') while true do end", "0"}), HasSubstr("-"));
  server_->clock.tick_per_look_ns = 0;
  EXPECT_THAT(told(), IsEmpty());
  call({"CONFIG", "SET", "storage-failure-policy", "deny"});
  call({"SET", "a", "1"});
  (void)told();
  server_->disk().faults.disk_full = true;
  call({"MULTI"});
  call({"CONFIG", "SET", "timeout", "7"});
  call({"FLUSHALL"});
  EXPECT_THAT(call({"EXEC"}), HasSubstr("MISCONF"));
  // The option stays changed, and the data.
  EXPECT_EQ((*server_)->config().timeout, 7);
  EXPECT_THAT(told(), ElementsAre(HasSubstr("error storage failed"), HasSubstr("changed=timeout")));
}

TEST_F(AuditTest, ManyRequestsAboutKeysAreTwoLinesASecond) {
  for (int i = 0; i < 100; ++i) call({"RL.TAKE", "k", "9/1m", "FORCE"});
  EXPECT_THAT(told(), ElementsAre(begin_of("rl.take") + " arguments=\"k 9/1m FORCE\""));
  server_->advance(kSecond / 2);
  EXPECT_THAT(told(), IsEmpty());
  server_->advance(kSecond / 2);
  EXPECT_THAT(told(), ElementsAre("info audit: RL.TAKE user=default more=99"));
  call({"RL.TAKE", "k", "9/1m", "FORCE"});
  EXPECT_THAT(told(), SizeIs(1));
  server_->advance(2 * kSecond);
  EXPECT_THAT(told(), IsEmpty());
}

// What the last second has counted is written at the end.
TEST_F(AuditTest, TheEndTellsHowManyMoreThereWere) {
  for (int i = 0; i < 5; ++i) call({"RL.TAKE", "k", "9/1m", "FORCE"});
  (void)told();
  EXPECT_TRUE((*server_)->close().ok());
  EXPECT_THAT(told(), ElementsAre("info audit: RL.TAKE user=default more=4"));
}

// A script that needs a long collection is run again when that was read.
TEST_F(AuditTest, WhatIsRunAgainIsToldAndCountedOnce) {
  for (int i = 0; i < 9000; ++i) {
    const std::string number = std::to_string(i);
    client_->push(request({"ZADD", "z", number, "m" + number}));
  }
  server_->run_turns();
  start();
  EXPECT_EQ(call({"EVAL",
                  "for i = 1, 5 do redis.call('RL.TAKE', 'k', '9/1m', 'FORCE') end "
                  "return redis.call('ZSCORE', 'z', 'm8999')",
                  "0"}),
            bulk("8999"));
  EXPECT_THAT(told(),
              ElementsAre(begin_of("rl.take") + " within=script arguments=\"k 9/1m FORCE\""));
  server_->advance(2 * kSecond);
  EXPECT_THAT(told(), ElementsAre("info audit: RL.TAKE user=default more=4"));
}

TEST_F(AuditTest, WhatAStoppedScriptHasDoneIsNotCounted) {
  const auto stopped = [&] {
    server_->clock.tick_per_look_ns = kMs;
    EXPECT_THAT(call({"EVAL",
                      "for i = 1, 5 do redis.call('RL.TAKE', 'k', '9/1m', 'FORCE') end "
                      "while true do end",
                      "0"}),
                HasSubstr("-"));
    server_->clock.tick_per_look_ns = 0;
  };
  call({"CONFIG", "SET", "script-time-limit-ms", "10"});
  (void)told();
  stopped();
  EXPECT_THAT(told(), IsEmpty());
  for (int i = 0; i < 3; ++i) call({"RL.TAKE", "k", "9/1m", "FORCE"});
  EXPECT_THAT(told(), SizeIs(1));
  stopped();
  server_->advance(2 * kSecond);
  EXPECT_THAT(told(), ElementsAre("info audit: RL.TAKE user=default more=2"));
}

TEST_F(AuditTest, PoliciesThatAFileChangesAreToldWithoutAUser) {
  write("policies", "policy a 1/1s\npolicy b 2/1s\n");
  (void)(*server_)->reload().run();
  server_->end_turn();
  EXPECT_THAT(told(), ElementsAre(MatchesRegex("info audit: policies-file changed=a before=\"\" "
                                               "after=\"GCRA 1/1s.*\""),
                                  HasSubstr("audit: policies-file changed=b before=\"\" after=")));
  write("policies", "policy b 2/1s\n");
  server_->disk().faults.disk_full = true;
  (void)(*server_)->reload().run();
  server_->end_turn();
  EXPECT_THAT(told(), Not(::testing::Contains(HasSubstr("audit: "))));
}

TEST_F(AuditTest, RulesThatAFileChangesAreTold) {
  write("policies", "policy a 1/1s\nrls site user POLICY a\n");
  call({"RL.POLICY", "RELOAD", "DIFF"});
  EXPECT_THAT(told(), IsEmpty());
  call({"RL.POLICY", "RELOAD"});
  EXPECT_THAT(told(),
              ElementsAre(HasSubstr("changed=a "),
                          MatchesRegex(".* changed=rls before=\"\" after=\"rls site user .*")));
  write("policies", "policy a 1/1s\n");
  (void)(*server_)->reload().run();
  server_->end_turn();
  EXPECT_THAT(told(),
              ElementsAre(MatchesRegex(".* changed=rls before=\"rls site .*\" after=\"\"")));
}

// Its commit makes short errors of the replies before it.
TEST_F(AuditTest, ASaveThatFailsIsNotTold) {
  call({"SET", "long", std::string(500, 'x')});
  call({"CONFIG", "SET", "storage-failure-policy", "deny"});
  (void)told();
  server_->disk().faults.disk_full = true;
  client_->push(request({"GET", "long"}));
  client_->push(request({"SET", "a", "1"}));
  client_->push(request({"SAVE"}));
  server_->run_turns();
  const std::string replies = client_->take();
  EXPECT_THAT(replies, MatchesRegex("-MISCONF.*\r\n-MISCONF.*\r\n-.*\r\n"));
  EXPECT_THAT(told(), Not(::testing::Contains(HasSubstr("audit: "))));
}

TEST_F(AuditTest, ClientsThatOthersEndAreTold) {
  auto second = server_->connect();
  second->push(request({"BLPOP", "list", "0"}));
  server_->end_turn();
  call({"CLIENT", "UNBLOCK", "2"});
  call({"CLIENT", "KILL", "ID", "2"});
  EXPECT_THAT(told(), ElementsAre(begin_of("client|unblock") + " arguments=2",
                                  begin_of("client|kill") + " arguments=\"ID 2\""));
}

TEST_F(AuditTest, TheEndIsTold) {
  call({"SHUTDOWN", "NOSAVE"});
  EXPECT_THAT(told(), ElementsAre(begin_of("shutdown") + " arguments=NOSAVE"));
}

TEST_F(AuditTest, LibrariesThatAreRestoredAreTold) {
  call({"FUNCTION", "LOAD", std::string(kLibrary)});
  const std::string dumped = decoded(call({"FUNCTION", "DUMP"})).text;
  (void)told();
  EXPECT_EQ(call({"FUNCTION", "RESTORE", dumped, "FLUSH"}), kOk);
  EXPECT_THAT(told(), ElementsAre(HasSubstr(begin_of("function|restore") + " arguments=\"")));
}

TEST_F(AuditTest, LongArgumentsAreCut) {
  call({"RL.TAKE", std::string(60'000, 'k'), "9/1m", "FORCE"});
  const auto lines = told();
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_LT(lines[0].size(), 700u);
  EXPECT_THAT(lines[0], HasSubstr("kkkk... (59509 more bytes)\""));
}

TEST_F(AuditTest, TheLastLineSaysThatItIsTheLast) {
  call({"CONFIG", "SET", "loglevel", "nothing"});
  EXPECT_THAT(told(),
              ElementsAre(HasSubstr("changed=loglevel before=notice after=nothing"), kLast));
  call({"CONFIG", "SET", "timeout", "7"});
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(AuditTest, ItsTurnIsToldAndWhatWasCounted) {
  for (int i = 0; i < 3; ++i) call({"RL.TAKE", "k", "9/1m", "FORCE"});
  (void)told();
  client_->push(request({"CONFIG", "SET", "loglevel", "nothing"}));
  client_->push(request({"FLUSHALL"}));
  server_->end_turn();
  EXPECT_THAT(told(), ElementsAre(HasSubstr("changed=loglevel"), HasSubstr("FLUSHALL"),
                                  "info audit: RL.TAKE user=default more=2", kLast));
}

TEST_F(AuditTest, OneWhoChangesHisMindEndsNothing) {
  client_->push(request({"CONFIG", "SET", "loglevel", "nothing"}));
  client_->push(request({"CONFIG", "SET", "loglevel", "error"}));
  server_->end_turn();
  EXPECT_THAT(told(), ElementsAre(HasSubstr("after=nothing"), HasSubstr("after=error")));
  call({"CONFIG", "SET", "timeout", "7"});
  EXPECT_THAT(told(), SizeIs(1));
}

}  // namespace
}  // namespace weir::server
