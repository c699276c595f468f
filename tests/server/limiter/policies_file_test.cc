// Policies from a file: read at the start, on SIGHUP and by RL.POLICY RELOAD, all or none.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/server/config_fixture.h"
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

using testing::HasSubstr;

class PoliciesFile : public ConfigTest {
 protected:
  PoliciesFile() {
    config_.dir = folder_.string();
    config_.policies_file = "policies";
    file("policy free 100/1m BURST 20\n");
    server_ = std::make_unique<FakeServer>(config_);
    client_ = server_->connect();
  }

  std::string ask(std::string_view line) {
    std::string text = server::ask(*client_, line);
    const std::string prefix = folder_.string() + '/';
    for (size_t at; (at = text.find(prefix)) != std::string::npos;) text.erase(at, prefix.size());
    return text;
  }
  void file(const std::string& text) { write(text, "policies"); }
  // What RL.POLICY RELOAD says of this file.
  std::string reload(const std::string& text) {
    file(text);
    return ask("RL.POLICY RELOAD");
  }
  // kill -9, and a new process.
  void restart() {
    client_.reset();
    auto next = std::make_unique<FakeServer>(config_, server_->disk().after_kill());
    server_ = std::move(next);
    client_ = server_->connect();
  }
  // The server is a shard's primary from now on.
  void begin_cluster() {
    Server& server = **server_;
    server.keys().running().begin_command(server.timeline().now_ns());
    server.shard_role().settings().begin(3);
    server.turn().commit_early();
  }
  // Why a server does not start with this file.
  std::string refusal(const std::string& text) {
    file(text);
    FakeClock clock;
    Server server(
        config_, &clock,
        [] {
          return std::make_unique<storage::MemoryStore>(storage::make_memory_disk({1, 2}));
        },
        command_lists());
    return std::string(server.open().message());
  }

  std::unique_ptr<FakeServer> server_;
  std::unique_ptr<FakeClient> client_;
};

TEST_F(PoliciesFile, IsReadAtTheStart) {
  EXPECT_EQ(ask("RL.TAKE k POLICY free"), "[1, 21, 20, 0, 600, 0]");
  EXPECT_THAT(ask("RL.POLICY HISTORY free"), HasSubstr("\"user\", \"policies-file\""));
  file("# plans\n\n  policy free 50/1m\r\nPOLICY \"big one\" UNLIMITED ONCHANGE RESET");
  restart();
  EXPECT_EQ(ask("RL.POLICY LIST"), "[\"big one\", \"free\"]");
  EXPECT_THAT(ask("RL.POLICY GET free"), HasSubstr("GCRA 50/1m"));
  restart();
  EXPECT_THAT(ask("RL.POLICY GET free"), HasSubstr("GCRA 50/1m"));
}

TEST_F(PoliciesFile, ItMayNameTimeZones) {
  file("policy free FIXED 5 ALIGN DAY ZONE Europe/Berlin");
  restart();
  EXPECT_THAT(ask("RL.POLICY GET free"), HasSubstr("FIXED 5 ALIGN DAY ZONE Europe/Berlin"));
  EXPECT_THAT(refusal("policy free FIXED 5 ALIGN DAY ZONE Europe/Bonn"),
              HasSubstr("policies:1: limit 0 (FIXED): ZONE must be the name of a time zone"));
}

// RL.POLICY SET refuses it; a file was written when it was milliseconds.
TEST_F(PoliciesFile, ALeaseWithoutAUnitIsMilliseconds) {
  file("policy pool CONCURRENCY 5 LEASE 30000");
  restart();
  EXPECT_THAT(ask("RL.POLICY GET pool"), HasSubstr("CONCURRENCY 5 LEASE 30s"));
}

