// Rights to limits: who may only ask, who may give back, which policies a user may name, and who
// may write limits into a request.
#include <gmock/gmock.h>

#include "server/acl/users.h"
#include "server/commands/command_lists.h"
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// The user that README.md shows.
constexpr std::string_view kRole =
    "ACL SETUSER shop on >shop +@ratelimit +ping +select +client|setinfo +client|setname ~shop:*";

constexpr std::string_view kAdmins = "take with FORCE or give back: it needs +@ratelimitadmin";
constexpr std::string_view kInline =
    "write limits into a request (noinline): it may name a policy, for several keys by EACH POLICY";
constexpr std::string_view kPolicy = "name this policy: no policy~ rule matches it";

class AclLimits : public LimiterTest {
 protected:
  void SetUp() override {
    ask("RL.POLICY SET free GCRA 10/1m");
    ask("RL.POLICY SET gold GCRA 1000/1m");
    ask(kRole);
  }
  void rule(std::string_view rules) {
    EXPECT_EQ(ask("ACL SETUSER shop " + std::string(rules)), "OK") << rules;
  }
  std::unique_ptr<FakeClient> shop() {
    auto client = server_->connect();
    EXPECT_EQ(server::ask(*client, "AUTH shop shop"), "OK");
    return client;
  }
  // "" or what the user has no permissions to.
  std::string denied(std::string_view line) {
    const std::string dry = ask("ACL DRYRUN shop " + std::string(line));
    const std::string reply = server::ask(*shop(), line);
    if (dry == "OK") {
      EXPECT_THAT(reply, testing::Not(HasSubstr("NOPERM"))) << line;
      return "";
    }
    const std::string dry_who = "\"This user has no permissions to ";
    EXPECT_THAT(dry, StartsWith(dry_who)) << line;
    std::string what = dry.substr(dry_who.size(), dry.size() - dry_who.size() - 1);
    if (what.ends_with(" key")) return what;
    EXPECT_EQ(reply, "(error NOPERM this user has no permissions to " + what + ")") << line;
    return what;
  }
};

TEST_F(AclLimits, TheRoleMayAsk) {
  for (const char* line : {"RL.TAKE shop:1 GCRA 5/1s",
                           "RL.PEEK shop:1",
                           "RL.PEEK shop:1 COST 2",
                           "RL.MTAKE 1 shop:1 GCRA 5/1s",
                           "RL.RESERVE shop:2 GCRA 5/1s",
                           "RL.INFO shop:1",
                           "RL.ACQUIRE shop:1 GCRA 5/1s TIMEOUT 10",
                           "RL.TAKE shop:3 POLICY gold ID force-1",
                           "RL.TAKE shop:4 CONCURRENCY 2 LEASE 30s",
                           "RL.TAKE shop:8 5/1s HOLD 10s",
                           "RL.SETTLE shop:8 17 3",
                           "RL.TAKE shop:9 5/1s BAN 1m AFTER 2 WITHIN 1m",
                           "RL.RELEASE shop:4 17",
                           "RL.RENEW shop:4 17",
                           "RL.CANCEL shop:2 17",
                           "CL.THROTTLE shop:1 5 5 1",
                           "THROTTLE shop:5 5 5 1",
                           "GCRA shop:6 5 5 1",
                           "INCREX shop:7 BYINT 2",
                           "PING",
                           "SELECT 0",
                           "CLIENT SETINFO lib-name x",
                           "CLIENT SETNAME x",
                           "HELLO 2"}) {
    EXPECT_EQ(denied(line), "") << line;
  }
}

TEST_F(AclLimits, TheRoleMayNotGiveBackOrAdminister) {
  for (const char* line :
       {"RL.REFUND shop:1 5", "RL.RESET shop:1", "RL.TOP", "RL.TOP RESET", "RL.POLICY LIST",
        "RL.POLICY GET free", "RL.POLICY SET x GCRA 1/1s", "RL.POLICY DEL free",
        "RL.POLICY OVERRIDE free KEY shop:1 UNLIMITED", "RL.POLICY OVERRIDES free",
        "RL.POLICY HISTORY free", "RL.POLICY STATS free", "RL.POLICY STATS",
        "CONFIG SET limiting off", "GET shop:1", "WEIR CLOCK RESET"}) {
    EXPECT_THAT(denied(line), StartsWith("run the '")) << line;
  }
  for (const char* line :
       {"RL.TAKE shop:1 GCRA 5/1s FORCE", "RL.TAKE shop:1 POLICY gold COST 2 force",
        "CL.THROTTLE shop:1 5 5 1 -3", "INCREX shop:7 BYINT -2", "INCREX shop:7 byfloat -.5"}) {
    EXPECT_EQ(denied(line), kAdmins) << line;
  }
  EXPECT_EQ(denied("RL.TAKE other GCRA 5/1s"), "access the 'other' key");
  rule("+@ratelimitadmin");
  for (const char* line : {"RL.REFUND shop:1 5", "RL.RESET shop:1", "RL.TOP", "RL.POLICY LIST",
                           "RL.TAKE shop:1 GCRA 5/1s FORCE", "INCREX shop:7 BYINT -2"}) {
    EXPECT_EQ(denied(line), "") << line;
  }
  rule("-@ratelimitadmin");
  EXPECT_EQ(denied("RL.TAKE shop:1 GCRA 5/1s FORCE"), kAdmins);
  rule("+@all");
  EXPECT_EQ(denied("RL.TAKE shop:1 GCRA 5/1s FORCE"), "");
  rule("-@ratelimitadmin");
  EXPECT_EQ(denied("RL.TAKE shop:1 GCRA 5/1s FORCE"), kAdmins) << "all but that";
}

