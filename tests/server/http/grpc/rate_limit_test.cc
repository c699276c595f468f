// Envoy's rate limit service of a whole server: what descriptors are answered, and what it does to
// limiters.
#include "server/http/grpc/rate_limit_ask.h"
#include "tests/server/http/grpc/rate_limit_fixture.h"

namespace weir::server::grpc {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(RateLimitTest, ADescriptorTakesFromItsKey) {
  EXPECT_EQ(ask({of("user", "ann")}), "OK: OK 3/3 left 2 in 3600s");
  EXPECT_EQ(ask({of("user", "ann")}), "OK: OK 3/3 left 1 in 3600s");
  EXPECT_EQ(ask({of("user", "ann")}, {}, "site", 2), "OVER: OVER 3/3 left 1 in 3600s");
  EXPECT_EQ(ask({of("user", "ann")}), "OK: OK 3/3 left 0 in 3600s");
  EXPECT_EQ(ask({of("user", "ann")}), "OVER: OVER 3/3 left 0 in 3600s");
  EXPECT_EQ(ask({of("user", "bob")}), "OK: OK 3/3 left 2 in 3600s");
  EXPECT_EQ(redis("RL.PEEK u:ann COST 0"), "[1, 3, 0, 0, 3600000, 0]");
  EXPECT_EQ(stats().rls_over_limit, 2u);
}

TEST_F(RateLimitTest, WhatHasNoRuleIsLetThrough) {
  EXPECT_EQ(ask({of("nobody")}), "OK: OK");
  EXPECT_EQ(ask({of("user")}, {}, "nowhere"), "OK: OK");
  EXPECT_EQ(ask({of("nobody"), of("user")}), "OK: OK; OK 3/3 left 2 in 3600s");
  EXPECT_EQ(stats().rls_unruled, 3u);
  EXPECT_EQ(ask({with_limit(of("user"), 1, Unit::kDay)}, {}, "nowhere"), "OK: OK");
}

TEST_F(RateLimitTest, AllDescriptorsTakeOrNone) {
  EXPECT_EQ(ask({of("user", "ann"), of("tenant", "acme")}),
            "OK: OK 3/3 left 2 in 3600s; OK 10/2 left 9 in 60s, ratelimit=\"tenant\";r=9;t=60, "
            "ratelimit-policy=\"tenant\";q=10;w=60");
  EXPECT_THAT(ask({of("user", "ann"), of("tenant", "acme")}, {}, "site", 3),
              StartsWith("OVER: OVER 3/3 left 2 in 3600s; OK 10/2 left 9 in "));
  EXPECT_EQ(redis("RL.PEEK t:acme COST 0").substr(0, 10), "[1, 10, 9,");
}

TEST_F(RateLimitTest, EachDescriptorMayHaveItsHits) {
  EXPECT_THAT(ask({with_hits(of("user"), 2), with_hits(of("tenant"), 7)}),
              StartsWith("OK: OK 3/3 left 1 in 3600s; OK 10/2 left 3 in 60s"));
  EXPECT_THAT(ask({of("user"), with_hits(of("tenant"), 3)}),
              StartsWith("OK: OK 3/3 left 0 in 3600s; OK 10/2 left 0 in 60s"));
}

TEST_F(RateLimitTest, HitsOfZeroLook) {
  const AskedDescriptor look = with_hits(of("user"), 0);
  EXPECT_EQ(ask({look}), "OK: OK 3/3 left 3 in 3600s");
  EXPECT_EQ(redis("RL.INFO u:x"), "(nil)");
  ask({of("user")}, {}, "site", 3);
  EXPECT_EQ(ask({look}), "OVER: OVER 3/3 left 0 in 3600s");
  EXPECT_EQ(ask({look, of("tenant")}).substr(0, 37), "OVER: OVER 3/3 left 0 in 3600s; OK 10");
  EXPECT_EQ(redis("RL.INFO t:x"), "(nil)");  // nothing was taken, since a look denies
  EXPECT_THAT(ask({with_hits(of("user", "ann"), 0), of("tenant")}),
              HasSubstr("; OK 10/2 left 9 in 60s"));
}

TEST_F(RateLimitTest, NegativeHitsGiveBack) {
  EXPECT_EQ(ask({with_hits(of("user"), 1, true)}), "OK: OK");  // nobody has used it
  ask({of("user")}, {}, "site", 3);
  EXPECT_THAT(ask({with_hits(of("user"), 2, true)}), StartsWith("OK: OK 3/0 left 2 in "));
  EXPECT_THAT(ask({with_hits(of("user"), 9, true)}), StartsWith("OK: OK 3/0 left 3 in "));
  ask({of("user")}, {}, "site", 3);
  // It happens whatever becomes of the others.
  ask({of("two"), of("two")});
  EXPECT_THAT(ask({with_hits(of("user"), 2, true), of("two")}),
              StartsWith("OVER: OK 3/0 left 2 in 3600s; OVER 2/4 left 0 in "));
}

TEST_F(RateLimitTest, OneKeyIsAskedOnce) {
  EXPECT_EQ(ask({of("user"), of("user")}), "OK: OK 3/3 left 1 in 3600s; OK 3/3 left 1 in 3600s");
  EXPECT_EQ(ask({of("user"), of("user")}),
            "OVER: OVER 3/3 left 1 in 3600s; OVER 3/3 left 1 in 3600s");
  EXPECT_EQ(ask({of("user"), of("same")}), "9 two descriptors have one key and different limits");
}

TEST_F(RateLimitTest, AnOverrideIsAWindowOfTheCalendar) {
  EXPECT_EQ(ask({with_limit(of("custom"), 2, Unit::kSecond)}), "OK: OK 2/1 left 1 in 1s");
  EXPECT_THAT(ask({with_limit(of("custom", "y"), 5, Unit::kMonth)}),
              StartsWith("OK: OK 5/5 left 4"));
  EXPECT_THAT(ask({with_limit(of("custom", "z"), 5, Unit::kYear)}),
              StartsWith("OK: OK 5/6 left 4"));
  AskedDescriptor several = with_limit(of("custom", "s"), 5, Unit::kSecond);
  several.multiplier = 30;
  EXPECT_THAT(ask({several}), StartsWith("OK: OK 5/30*1 left 4 in "));
  several.entries[0].second = "t";
  several.limit->second = Unit::kDay;
  several.multiplier = 7;
  EXPECT_THAT(ask({several}), StartsWith("OK: OK 5/7*4 left 4"));
  several.limit->second = Unit::kMonth;
  EXPECT_EQ(ask({several}), "3 a limit is of several months or years");
  EXPECT_THAT(ask({with_limit(of("user"), 9, Unit::kDay)}), StartsWith("OK: OK 9/4 left 8"));
  EXPECT_THAT(redis("RL.PEEK u:x COST 0"), StartsWith("[1, 9, 8,"));  // the rule's key
  EXPECT_EQ(ask({with_limit(of("custom", "0"), 0, Unit::kHour), of("user", "bob")}).substr(0, 43),
            "OVER: OVER 0/3 left 0 in 0s; OK 3/3 left 3 ");
  EXPECT_EQ(redis("RL.INFO u:bob"), "(nil)");
  EXPECT_EQ(ask({with_limit(of("custom"), 2, Unit::kUnknown)}), "3 a limit's unit is unknown");
  EXPECT_EQ(ask({with_limit(of("custom"), 2, static_cast<Unit>(8))}),
            "3 a limit's unit is unknown");
  // An Envoy that does not know a week would end by it.
  EXPECT_THAT(ask({with_limit(of("custom", "w"), 2, Unit::kWeek)}), StartsWith("OK: OK 2/7*4 "));
  several.entries[0].second = "weeks";
  several.limit->second = Unit::kWeek;
  several.multiplier = 2;
  EXPECT_THAT(ask({several}), StartsWith("OK: OK 5/14*4 left 4"));
}

TEST_F(RateLimitTest, WhatCountsIsTakenInAnyCase) {
  EXPECT_EQ(llm({with_hits(of("model", "a"), 70)}), "OK: OK 100/3 left 30 in 3600s");
  EXPECT_EQ(llm({with_hits(of("model", "a"), 70)}), "OVER: OVER 100/3 left 0 in 3600s");
  EXPECT_EQ(redis("RL.PEEK m:a COST 0").substr(0, 13), "[1, 100, -40,");
  // A request asks first, and reports what it has used in the end.
  EXPECT_EQ(llm({with_hits(of("model", "a"), 0), of("user")}),
            "OVER: OVER 100/3 left 0 in 3600s; OK 3/3 left 3 in 3600s");
  EXPECT_EQ(llm({with_hits(of("model", "b"), 0), of("user")}),
            "OK: OK 100/3 left 100 in 3600s; OK 3/3 left 2 in 3600s");
  // Where it denies, the others take nothing.
  EXPECT_EQ(llm({with_hits(of("model", "a"), 1), of("user")}),
            "OVER: OVER 100/3 left 0 in 3600s; OK 3/3 left 2 in 3600s");
  EXPECT_EQ(redis("RL.PEEK m:a COST 0").substr(0, 13), "[1, 100, -41,");
}

TEST_F(RateLimitTest, KuadrantsCheckTakesNothingWhateverTheHitsAre) {
  EXPECT_EQ(by(kCheckRateLimitPath, of("user")), "OK: OK 3/3 left 3 in 3600s");
  EXPECT_EQ(by(kCheckRateLimitPath, of("user"), 7), "OK: OK 3/3 left 3 in 3600s");
  EXPECT_EQ(by(kCheckRateLimitPath, with_hits(of("user"), 2, true)), "OK: OK 3/3 left 3 in 3600s");
}

TEST_F(RateLimitTest, KuadrantsReportTakesWhatIsNotThereAndIsNeverOver) {
  EXPECT_EQ(by(kReportPath, of("user")), "OK: OK 3/3 left 2 in 3600s");
  EXPECT_EQ(by(kReportPath, of("user"), 5), "OK: OK 3/3 left 0 in 3600s");
  EXPECT_EQ(by(kCheckRateLimitPath, of("user")), "OVER: OVER 3/3 left 0 in 3600s");
  EXPECT_EQ(by(kReportPath, of("user")), "OK: OK 3/3 left 0 in 3600s");
  EXPECT_EQ(redis("RL.REFUND u:x 5"), "[1, 3, 1, 0, 3600000, 0]");
  EXPECT_EQ(by(kReportPath, with_hits(of("user"), 0)), "OK: OK");
  EXPECT_EQ(by(kReportPath, with_limit(of("custom"), 0, Unit::kDay)), "OK: OK");
}

TEST_F(RateLimitTest, WhatIsInShadowIsLetThrough) {
  EXPECT_EQ(ask({of("shade")}), "OK: OK 1/3 left 0 in 3600s");
  EXPECT_EQ(ask({of("shade")}), "OK: OK 1/3 left 0 in 3600s");
  EXPECT_EQ(ask({with_hits(of("shade"), 0)}), "OK: OK 1/3 left 0 in 3600s");
  EXPECT_EQ(llm({with_hits(of("shade"), 3)}), "OK: OK 1/3 left 0 in 3600s");
}

TEST_F(RateLimitTest, UnlimitedAndBlocked) {
  EXPECT_EQ(ask({of("free")}), "OK: OK");
  EXPECT_EQ(ask({of("shut")}), "OVER: OVER");
  EXPECT_EQ(ask({with_hits(of("shut"), 0)}), "OVER: OVER");
  EXPECT_EQ(ask({of("shut"), of("user")}).substr(0, 12), "OVER: OVER; ");
  EXPECT_EQ(redis("RL.INFO u:x"), "(nil)");
}

TEST_F(RateLimitTest, OfSeveralLimitsTheDecidingOneIsShown) {
  EXPECT_THAT(ask({of("two")}), StartsWith("OK: OK 2/4 left 1 in 86400s, ratelimit=\"two\";r=4;"));
  EXPECT_THAT(ask({of("two")}, {}, "site", 6), StartsWith("OVER: OVER 2/4 left 1 in 86400s"));
  ask({of("two")});
  EXPECT_THAT(ask({of("two")}), testing::AllOf(StartsWith("OVER: OVER 2/4 left 0 in 86400s"),
                                               HasSubstr(", retry-after=86400")));
}

TEST_F(RateLimitTest, FieldsAreThoseOfTheKeysWhoseRulesWantThem) {
  EXPECT_THAT(ask({of("user"), of("two"), of("tenant"), of("minute")}),
              EndsWith("ratelimit=\"two\";r=4;t=60, \"two-2\";r=1;t=86400, \"tenant\";r=9;t=60, "
                       "ratelimit-policy=\"two\";q=5;w=60, \"two-2\";q=2;w=86400, "
                       "\"tenant\";q=10;w=60"));
  // What the others of the request wait for is not told.
  ask({of("user")}, {}, "site", 2);
  EXPECT_EQ(ask({of("user"), of("tenant")}),
            "OVER: OVER 3/3 left 0 in 3600s; OK 10/2 left 9 in 60s, ratelimit=\"tenant\";r=9;t=60, "
            "ratelimit-policy=\"tenant\";q=10;w=60");
}

TEST_F(RateLimitTest, MetadataIsWhatWasAskedAndWhatBecameOfIt) {
  const auto metadata = [this](const std::vector<AskedDescriptor>& descriptors, uint32_t hits) {
    const int32_t stream = begin(descriptors, {}, "site", hits);
    go();
    const auto all = texts_in(client().of(stream).message(), {6});
    return all.size() == 1 ? all[0] : "(none)";
  };
  EXPECT_EQ(metadata({of("user")}, 0), "(none)");
  const std::string told = metadata({of("told", "a\xff"), with_hits(of("user"), 2)}, 1);
  EXPECT_EQ(texts_in(told, {1, 1}),
            (std::vector<std::string>{"domain", "hitsAddend", "quotaModeEnabled", "descriptors"}));
  EXPECT_EQ(texts_in(told, {1, 2, 3}), std::vector<std::string>{"site"});
  const std::vector<uint32_t> fields = {1, 2, 6, 1, 5, 1};
  const auto at = [&](std::vector<uint32_t> more) {
    more.insert(more.begin(), fields.begin(), fields.end());
    return texts_in(told, more);
  };
  EXPECT_EQ(at({1}), (std::vector<std::string>{"entries", "code", "policy", "remaining", "entries",
                                               "hitsAddend", "code", "policy", "remaining"}));
  EXPECT_EQ(at({2, 6, 1, 3}), (std::vector<std::string>{"told=a?", "user=x"}));
  EXPECT_EQ(at({2, 3}), (std::vector<std::string>{"OK", "tenant", "OK", "user"}));
  EXPECT_THAT(metadata({of("told", "a")}, 99), HasSubstr("OVER_LIMIT"));
}

TEST_F(RateLimitTest, APolicyMayBeCalledAsAnItemIsWritten) {
  write(
      "policy \"a, b;q=9\" FIXED 4/1m\npolicy c FIXED 3/1h\n"
      "rls site odd POLICY \"a, b;q=9\"\nrls site c POLICY c\n",
      "policies");
  redis("RL.POLICY RELOAD");
  EXPECT_EQ(ask({of("odd"), of("c")}), "OK: OK 4/2 left 3 in 60s; OK 3/3 left 2 in 3600s");
}

TEST_F(RateLimitTest, ARateIsShownByItsCountAndNotItsBurst) {
  EXPECT_EQ(ask({of("minute")}), "OK: OK 60/2 left 5 in 1s");
}

TEST_F(RateLimitTest, WhatCannotBeAsked) {
  EXPECT_EQ(ask({of("user")}, {}, ""), "3 the domain is empty");
  EXPECT_EQ(ask({}), "3 there is no descriptor");
  EXPECT_EQ(ask({{}}), "OK: OK");
  EXPECT_THAT(ask({with_hits(of("user"), UINT64_MAX)}), StartsWith("3 hits_addend is above"));
  std::vector<AskedDescriptor> many;
  for (int i = 0; i < 17; ++i) many.push_back(of("user", std::to_string(i)));
  EXPECT_EQ(ask(many), "3 a request asks of 16 keys in one way at most");
  many.pop_back();
  EXPECT_THAT(ask(many), StartsWith("OK: OK 3/3 left 2"));
  const int32_t broken = client().call(kShouldRateLimitPath, "\xff");
  go();
  EXPECT_EQ(text_of(broken), "3 this is no RateLimitRequest");
}

TEST_F(RateLimitTest, ErrorsOfCommandsAreStatuses) {
  redis("SET u:text 1");
  EXPECT_THAT(ask({of("user", "text")}), StartsWith("9 WRONGTYPE"));
  redis("RL.POLICY DEL user");
  EXPECT_THAT(ask({of("user", "ann")}), StartsWith("9 ERR no policy is named 'user'"));
  EXPECT_THAT(ask({with_hits(of("user", "ann"), 0), of("tenant")}), StartsWith("9 ERR no policy"));
  EXPECT_EQ(redis("RL.INFO t:x"), "(nil)");
  server().disk().faults.append_lost = 1;
  EXPECT_THAT(ask({of("tenant")}), StartsWith("14 "));
  EXPECT_EQ(stats().grpc_failed, 4u);
}

TEST_F(RateLimitTest, RulesChangeWhileItRuns) {
  EXPECT_EQ(ask({of("new")}), "OK: OK");
  write(std::string(kPolicies) + "rls site new POLICY shut\n", "policies");
  EXPECT_EQ(redis("RL.POLICY RELOAD"), "[\"+ rls site new POLICY shut\"]");
  EXPECT_EQ(ask({of("new")}), "OVER: OVER");
}

TEST_F(RateLimitTest, ManyCallsOfOneConnectionShareATurn) {
  std::vector<int32_t> streams;
  for (int i = 0; i < 50; ++i) streams.push_back(begin({of("tenant")}));
  grpc_->one.receives(client().bytes());  // one turn
  grpc_->read();
  int granted = 0;
  for (const int32_t stream : streams) granted += text_of(stream).starts_with("OK");
  EXPECT_EQ(granted, 10);
}

TEST_F(RateLimitTest, ACallThatIsPausedWaitsAndMayBeReset) {
  redis("CLIENT PAUSE 1000 ALL");
  const int32_t one = begin({of("user")});
  const int32_t other = begin({of("user", "bob")});
  go();
  EXPECT_FALSE(client().of(one).is_over);
  EXPECT_TRUE(grpc_->one.watcher.interest.read);  // that the client leaves is seen
  client().reset(other);
  go();
  server().clock.advance(2 * kSecond);
  grpc_->chores();
  EXPECT_EQ(text_of(one), "OK: OK 3/3 left 2 in 3600s");
  EXPECT_EQ(redis("RL.INFO u:bob"), "(nil)");
}

class RateLimitUsers : public RateLimitTest {
 protected:
  RateLimitUsers() : RateLimitTest([](Config* config) { config->requirepass = "secret"; }) {}
  static TestFields as(std::string_view user_and_password) {
    return {{"authorization", "Basic " + std::string(user_and_password)}};
  }
};

TEST_F(RateLimitUsers, CallsAreTheirUsers) {
  EXPECT_THAT(ask({of("user")}), StartsWith("16 NOAUTH"));
  EXPECT_THAT(ask({of("nobody")}), StartsWith("16 NOAUTH"));
  EXPECT_THAT(ask({of("user")}, as("OndyZW5n")), StartsWith("16 WRONGPASS"));  // :wreng
  const TestFields secret = as("OnNlY3JldA==");                                // :secret
  EXPECT_EQ(ask({of("user")}, secret), "OK: OK 3/3 left 2 in 3600s");
  EXPECT_THAT(ask({of("user")}), StartsWith("16 NOAUTH"));  // nothing is left of the call before
  const auto admin = server().connect();
  admin->call({"AUTH", "secret"});
  // proxy:p
  server::ask(*admin, "ACL SETUSER proxy on >p +rl.take +rl.peek ~u:* policy~user noinline");
  const TestFields proxy = as("cHJveHk6cA==");
  EXPECT_EQ(ask({of("user")}, proxy), "OK: OK 3/3 left 1 in 3600s");
  EXPECT_THAT(ask({of("tenant")}, proxy), StartsWith("7 NOPERM"));
  EXPECT_THAT(ask({with_limit(of("user"), 9, Unit::kDay)}, proxy), StartsWith("7 NOPERM"));
  EXPECT_THAT(ask({with_hits(of("user"), 1, true)}, proxy), StartsWith("7 NOPERM"));
  // A limit of 0 is no way around rights, though nobody has to ask for its verdict.
  for (const std::string name : {"user", "tenant"})
    EXPECT_THAT(ask({with_limit(of(name), 0, Unit::kDay)}, proxy), StartsWith("7 NOPERM")) << name;
  EXPECT_EQ(ask({with_limit(of("user"), 0, Unit::kDay)}, secret), "OVER: OVER 0/4 left 0 in 0s");
  // Calls of two users in one read.
  const int32_t mine = begin({of("user")}, proxy);
  const int32_t theirs = begin({of("tenant")}, secret);
  go();
  EXPECT_THAT(text_of(mine), StartsWith("OK: "));
  EXPECT_THAT(text_of(theirs), StartsWith("OK: "));
}

class RateLimitDurability : public RateLimitTest {
 protected:
  RateLimitDurability()
      : RateLimitTest([](Config* config) { config->durability = DurabilityLevel::kAlways; }) {
    server().disk().deferred = true;
  }
};

TEST_F(RateLimitDurability, ACallIsAnsweredWhenItIsOnTheDisk) {
  const int32_t stream = begin({of("user")});
  go();
  EXPECT_FALSE(client().of(stream).is_over);
  EXPECT_EQ(ask({of("nobody")}), "OK: OK");  // needs no disk
  auto& store = static_cast<storage::MemoryStore&>(*server()->keys().store_in_use());
  while (store.step()) grpc_->one.end_turn();
  grpc_->chores();
  EXPECT_EQ(text_of(stream), "OK: OK 3/3 left 2 in 3600s");
}

TEST_F(GrpcTest, WithoutAFileOfPoliciesTheServiceIsNotThere) {
  EXPECT_EQ(call(kShouldRateLimitPath, request_bytes("site", {of("user")})).status(), "14");
}

}  // namespace
}  // namespace weir::server::grpc
