// Settings of a cluster of shards: numbered and journaled by the shard that is told of them, and
// taken over by the others from its pages, whatever those say.
#include "server/core/shard/settings_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "server/script/lua/sha1.h"
#include "tests/server/core/shard/settings_shard.h"

namespace weir::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kOtherCode =
    "#!lua name=one\nredis.register_function('f', function() return 2 end)";

class SettingsStoreTest : public ::testing::Test {
 protected:
  void exchange() {
    for (int round = 0; round < 3; ++round) {
      b_.pull(&a_);
      a_.pull(&b_);
    }
    EXPECT_EQ(a_.digest(), b_.digest());
    EXPECT_EQ(a_.contents(), b_.contents());
  }

  SettingsShard a_{3, "a"};
  SettingsShard b_{5, "b"};
};

TEST_F(SettingsStoreTest, WhatOneIsToldComesToTheOther) {
  a_.ask("RL.POLICY SET p0 10/1m BURST 5 PERCENT 40 ONCHANGE RESET");
  a_.ask("RL.POLICY OVERRIDE p0 KEY k0 500/1m");
  a_.ask("RL.POLICY OVERRIDE p0 PREFIX ab BLOCKED");
  a_.ask({"FUNCTION", "LOAD", kLibraryCode});
  a_.ask({"SCRIPT", "LOAD", "return 1"});
  EXPECT_EQ(a_.journal().head().there, 5u);
  EXPECT_NE(a_.digest(), b_.digest());
  exchange();
  EXPECT_EQ(b_.ask("FCALL f 0"), "1");
  EXPECT_EQ(b_.ask("EVALSHA " + script::sha1_hex("return 1") + " 0"), "1");
  EXPECT_EQ(b_.ask("RL.POLICY GET p0"), a_.ask("RL.POLICY GET p0")) << "its version, too";
  EXPECT_EQ(b_.ask("RL.POLICY OVERRIDES p0"), a_.ask("RL.POLICY OVERRIDES p0"));
  EXPECT_THAT(b_.ask("RL.POLICY HISTORY p0"), HasSubstr("shard a"));
  a_.ask("RL.POLICY OVERRIDE p0 KEY k0 DEL");
  a_.ask("FUNCTION DELETE one");
  a_.ask("SCRIPT FLUSH");
  exchange();
  EXPECT_THAT(b_.ask("FCALL f 0"), HasSubstr("Function not found"));
  EXPECT_EQ(b_.ask("SCRIPT EXISTS " + script::sha1_hex("return 1")), "[0]");
  a_.ask("RL.POLICY DEL p0");
  exchange();
  EXPECT_EQ(b_.ask("RL.POLICY LIST"), "[]");
  EXPECT_EQ(b_.journal().head().digest, 0u);
}

TEST_F(SettingsStoreTest, TheLaterOneWinsEverywhere) {
  a_.ask("RL.POLICY SET p0 10/1m");
  b_.ask("RL.POLICY SET p0 20/1m");
  b_.ask("RL.POLICY SET p0 30/1m");
  exchange();
  EXPECT_THAT(a_.ask("RL.POLICY GET p0"), HasSubstr("30/1m"));
  a_.ask("RL.POLICY SET p0 40/1m");
  exchange();
  EXPECT_THAT(b_.ask("RL.POLICY GET p0"), HasSubstr("40/1m"));
  a_.ask("RL.POLICY DEL p0");
  b_.ask("RL.POLICY SET p1 50/1m");
  b_.ask("RL.POLICY SET p0 60/1m");
  exchange();
  EXPECT_THAT(a_.ask("RL.POLICY GET p0"), HasSubstr("60/1m")) << "it was set after two others";
}

// Both shards have the same ten bits.
TEST(SettingsStore, OneVersionOfTwoIsDecidedTheSameEverywhere) {
  SettingsShard a(3, "a");
  SettingsShard b(3, "b");
  a.ask("RL.POLICY SET p0 10/1m");
  b.ask("RL.POLICY SET p0 20/1m");
  EXPECT_EQ(a.journal().find(SettingKind::kPolicy, "p0")->version,
            b.journal().find(SettingKind::kPolicy, "p0")->version);
  b.pull(&a);
  a.pull(&b);
  EXPECT_EQ(a.digest(), b.digest());
  EXPECT_EQ(a.contents(), b.contents());
}