TEST_F(PoliciesFile, WhatIsWrongStopsTheStart) {
  EXPECT_THAT(
      refusal("policy a 1/1m\nfree 1/1m\npolicy b\npolicy c 1/x\npolicy d \"1\n"),
      testing::AllOf(HasSubstr("policies:2: expected 'policy name limits' or 'rls domain "
                               "entries POLICY name', got 'free'"),
                     HasSubstr("policies:3: policy takes a name and limits"),
                     HasSubstr("policies:4: "), HasSubstr("policies:5: quotes are not closed")));
  EXPECT_THAT(refusal("policy a 1/1m\npolicy b 1/1m\npolicy a 2/1m\n"),
              HasSubstr("policies:3: policy 'a' is there twice, see line 1"));
  EXPECT_THAT(refusal("policy a 1/1m NONSENSE\n"), HasSubstr("NONSENSE"));
  EXPECT_THAT(refusal("policy " + std::string(129, 'x') + " 1/1m\n"), HasSubstr("1 to 128 bytes"));
  EXPECT_THAT(refusal("x\nx\nx\nx\nx\nx\nx\n"), HasSubstr("; and 2 more"));
  config_.policies_max = 1;
  EXPECT_THAT(refusal("policy a 1/1m\npolicy b 1/1m\n"),
              HasSubstr("policies:2: these are more policies than policies-max, which is 1"));
  config_.policies_file = "missing";
  EXPECT_THAT(refusal(""), HasSubstr("missing: No such file or directory"));
  config_.policies_file = ".";
  EXPECT_THAT(refusal(""), HasSubstr("it is not a plain file"));
  config_.policies_file = "pipe";
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(refusal(""), HasSubstr("it is not a plain file"));
}

TEST_F(PoliciesFile, ReloadSaysWhatItChanges) {
  EXPECT_EQ(reload("policy free 100/1m BURST 20\n"), "[]");
  EXPECT_EQ(reload("policy pro 1000/1m SHADOW\npolicy free 200/1m\npolicy \"b c\" BLOCKED\n"),
            R"(["+ \"b c\" BLOCKED", "- free GCRA 100/1m BURST 20", "+ free GCRA 200/1m", )"
            R"("+ pro GCRA 1000/1m SHADOW"])");
  EXPECT_EQ(reload(""),
            R"(["- \"b c\" BLOCKED", "- free GCRA 200/1m", "- pro GCRA 1000/1m SHADOW"])");
  EXPECT_EQ(ask("RL.POLICY LIST"), "[]");
}

TEST_F(PoliciesFile, DiffChangesNothing) {
  file("policy pro 1000/1m\n");
  const std::string diff = R"(["- free GCRA 100/1m BURST 20", "+ pro GCRA 1000/1m"])";
  EXPECT_EQ(ask("RL.POLICY RELOAD DIFF"), diff);
  EXPECT_EQ(ask("RL.POLICY LIST"), "[\"free\"]");
  EXPECT_EQ(ask("RL.POLICY RELOAD diff"), diff);
  EXPECT_THAT(ask("RL.POLICY RELOAD NOW"), HasSubstr("expected DIFF or nothing"));
  EXPECT_THAT(ask("RL.POLICY RELOAD DIFF x"), HasSubstr("wrong number of arguments"));
}

// It owns what it names: set by hand, that is set again; others are nobody's but who made them.
TEST_F(PoliciesFile, OwnsWhatItNames) {
  ask("RL.POLICY SET mine 5/1m");
  ask("RL.POLICY SET free 7/1m");
  EXPECT_EQ(reload("policy free 100/1m BURST 20\n"),
            R"(["- free GCRA 7/1m", "+ free GCRA 100/1m BURST 20"])");
  ask("RL.POLICY DEL free");
  restart();
  EXPECT_EQ(ask("RL.POLICY LIST"), R"(["free", "mine"])");
  EXPECT_EQ(reload("policy mine 5/1m\n"), R"(["- free GCRA 100/1m BURST 20"])");
  restart();
  EXPECT_EQ(reload(""), R"(["- mine GCRA 5/1m"])") << "named once, it is the file's";
}

TEST_F(PoliciesFile, AWrongLineChangesNothing) {
  EXPECT_THAT(reload("policy pro 10/1m\npolicy free 1/x\n"),
              testing::StartsWith("(error ERR policies:2: "));
  EXPECT_THAT(reload("policy pro 10/1m\npolicy\n"), HasSubstr("policies:2: policy takes a name"));
  EXPECT_EQ(ask("RL.POLICY LIST"), "[\"free\"]");
  EXPECT_THAT(reload(std::string((4 << 20) + 1, '#')), HasSubstr("longer than 4mb"));
}