TEST_F(AclLimits, NoinlineLeavesPolicies) {
  rule("noinline");
  for (const char* line : {"RL.TAKE shop:1 GCRA 5/1s",
                           "RL.PEEK shop:1 GCRA 5/1s",
                           "RL.MTAKE 1 shop:1 GCRA 5/1s",
                           "RL.RESERVE shop:2 GCRA 5/1s",
                           "RL.ACQUIRE shop:1 GCRA 5/1s TIMEOUT 10",
                           "CL.THROTTLE shop:1 5 5 1",
                           "RL.THROTTLE shop:1 5 5 1",
                           "THROTTLE shop:5 5 5 1",
                           "GCRA shop:6 5 5 1",
                           "INCREX shop:7",
                           "RL.TAKE shop:1 5/1s",
                           "RL.TAKE shop:1 5 PER s",
                           "RL.TAKE shop:1 POLICY free 5/1s",
                           "RL.TAKE shop:1 5/1s POLICY free",
                           "RL.PEEK shop:1 5/1s",
                           "RL.TAKE shop:1 5/1s HOLD 10s",
                           "RL.TAKE shop:1 POLICY free 5/1s BAN 1d AFTER 1 WITHIN 1m",
                           "RL.MTAKE 2 shop:1 shop:3 EACH POLICY free EACH 5/1s",
                           "RL.MTAKE 2 shop:1 shop:3 EACH POLICY free GCRA 5/1s EACH POLICY gold",
                           "RL.MTAKE 2 shop:1 shop:3 POLICY free",
                           "RL.MTAKE 2 shop:1 shop:3 POLICY free COST 1"}) {
    EXPECT_EQ(denied(line), kInline) << line;
  }
  for (const char* line :
       {"RL.TAKE shop:1 POLICY free", "RL.TAKE shop:1 policy free COST 2 ID x",
        "RL.MTAKE 1 shop:1 POLICY free", "RL.PEEK shop:1", "RL.PEEK shop:1 COST 2",
        "RL.RESERVE shop:2 POLICY gold", "RL.INFO shop:1", "RL.TAKE shop:1 POLICY free FULL",
        "RL.TAKE shop:1 POLICY free HOLD 10s", "RL.SETTLE shop:1 17 2",
        "RL.MTAKE 2 shop:1 shop:3 EACH POLICY free EACH POLICY gold"}) {
    EXPECT_EQ(denied(line), "") << line;
  }
  rule("inline");
  EXPECT_EQ(denied("RL.TAKE shop:1 GCRA 5/1s"), "");
}

TEST_F(AclLimits, PoliciesByPattern) {
  rule("policy~fr* policy~trial");
  EXPECT_EQ(denied("RL.TAKE shop:1 POLICY free"), "");
  EXPECT_EQ(denied("RL.TAKE shop:1 POLICY gold"), kPolicy);
  EXPECT_EQ(denied("RL.MTAKE 1 shop:1 POLICY gold"), kPolicy);
  EXPECT_EQ(denied("RL.MTAKE 2 shop:1 shop:3 EACH POLICY free EACH POLICY gold"), kPolicy);
  EXPECT_EQ(denied("RL.TAKE shop:1 5/1s POLICY gold"), kPolicy);
  EXPECT_EQ(denied("RL.RESERVE shop:1 POLICY gold"), kPolicy);
  EXPECT_EQ(denied("RL.ACQUIRE shop:1 POLICY gold TIMEOUT 10"), kPolicy);
  EXPECT_EQ(denied("RL.PEEK shop:1 POLICY gold"), kPolicy);
  EXPECT_EQ(denied("RL.TAKE shop:1 GCRA 5/1s"), "") << "inline limits are another right";
  rule("+@ratelimitadmin");
  EXPECT_EQ(denied("RL.POLICY SET gold GCRA 1/1s"), kPolicy);
  EXPECT_EQ(denied("RL.POLICY GET gold"), kPolicy);
  EXPECT_EQ(denied("RL.POLICY DEL gold"), kPolicy);
  for (const char* rest : {"OVERRIDE gold KEY shop:1 UNLIMITED", "OVERRIDE gold PREFIX shop DEL",
                           "OVERRIDES gold", "HISTORY gold", "STATS gold"}) {
    EXPECT_EQ(denied("RL.POLICY " + std::string(rest)), kPolicy) << rest;
  }
  EXPECT_EQ(denied("RL.POLICY OVERRIDE free KEY shop:1 UNLIMITED"), "");
  EXPECT_EQ(denied("RL.POLICY GET free"), "");
  rule("resetpolicies noinline");
  EXPECT_EQ(denied("RL.TAKE shop:1 POLICY free"), kPolicy);
  rule("allpolicies");
  EXPECT_EQ(denied("RL.TAKE shop:1 POLICY gold"), "");
  EXPECT_THAT(ask("ACL SETUSER shop policy~"), HasSubstr("Syntax error"));
}