TEST_F(SettingsStoreTest, APolicyThatIsMadeAnewHasNoOverrides) {
  a_.ask("RL.POLICY SET p0 10/1m");
  a_.ask("RL.POLICY OVERRIDE p0 KEY k0 5/1m");
  exchange();
  a_.ask("RL.POLICY DEL p0");
  a_.ask("RL.POLICY SET p0 20/1m");
  a_.ask("RL.POLICY OVERRIDE p0 KEY k1 6/1m");
  b_.ask("RL.POLICY OVERRIDE p0 KEY k2 7/1m");
  exchange();
  EXPECT_THAT(b_.ask("RL.POLICY OVERRIDES p0"), HasSubstr("k1"));
  EXPECT_THAT(b_.ask("RL.POLICY OVERRIDES p0"), Not(HasSubstr("k0")));
}

TEST_F(SettingsStoreTest, PagesAreBounded) {
  for (int at = 0; at < 300; ++at) a_.ask("RL.POLICY SET q" + std::to_string(at) + " 10/1m");
  EXPECT_EQ(a_.page(0).items.size(), kSettingsOfPageMax);
  EXPECT_EQ(b_.pull(&a_), 3u);
  EXPECT_EQ(a_.digest(), b_.digest());
  const std::string body = "return '" + std::string(100'000, 'x') + "'";
  for (const char* end : {" ", "  ", "   "}) a_.ask({"SCRIPT", "LOAD", body + end});
  EXPECT_EQ(b_.pull(&a_), 2u);
  EXPECT_EQ(a_.digest(), b_.digest());
  EXPECT_THAT(a_.ask({"SCRIPT", "LOAD", "return '" + std::string(kSettingBytesMax, 'x') + "'"}),
              HasSubstr("has at most 1048576 bytes"));
}

// Clients send it to all nodes, and meet their own change.
TEST_F(SettingsStoreTest, met_its_own_change) {
  a_.ask({"FUNCTION", "LOAD", kLibraryCode});
  b_.pull(&a_);
  EXPECT_EQ(b_.ask({"FUNCTION", "LOAD", kLibraryCode}), "\"one\"");
  EXPECT_THAT(a_.ask({"FUNCTION", "LOAD", kLibraryCode}), HasSubstr("already exists"));
  EXPECT_THAT(b_.ask({"FUNCTION", "LOAD", kOtherCode}), HasSubstr("already exists"));
  const std::string digest = b_.digest();
  EXPECT_EQ(b_.ask({"FUNCTION", "LOAD", "REPLACE", kLibraryCode}), "\"one\"");
  EXPECT_EQ(b_.digest(), digest) << "it is no change of its own";
  a_.ask("FUNCTION DELETE one");
  b_.pull(&a_);
  EXPECT_EQ(b_.ask("FUNCTION DELETE one"), "OK");
  EXPECT_THAT(b_.ask("FUNCTION DELETE two"), HasSubstr("Library not found"));
  a_.ask("RL.POLICY SET p0 10/1m");
  b_.pull(&a_);
  const std::string before = b_.digest();
  EXPECT_EQ(b_.ask("RL.POLICY SET p0 10/1m"), "OK");
  EXPECT_EQ(b_.digest(), before);
  a_.ask("RL.POLICY DEL p0");
  b_.pull(&a_);
  EXPECT_EQ(b_.ask("RL.POLICY DEL p0"), "1");
  a_.ask({"FUNCTION", "LOAD", kLibraryCode});
  b_.pull(&a_);
  b_.advance(10 * kSecond);
  EXPECT_THAT(b_.ask({"FUNCTION", "LOAD", kLibraryCode}), HasSubstr("already exists"));
}

TEST_F(SettingsStoreTest, WhatFailsIsNoChange) {
  a_.ask("RL.POLICY SET p0 10/1m");
  const uint64_t change = a_.journal().head().change;
  a_.ask("RL.POLICY SET p0 ten");
  a_.ask({"FUNCTION", "LOAD", "#!lua name=one\nboom("});
  a_.ask({"SCRIPT", "LOAD", "boom("});
  a_.ask("RL.POLICY DEL p1");
  a_.ask("RL.POLICY OVERRIDE p0 KEY k0 DEL");
  EXPECT_EQ(a_.journal().head().change, change);
}

TEST(SettingsStore, AServerAloneKeepsNoRecordOfSettings) {
  FakeServer alone;
  const auto client = alone.connect();
  ask(*client, "RL.POLICY SET p0 10/1m");
  client->send(request({"FUNCTION", "LOAD", kLibraryCode}));
  client->send(request({"SCRIPT", "LOAD", "return 1"}));
  alone->keys().visit_system(
      "setting", [](std::string_view name, std::string_view) { ADD_FAILURE() << name; });
  EXPECT_EQ(ask(*client, "RL.POLICY GET p0"),
            "[\"limits\", \"GCRA 10/1m BURST 9\", \"onchange\", \"USED\", \"version\", 1]");
}

// What a directory had before it became a shard's.
TEST_F(SettingsStoreTest, WhatWasThereBeforeIsNumbered) {
  FakeServer alone;
  {
    const auto client = alone.connect();
    ask(*client, "RL.POLICY SET p0 10/1m");
    ask(*client, "RL.POLICY OVERRIDE p0 KEY k0 5/1m");
    client->send(request({"FUNCTION", "LOAD", kLibraryCode}));
    client->send(request({"SCRIPT", "LOAD", "return 1"}));
  }
  SettingsShard c(7, "c", alone.disk().after_kill());
  EXPECT_EQ(c.journal().head().there, 4u);
  a_.pull(&c);
  EXPECT_EQ(a_.digest(), c.digest());
  EXPECT_EQ(a_.contents(), c.contents());
  SettingsShard again(7, "c", c.server().disk().after_kill());
  EXPECT_EQ(again.journal().head().change, 4u) << "once";
  EXPECT_EQ(again.digest(), c.digest());
}

// A peer's words are checked as an operator's are.
TEST_F(SettingsStoreTest, WhatCannotBeIsNotTakenOver) {
  b_.ask("RL.POLICY SET p0 10/1m");
  const uint64_t made = b_.journal().made_of("p0");
  const std::string before = b_.contents() + b_.digest();
  const SettingItem policy{
      .kind = SettingKind::kPolicy, .name = "p1", .version = 900'000, .made = 900'000};
  const auto with = [](SettingItem item, auto change) {
    change(&item);
    return item;
  };
  const SettingItem override{.kind = SettingKind::kOverride,
                             .name = override_setting_name({.policy = "p0", .name = "k0"}),
                             .version = 900'000,
                             .made = made};
  SettingsPage page{.up_to = 1, .has_more = false, .items = {}};
  page.items = {
      with(policy, [](SettingItem* item) { item->content = "ten"; }),
      with(policy, [](SettingItem* item) { item->content = ""; }),
      with(policy,
           [](SettingItem* item) {
             item->name = "";
             item->content = "10/1m";
           }),
      with(policy,
           [](SettingItem* item) {
             item->name = std::string(5000, 'p');
             item->content = "10/1m";
           }),
      with(policy,
           [](SettingItem* item) {
             item->version = kSettingVersionMax;
             item->content = "10/1m";
           }),
      with(override, [](SettingItem* item) { item->content = "10/1m SHADOW"; }),
      with(override,
           [](SettingItem* item) {
             item->made += 1;
             item->content = "10/1m";
           }),
      {.kind = SettingKind::kLibrary, .name = "two", .version = 900'000, .content = "boom("},
      {.kind = SettingKind::kLibrary,
       .name = "two",
       .version = 900'000,
       .content = std::string(kLibraryCode)},
      {.kind = SettingKind::kScript,
       .name = std::string(40, 'a'),
       .version = 900'000,
       .content = "return 1"},
      {.kind = SettingKind::kScript,
       .name = script::sha1_hex("boom("),
       .version = 900'000,
       .content = "boom("},
  };
  b_.take("a", page);
  EXPECT_EQ(b_.contents() + b_.digest(), before);
  EXPECT_EQ(b_.journal().taken_from("a", {}), 1u);
  EXPECT_EQ(b_.journal().taken_from("a", {.ms = 1, .random = 0}), 0u) << "the shard was restored";
}

TEST_F(SettingsStoreTest, WhoHasHeardOfMoreThanThereIsBeginsAnew) {
  a_.ask("RL.POLICY SET p0 10/1m");
  b_.take("a", {.up_to = 700, .has_more = false, .items = {}});
  b_.pull(&a_);
  EXPECT_EQ(a_.digest(), b_.digest());
}

TEST_F(SettingsStoreTest, WhatWasDeletedIsRememberedForThirtyDays) {
  a_.ask("RL.POLICY SET p0 10/1m");
  a_.ask("RL.POLICY OVERRIDE p0 KEY k0 5/1m");
  a_.ask("RL.POLICY DEL p0");
  EXPECT_EQ(a_.journal().head().deleted, 1u);
  a_.server()->shard_role().forget_settings();
  EXPECT_EQ(a_.journal().head().there, 0u) << "what lay under it is forgotten at once";
  EXPECT_EQ(a_.journal().head().deleted, 1u);
  a_.advance(31 * 24 * 3600 * kSecond);
  a_.server()->shard_role().forget_settings();
  EXPECT_EQ(a_.journal().head().deleted, 0u);
  a_.server()->keys().visit_system("setting", [](std::string_view name, std::string_view) {
    if (name != "settings") ADD_FAILURE() << name;
  });
}

// Three shards are told things at random, and hear of one another at random.
TEST(SettingsStore, AllComeToTheSame) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    std::mt19937_64 random(seed);
    SettingsShard shards[] = {{3, "a"}, {5, "b"}, {seed % 2 == 0 ? 3u : 9u, "c"}};
    const auto pick = [&](uint64_t count) { return random() % count; };
    for (int step = 0; step < 150; ++step) {
      SettingsShard& shard = shards[pick(3)];
      const std::string policy = "p" + std::to_string(pick(3));
      const std::string count = std::to_string(pick(90) + 10);
      const std::string key = "k" + std::to_string(pick(3));
      switch (pick(9)) {
        case 0:
        case 1:
          shard.ask("RL.POLICY SET " + policy + " " + count + "/1m");
          break;
        case 2:
          shard.ask("RL.POLICY DEL " + policy);
          break;
        case 3:
          shard.ask("RL.POLICY OVERRIDE " + policy + " KEY " + key + " " + count + "/1m");
          break;
        case 4:
          shard.ask("RL.POLICY OVERRIDE " + policy + " KEY " + key + " DEL");
          break;
        case 5:
          shard.ask({"FUNCTION", "LOAD", "REPLACE", pick(2) == 0 ? kLibraryCode : kOtherCode});
          break;
        case 6:
          shard.ask(pick(2) == 0 ? "FUNCTION FLUSH" : "SCRIPT FLUSH");
          break;
        case 7:
          shard.ask({"SCRIPT", "LOAD", "return " + std::to_string(pick(3))});
          break;
        default:
          shard.pull(&shards[pick(3)]);
      }
      if (pick(20) == 0) shard.server()->shard_role().forget_settings();
    }
    for (int round = 0; round < 6; ++round)
      for (SettingsShard& to : shards)
        for (SettingsShard& from : shards)
          if (&to != &from) to.pull(&from);
    for (SettingsShard& shard : shards) {
      EXPECT_EQ(shard.digest(), shards[0].digest()) << "seed " << seed;
      EXPECT_EQ(shard.contents(), shards[0].contents()) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace weir::server