// What a policy has beside its words stays: its overrides, and the keys that PERCENT has chosen.
TEST_F(PoliciesFile, OverridesStay) {
  ask("RL.POLICY OVERRIDE free KEY vip UNLIMITED");
  EXPECT_EQ(ask("RL.TAKE vip POLICY free"), "[1, -1, -1, 0, 0, -1]");
  reload("policy free 2/1m\n");
  EXPECT_EQ(ask("RL.TAKE vip POLICY free"), "[1, -1, -1, 0, 0, -1]");
  EXPECT_THAT(ask("RL.POLICY GET free"), HasSubstr("GCRA 2/1m"));
}

TEST_F(PoliciesFile, SighupReads) {
  file("policy free 3/1m\n");
  for (const auto& outcome : (*server_)->reload().run()) EXPECT_TRUE(outcome.read) << outcome.name;
  server_->end_turn();
  EXPECT_THAT(ask("RL.POLICY GET free"), HasSubstr("GCRA 3/1m"));
  file("policy free 3/x\n");
  EXPECT_FALSE((*server_)->reload().run().back().read);
  file("policy free 3/1m\n");
  restart();
  EXPECT_THAT(ask("RL.POLICY GET free"), HasSubstr("GCRA 3/1m"));
}

TEST_F(PoliciesFile, AWatchedFileIsReadWhenItHasChanged) {
  const auto limit_after = [this](int64_t seconds) {
    for (; seconds > 0; --seconds) server_->advance(kSecond);
    return ask("RL.POLICY GET free");
  };
  file("policy free 3/1m\n");
  EXPECT_THAT(limit_after(5), HasSubstr("GCRA 100/1m")) << "nobody watches";
  ask("CONFIG SET watch-files yes");
  EXPECT_THAT(limit_after(5), HasSubstr("GCRA 100/1m")) << "nothing has changed since";
  file("policy free 40/1m\n");
  EXPECT_THAT(limit_after(1), HasSubstr("GCRA 100/1m")) << "it may not be written to its end";
  EXPECT_THAT(limit_after(1), HasSubstr("GCRA 40/1m"));
  file("policy free 5/x\n");
  EXPECT_THAT(limit_after(3), HasSubstr("GCRA 40/1m"));
  file("policy free 600/1m\n");
  EXPECT_THAT(limit_after(3), HasSubstr("GCRA 600/1m"));
}

TEST_F(PoliciesFile, AFileIsWatchedFromTheOptionOn) {
  ask("CONFIG SET watch-files yes");
  file("policy free 40/1m\n");  // no tick has been since
  for (int second = 0; second < 3; ++second) server_->advance(kSecond);
  EXPECT_THAT(ask("RL.POLICY GET free"), HasSubstr("GCRA 40/1m"));
}

// Whoever waits is tried at once under the new policy, as after RL.POLICY SET.
TEST_F(PoliciesFile, SighupWakesWhoWaits) {
  reload("policy free 1/1h\n");
  ask("RL.TAKE k POLICY free");
  const auto waiter = server_->connect();
  waiter->push(request({"RL.ACQUIRE", "k", "POLICY", "free", "TIMEOUT", "0"}));
  server_->run_turns();
  EXPECT_EQ(waiter->take(), "");
  file("policy free UNLIMITED\n");
  for (const auto& outcome : (*server_)->reload().run()) EXPECT_TRUE(outcome.read) << outcome.name;
  server_->advance(kMs);
  EXPECT_THAT(waiter->take(), HasSubstr(":1\r\n:-1\r\n"));
}