TEST_F(AclLimits, RulesAreShownAndReadAgain) {
  EXPECT_THAT(ask("ACL GETUSER shop"), testing::Not(HasSubstr("\"limits\"")));
  rule("policy~fr* policy~trial noinline");
  const std::string line = ask("ACL LIST");
  EXPECT_THAT(line, HasSubstr("resetchannels policy~fr* policy~trial noinline -@all +@ratelimit"));
  EXPECT_THAT(ask("ACL GETUSER shop"),
              HasSubstr("\"limits\", \"policy~fr* policy~trial noinline\", \"selectors\""));
  rule("(+@ratelimit ~other:* resetpolicies noinline)");
  EXPECT_THAT(ask("ACL GETUSER shop"), HasSubstr("\"limits\", \"resetpolicies noinline\"]"));
  const CommandTable table(command_lists());
  for (const std::string_view rules :
       {"policy~fr* policy~trial noinline -@all +@ratelimit", "resetpolicies -@all +@ratelimit",
        "noinline +@all -@ratelimitadmin", "-@all +@ratelimitadmin -rl.reset"}) {
    acl::User first("u", &table, false), second("u", &table, false);
    for (const auto word : split_at_spaces(rules)) EXPECT_TRUE(first.apply(word).ok()) << word;
    const std::string shown = first.line();
    for (const auto word : split_at_spaces(std::string_view(shown).substr(7)))
      EXPECT_TRUE(second.apply(word).ok()) << word;
    EXPECT_EQ(second.line(), shown);
    for (const auto& words :
         {std::vector<std::string_view>{"rl.take", "k", "GCRA", "1/1s", "FORCE"},
          std::vector<std::string_view>{"rl.take", "k", "POLICY", "free"},
          std::vector<std::string_view>{"rl.reset", "k"}}) {
      const Command& command = *table.resolve(words);
      EXPECT_EQ(first.check(command, words).denial, second.check(command, words).denial) << shown;
    }
  }
}

TEST_F(AclLimits, OtherPlacesTellToo) {
  rule("policy~free noinline");
  const auto client = shop();
  const auto say = [&](std::string_view line) { return server::ask(*client, line); };
  EXPECT_EQ(say("RL.TAKE shop:1 POLICY gold"),
            "(error NOPERM this user has no permissions to " + std::string(kPolicy) + ")");
  EXPECT_THAT(ask("ACL LOG 1"), HasSubstr("\"reason\", \"policy\", \"context\", \"toplevel\", "
                                          "\"object\", \"gold\", \"username\", \"shop\""));
  say("RL.TAKE shop:1 GCRA 5/1s");
  EXPECT_THAT(ask("ACL LOG 1"), HasSubstr("\"reason\", \"inline\", \"context\", \"toplevel\", "
                                          "\"object\", \"rl.take\""));
  say("RL.TAKE shop:1 POLICY free FORCE");
  EXPECT_THAT(ask("ACL LOG 1"), HasSubstr("\"reason\", \"ratelimitadmin\""));
  EXPECT_THAT(client_->call({"INFO", "stats"}), HasSubstr("acl_access_denied_limits:3\r\n"));
  rule("+@transaction +eval");
  say("MULTI");
  EXPECT_THAT(say("RL.TAKE shop:1 POLICY gold"), HasSubstr("NOPERM"));
  say("DISCARD");
  say("MULTI");
  say("RL.TAKE shop:1 POLICY free");
  rule("resetpolicies");
  EXPECT_THAT(say("EXEC"), HasSubstr("no permission to name the policy"));
  rule("policy~free");
  const auto eval = [&](std::string_view limits) {
    return as_text(client->call({"EVAL", "return redis.call('RL.TAKE', KEYS[1], unpack(ARGV))", "1",
                                 "shop:1", "POLICY", limits}));
  };
  EXPECT_THAT(eval("free"), StartsWith("[1, "));
  EXPECT_THAT(eval("gold"), HasSubstr("The user executing the script can't name this policy"));
}

}  // namespace
}  // namespace weir::server
