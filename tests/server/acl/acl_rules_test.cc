// Rules: what they give and take, how they are shown, and which are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/acl/sha256.h"
#include "server/acl/users.h"
#include "server/command/command_facts.h"
#include "server/commands/command_lists.h"

namespace weir::server::acl {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

using Words = std::vector<std::string_view>;

class AclRules : public testing::Test {
 protected:
  // "" or why the rule was refused.
  std::string apply(std::string_view rule) {
    const Applied applied = user_.apply(rule);
    return applied ? "" : std::string(applied.error());
  }
  void apply_all(std::initializer_list<std::string_view> rules) {
    for (const std::string_view rule : rules) EXPECT_EQ(apply(rule), "") << rule;
  }
  AccessDecision check(const Words& words) const {
    const Command* command = table_.resolve(words);
    EXPECT_NE(command, nullptr) << words[0];
    return user_.check(*command, words);
  }
  bool allows(const Words& words) const { return check(words).allowed(); }
  Denial denial(const Words& words) const { return check(words).denial; }

  CommandTable table_{command_lists()};
  User user_{"ann", &table_, false};
};

TEST(Sha256, AnswersTheStandardsExamples) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjkl"
                       "mnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  // Around the end of a block, where the length no longer fits after the message.
  EXPECT_EQ(sha256_hex(std::string(55, 'a')),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(sha256_hex(std::string(56, 'a')),
            "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(sha256_hex(std::string(64, 'a')),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

TEST_F(AclRules, ANewUserMayNothing) {
  EXPECT_EQ(user_.line(), "user ann off resetchannels -@all");
  EXPECT_FALSE(user_.accepts_hash(sha256_hex("")));
  EXPECT_EQ(denial({"get", "a"}), Denial::kCommand);
  EXPECT_EQ(denial({"ping"}), Denial::kCommand);
  EXPECT_TRUE(allows({"auth", "a", "b"})) << "whoever cannot log in can change nothing";
}

TEST_F(AclRules, CommandsComeAndGo) {
  apply_all({"allkeys", "+get", "+config", "-config|set", "+acl|whoami"});
  EXPECT_TRUE(allows({"GET", "a"}));
  EXPECT_TRUE(allows({"config", "get", "a"}));
  EXPECT_FALSE(allows({"config", "set", "a", "b"}));
  EXPECT_TRUE(allows({"ACL", "WHOAMI"}));
  EXPECT_FALSE(allows({"acl", "list"}));
  EXPECT_EQ(user_.root().commands_text(), "-@all +get +config -config|set +acl|whoami");
  apply_all({"+CONFIG"});
  EXPECT_TRUE(allows({"config", "set", "a", "b"}));
  EXPECT_EQ(user_.root().commands_text(), "-@all +get +acl|whoami +config");
  apply_all({"-@all"});
  EXPECT_FALSE(allows({"GET", "a"}));
  EXPECT_EQ(user_.root().commands_text(), "-@all");
}

TEST_F(AclRules, CategoriesAreSetsOfCommands) {
  apply_all({"allkeys", "+@READ", "-@hash", "+@ratelimit"});
  EXPECT_TRUE(allows({"get", "a"}));
  EXPECT_FALSE(allows({"hget", "a", "f"}));
  EXPECT_FALSE(allows({"set", "a", "b"}));
  EXPECT_EQ(user_.root().commands_text(), "-@all +@read -@hash +@ratelimit");
  for (const Words& words : {Words{"cl.throttle", "k", "1", "1", "1"}, Words{"rl.take", "k", "l"},
                             Words{"gcra", "k", "1", "1", "1"}, Words{"increx", "k"},
                             Words{"throttle", "k", "1", "1", "1"}})
    EXPECT_TRUE(allows(words)) << words[0];
  EXPECT_FALSE(allows({"rl.reset", "k"}));
  apply_all({"+@ratelimitadmin"});
  EXPECT_TRUE(allows({"rl.reset", "k"}));
}

TEST_F(AclRules, EveryLimiterCommandIsInOneOfTheCategories) {
  for (size_t i = 0; i < table_.count(); ++i) {
    const Command& row = *table_.row(i);
    const bool is_limiter = row.name.starts_with("rl.") || row.name == "cl.throttle" ||
                            row.name == "throttle" || row.name == "gcra" || row.name == "increx";
    if (row.has(kContainer)) continue;
    if (is_limiter) {
      const auto categories = acl_categories(row);
      const auto of = [&](std::string_view category) {
        return std::count(categories.begin(), categories.end(), category);
      };
      EXPECT_EQ(of("ratelimit") + of("ratelimitadmin"), 1) << row.name;
    } else {
      EXPECT_THAT(acl_categories(row), Not(Contains(testing::StartsWith("ratelimit")))) << row.name;
    }
    for (const std::string_view category : acl_categories(row))
      EXPECT_THAT(all_acl_categories(), Contains(category)) << row.name;
  }
}

TEST_F(AclRules, TheRightToReadKeysReachesNothingOfTheOperator) {
  apply_all({"+@read", "+@keyspace", "~*"});
  EXPECT_TRUE(allows({"get", "k"}));
  EXPECT_FALSE(allows({"weir", "settings", "after", "0"}));
  for (size_t i = 0; i < table_.count(); ++i) {
    const Command& row = *table_.row(i);
    if (row.has(kAdmin)) {
      EXPECT_THAT(acl_categories(row), Not(Contains("read"))) << row.name;
    }
  }
}

TEST_F(AclRules, FirstArgumentsOfADeniedCommand) {
  apply_all({"+select|0", "+SELECT|1"});
  EXPECT_TRUE(allows({"select", "0"}));
  EXPECT_TRUE(allows({"select", "1"}));
  EXPECT_FALSE(allows({"select", "2"}));
  EXPECT_EQ(user_.root().commands_text(), "-@all +select|0 +select|1");
  apply_all({"-@connection"});
  EXPECT_FALSE(allows({"select", "0"}));
  EXPECT_EQ(apply("-select|0"), kUnknownName);
  EXPECT_EQ(apply("+select|"), kBadSyntax);
  EXPECT_EQ(apply("+select|a b"), kBadSyntax);
  EXPECT_EQ(apply("+config|get|x"), kFirstArgOfSubcommand);
  EXPECT_EQ(apply("+config|nosuch"), kUnknownName);
}

TEST_F(AclRules, KeysByWhatBecomesOfThem) {
  apply_all({"+@all", "~both", "%R~read", "%W~written"});
  EXPECT_TRUE(allows({"get", "read"}));
  EXPECT_FALSE(allows({"get", "written"}));
  EXPECT_TRUE(allows({"set", "written", "v"}));
  EXPECT_FALSE(allows({"set", "written", "v", "GET"}));
  EXPECT_TRUE(allows({"set", "both", "v", "get"}));
  EXPECT_FALSE(allows({"incr", "written"}));
  EXPECT_TRUE(allows({"lpush", "written", "v"}));
  EXPECT_TRUE(allows({"del", "written", "both"}));
  EXPECT_FALSE(allows({"lpop", "written"}));
  EXPECT_TRUE(allows({"exists", "written", "read"})) << "no value is told";
  EXPECT_FALSE(allows({"exists", "other"}));
  EXPECT_TRUE(allows({"copy", "read", "written"}));
  EXPECT_FALSE(allows({"copy", "written", "read"}));
  EXPECT_TRUE(allows({"zunionstore", "written", "2", "read", "both"}));
  EXPECT_FALSE(allows({"zunionstore", "read", "1", "read"}));
  EXPECT_TRUE(allows({"sort", "read", "STORE", "read", "STORE", "written"}));
  EXPECT_FALSE(allows({"sort", "read", "STORE", "read"}));
  EXPECT_FALSE(allows({"eval", "return 1", "1", "read"}));
  EXPECT_TRUE(allows({"eval_ro", "return 1", "1", "read"}));
  EXPECT_FALSE(allows({"rl.take", "read", "l"}));
  EXPECT_TRUE(allows({"rl.peek", "read"}));
  const AccessDecision decision = check({"mset", "both", "1", "read", "2"});
  EXPECT_EQ(decision.denial, Denial::kKey);
  EXPECT_EQ(decision.position, 3u);
  EXPECT_EQ(user_.root().keys_text(), "~both %R~read %W~written");
  apply_all({"%w~read"});
  EXPECT_EQ(user_.root().keys_text(), "~both ~read %W~written");
}

TEST_F(AclRules, EveryKeyOfManyIsLookedAt) {
  apply_all({"+@all", "~a*"});
  EXPECT_TRUE(allows({"rl.mtake", "2", "a1", "a2", "l"}));
  EXPECT_FALSE(allows({"rl.mtake", "2", "a1", "b", "l"}));
  EXPECT_TRUE(allows({"blpop", "a1", "a2", "0"}));
  EXPECT_FALSE(allows({"blpop", "a1", "b", "0"}));
  EXPECT_TRUE(allows({"sintercard", "5", "b", "b"})) << "what is no request is refused as that";
}

TEST_F(AclRules, Channels) {
  apply_all({"+@all", "&news:*", "&old"});
  EXPECT_TRUE(allows({"subscribe", "news:1", "old"}));
  const AccessDecision decision = check({"subscribe", "news:1", "new"});
  EXPECT_EQ(decision.denial, Denial::kChannel);
  EXPECT_EQ(decision.position, 2u);
  EXPECT_TRUE(allows({"psubscribe", "news:*"}));
  EXPECT_FALSE(allows({"psubscribe", "news:1*"})) << "a pattern is allowed to the letter";
  EXPECT_TRUE(allows({"publish", "old", "anything"}));
  EXPECT_FALSE(allows({"spublish", "new", "x"}));
  EXPECT_TRUE(allows({"unsubscribe", "new"}));
  EXPECT_TRUE(allows({"pubsub", "channels", "new"}));
  EXPECT_EQ(user_.root().text(), "resetchannels &news:* &old +@all");
}

TEST_F(AclRules, SelectorsAreTriedInTurn) {
  apply_all({"+get", "~a", "(+set ~b)", "(%R~c +@read)"});
  EXPECT_TRUE(allows({"get", "a"}));
  EXPECT_TRUE(allows({"set", "b", "v"}));
  EXPECT_FALSE(allows({"set", "a", "v"}));
  EXPECT_TRUE(allows({"mget", "c"}));
  EXPECT_EQ(denial({"del", "a"}), Denial::kCommand);
  EXPECT_EQ(denial({"set", "a", "v"}), Denial::kKey) << "the nearest denial is told";
  EXPECT_EQ(check({"mget", "c", "d"}).position, 2u);
  EXPECT_EQ(user_.line(),
            "user ann off ~a resetchannels -@all +get (~b resetchannels -@all +set) "
            "(%R~c resetchannels -@all +@read)");
  EXPECT_EQ(apply("(on)"), kBadSyntax);
  EXPECT_EQ(apply("(~\"x)"), kBadSyntax);
  EXPECT_EQ(apply("(~a))"), kBadSyntax) << "read again, it would end at the first parenthesis";
  apply_all({"clearselectors"});
  EXPECT_FALSE(allows({"set", "b", "v"}));
}

TEST_F(AclRules, Passwords) {
  apply_all({"on", ">one", ">two", ">one", "#" + sha256_hex("three")});
  EXPECT_EQ(user_.passwords().size(), 3u);
  EXPECT_TRUE(user_.accepts_hash(sha256_hex("one")));
  EXPECT_TRUE(user_.accepts_hash(sha256_hex("three")));
  EXPECT_FALSE(user_.accepts_hash(sha256_hex("four")));
  EXPECT_FALSE(user_.accepts_hash(sha256_hex(sha256_hex("one")))) << "the hash is no password";
  apply_all({"<one", "!" + sha256_hex("two")});
  EXPECT_FALSE(user_.accepts_hash(sha256_hex("one")));
  EXPECT_FALSE(user_.accepts_hash(sha256_hex("two")));
  EXPECT_EQ(apply("<one"), kNoSuchPassword);
  EXPECT_EQ(apply("#abc"), kBadHash);
  EXPECT_EQ(apply("#" + std::string(64, 'F')), kBadHash);
  apply_all({"nopass"});
  EXPECT_TRUE(user_.accepts_hash(sha256_hex("anything")));
  EXPECT_THAT(user_.passwords(), IsEmpty());
  apply_all({"resetpass"});
  EXPECT_FALSE(user_.accepts_hash(sha256_hex("anything")));
  apply_all({">x", "off"});
  EXPECT_FALSE(user_.accepts_hash(sha256_hex("x")));
}

TEST_F(AclRules, WhatIsNoRule) {
  for (const char* rule : {"foo", "~a b", "&a b", "%~a", "%rr~a", "%X~a", ")", "@read", "%"})
    EXPECT_EQ(apply(rule), kBadSyntax) << rule;
  for (const char* rule : {"+nosuch", "-nosuch", "+@nosuch", "+@", "+", "-", "+nosuch|x"})
    EXPECT_EQ(apply(rule), kUnknownName) << rule;
  apply_all({"allkeys", "allchannels"});
  EXPECT_EQ(apply("~a"), kAllKeysAlready);
  EXPECT_EQ(apply("&a"), kAllChannelsAlready);
  EXPECT_EQ(apply(""), "");
}

TEST_F(AclRules, WhoMayEverythingIsKnownAtOnce) {
  EXPECT_FALSE(user_.unrestricted());
  apply_all({"+@all", "~*"});
  EXPECT_FALSE(user_.unrestricted());
  apply_all({"&*"});
  EXPECT_TRUE(user_.unrestricted());
  apply_all({"-get"});
  EXPECT_FALSE(user_.unrestricted());
  apply_all({"(allcommands allkeys allchannels)"});
  EXPECT_TRUE(user_.unrestricted());
  apply_all({"reset"});
  EXPECT_FALSE(user_.unrestricted());
  EXPECT_EQ(user_.line(), "user ann off sanitize-payload resetchannels -@all");
}

TEST_F(AclRules, ALineMakesTheSameUser) {
  apply_all({"on", ">pw", "+@all", "-@dangerous", "+config|get", "-get", "+get|x", "~a", "%R~b\"c",
             "&n*", "(+set \"~d\\\"e\" ~f)", "(+@hash allkeys allchannels)",
             "skip-sanitize-payload"});
  Users users(&table_, false);
  ASSERT_TRUE(users.load(user_.line() + "\n", "users.acl").ok());
  EXPECT_EQ(users.find("ann")->line(), user_.line());
  EXPECT_TRUE(users.find("ann")->accepts_hash(sha256_hex("pw")));
}

}  // namespace
}  // namespace weir::server::acl