// The file may change those alone that the user may name.
TEST_F(PoliciesFile, NeedsTheOptionAndTheRights) {
  ask("ACL SETUSER anna on nopass +@all ~* policy~fr* policy~re* policy~RE*");
  ask("AUTH anna x");
  EXPECT_EQ(reload("policy free 5/1m\n"), R"(["- free GCRA 100/1m BURST 20", "+ free GCRA 5/1m"])");
  file("policy free 6/1m\npolicy partners 5/1m\n");
  for (const char* words : {"RL.POLICY RELOAD", "RL.POLICY reload", "RL.POLICY RELOAD DIFF"}) {
    EXPECT_THAT(ask(words), HasSubstr("NOPERM")) << words;
  }
  EXPECT_THAT(ask("RL.POLICY GET free"), HasSubstr("GCRA 5/1m"));
  config_.policies_file = "";
  restart();
  EXPECT_EQ(ask("RL.POLICY RELOAD"),
            "(error ERR there is no file of policies: the option policies-file is not set)");
}

TEST_F(PoliciesFile, ItsRulesAreReadWithIt) {
  const std::string policy = "policy free 100/1m BURST 20\n";
  const auto rule_of = [this](std::string_view domain) {
    const std::vector<DescriptorEntry> entries = {{"user", "ann"}};
    const auto& rules = (*server_)->limiters().descriptor_rules;
    const DescriptorRule* rule = rules == nullptr ? nullptr : rules->find(domain, entries);
    return rule == nullptr ? "" : rule->policy;
  };
  EXPECT_EQ(reload(policy + "rls site user POLICY free KEY \"a b\"\n"),
            R"(["+ rls site user POLICY free KEY \"a b\""])");
  EXPECT_EQ(rule_of("site"), "free");
  file(policy + "rls shop user POLICY free\n");
  EXPECT_EQ(ask("RL.POLICY RELOAD DIFF"),
            R"(["- rls site user POLICY free KEY \"a b\"", "+ rls shop user POLICY free"])");
  EXPECT_EQ(rule_of("site"), "free");
  restart();
  EXPECT_EQ(rule_of("site"), "");
  EXPECT_EQ(rule_of("shop"), "free");
  EXPECT_EQ(reload(policy), R"(["- rls shop user POLICY free"])");
  EXPECT_EQ(rule_of("shop"), "");
}

TEST_F(PoliciesFile, WhatIsWrongWithRulesIsToldBesideTheRest) {
  const std::string pool = "policy pool CONCURRENCY 5 LEASE 30s\n";
  EXPECT_THAT(reload(pool + "rls site user POLICY pool\n"),
              HasSubstr("policies:2: POLICY 'pool' has CONCURRENCY"));
  EXPECT_THAT(reload("rls site user POLICY gone\n"),
              HasSubstr("policies:1: POLICY 'gone' is not in this file"));
  EXPECT_THAT(reload("policy a 1/x\nrls site user\nrls site user POLICY a\n"),
              testing::AllOf(HasSubstr("policies:1: "), HasSubstr("; policies:2: rls takes"),
                             testing::Not(HasSubstr("policies:3"))));
  EXPECT_EQ(ask("RL.POLICY LIST"), "[\"free\"]");
  EXPECT_THAT(refusal("policy a 1/1m\nrls site user POLICY b\n"), HasSubstr("policies:2: "));
}

TEST_F(PoliciesFile, RulesOfOthersPoliciesAreNotTheUsersToChange) {
  const std::string policies = "policy free 5/1m\npolicy partners 5/1m\n";
  reload(policies);
  ask("ACL SETUSER anna on nopass +@all ~* policy~fr*");
  ask("AUTH anna x");
  EXPECT_EQ(reload(policies + "rls site user POLICY free\n"), R"(["+ rls site user POLICY free"])");
  EXPECT_THAT(reload(policies + "rls site user POLICY partners\n"), HasSubstr("NOPERM"));
}

TEST_F(PoliciesFile, KeepsTheHistoryOfManyChangesBounded) {
  for (int round = 0; round < 3; ++round) {
    std::string text;
    for (int i = 0; i < 1500; ++i) {
      text += "policy p" + std::to_string(i) + " " + std::to_string(round + 1) + "/1m\n";
    }
    reload(text);
  }
  EXPECT_THAT(ask("RL.POLICY HISTORY p999"), HasSubstr("GCRA 1/1m"));
  size_t kept = 0;
  for (int i = 0; i < 1500; ++i) {
    const std::string history = ask("RL.POLICY HISTORY p" + std::to_string(i));
    for (size_t at = 0; (at = history.find("time_ms", at)) != std::string::npos; ++at) ++kept;
  }
  EXPECT_EQ(kept, 2000u);
}

// A cluster of shards: an old file on one machine does not undo the new one.
TEST_F(PoliciesFile, InAClusterItsEpochNeverFalls) {
  begin_cluster();
  EXPECT_THAT(reload("policy free 100/1m\n"), HasSubstr("policies: in a cluster of shards the "
                                                        "file begins with 'epoch N'"));
  EXPECT_THAT(reload("# plans\nepoch 3\npolicy free 200/1m\n"), HasSubstr("+ free GCRA 200/1m"));
  EXPECT_EQ(reload("# plans\nepoch 3\npolicy free 200/1m\n"), "[]");
  EXPECT_THAT(reload("epoch 2\npolicy free 100/1m\n"),
              HasSubstr("its epoch 2 is lower than 3, which the cluster has seen"));
  EXPECT_THAT(reload("epoch 3\npolicy free 100/1m\n"),
              HasSubstr("the cluster has seen another file of epoch 3"));
  EXPECT_THAT(ask("RL.POLICY GET free"), HasSubstr("200/1m"));
  EXPECT_THAT(reload("epoch 4\npolicy free 300/1m\n"), HasSubstr("+ free GCRA 300/1m"));
  SettingsPage page{.up_to = 1, .has_more = false, .items = {}};
  page.items = {{.kind = SettingKind::kFileEpoch, .version = 9, .made = 7}};
  EXPECT_TRUE((*server_)->shard_role().take_settings("b", {}, page));
  EXPECT_THAT(reload("epoch 5\npolicy free 400/1m\n"), HasSubstr("is lower than 9"));
  restart();
  begin_cluster();
  (*server_)->limiters().descriptor_rules = nullptr;  // as of a member that has read no file yet
  EXPECT_THAT(reload("epoch 8\npolicy free 400/1m\nrls d user=* POLICY free KEY u:{user}\n"),
              HasSubstr("is lower than 9"));
  ASSERT_NE((*server_)->limiters().descriptor_rules, nullptr);
  EXPECT_EQ((*server_)->limiters().descriptor_rules->texts().size(), 1u);
  EXPECT_THAT(reload("epoch 10\npolicy free 500/1m\n"), HasSubstr("+ free GCRA 500/1m"));
}

// Another shard has read it first, and somebody has made a policy by a name that it has no more.
TEST_F(PoliciesFile, AFileThatTheClusterKnowsDeletesNothing) {
  begin_cluster();
  EXPECT_THAT(reload("epoch 3\npolicy free 200/1m\npolicy old 1/1m\n"),
              HasSubstr("+ old GCRA 1/1m"));
  const std::string text = "epoch 4\npolicy free 200/1m\n";
  SettingsPage page{.up_to = 1, .has_more = false, .items = {}};
  page.items = {{.kind = SettingKind::kFileEpoch, .version = 4, .made = file_digest_of(text)}};
  EXPECT_TRUE((*server_)->shard_role().take_settings("b", {}, page));
  EXPECT_EQ(reload(text), "[]");
  EXPECT_THAT(ask("RL.POLICY GET old"), HasSubstr("1/1m"));
  EXPECT_EQ(reload("epoch 5\npolicy free 200/1m\n"), "[]") << "it is the file's no more";
}

TEST_F(PoliciesFile, AServerAloneReadsAFileWithAnEpoch) {
  EXPECT_THAT(reload("epoch 3\npolicy free 200/1m\n"), HasSubstr("+ free GCRA 200/1m"));
  EXPECT_THAT(reload("epoch 2\npolicy free 300/1m\n"), HasSubstr("+ free GCRA 300/1m"));
  for (const char* wrong : {"epoch", "epoch 0", "epoch x", "epoch 1 2", "epoch 99999999999999"})
    EXPECT_THAT(reload(wrong), HasSubstr("policies:1: epoch takes a number from 1 to"));
  EXPECT_THAT(reload("policy free 300/1m\nepoch 3\n"), HasSubstr("policies:2: expected 'policy"));
}

}  // namespace
}  // namespace weir::server
