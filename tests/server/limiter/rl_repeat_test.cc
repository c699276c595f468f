// Requests that come again with their ID after what they were granted was given back: nobody may be
// told again that it is granted.
#include <gmock/gmock.h>

#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

using testing::StartsWith;

class RlRepeat : public LimiterTest {
 protected:
  // The id, which the reply ends with.
  static std::string id_in(const std::string& reply) {
    const size_t at = reply.rfind(' ') + 1;
    return reply.substr(at, reply.find(']', at) - at);
  }
  // Takes and gives back, again and again: how many permits the same IDs get then.
  int granted_again(const std::string& take, const std::string& give_back) {
    for (int i = 0; i < 20; ++i) {
      const std::string granted = ask(take + " ID t" + std::to_string(i));
      EXPECT_THAT(granted, StartsWith("[1, ")) << granted;
      EXPECT_THAT(ask(give_back + ' ' + id_in(granted) + (give_back == "RL.SETTLE k" ? " 0" : "")),
                  testing::Not(StartsWith("(")));
    }
    int granted = 0;
    for (int i = 0; i < 20; ++i)
      granted += ask(take + " ID t" + std::to_string(i)).starts_with("[1, ") ? 1 : 0;
    return granted;
  }
};

TEST_F(RlRepeat, WhatWasCancelledIsNotGrantedAgain) {
  EXPECT_EQ(granted_again("RL.TAKE k FIXED 5/1h HOLD 60s", "RL.CANCEL k"), 5);
}

TEST_F(RlRepeat, WhatWasSettledWithNothingIsNotGrantedAgain) {
  EXPECT_EQ(granted_again("RL.TAKE k FIXED 5/1h HOLD 60s", "RL.SETTLE k"), 5);
}

TEST_F(RlRepeat, WhatWasReleasedIsNotGrantedAgain) {
  EXPECT_EQ(granted_again("RL.TAKE k CONCURRENCY 5 LEASE 60s", "RL.RELEASE k"), 5);
}

TEST_F(RlRepeat, ALeaseThatHasEndedIsNotGrantedAgain) {
  const std::string take = "RL.TAKE k CONCURRENCY 1 LEASE 1s ID x";
  const std::string first = ask(take);
  EXPECT_EQ(ask(take), first);
  server_->advance(kSecond);
  EXPECT_THAT(ask("RL.TAKE k CONCURRENCY 1 LEASE 1s ID y"), StartsWith("[1, "));
  EXPECT_THAT(ask(take), StartsWith("[0, "));
}

TEST_F(RlRepeat, ABookingThatIsCancelledIsNotGrantedAgain) {
  ask("RL.TAKE k 1/1m");
  const std::string reserve = "RL.RESERVE k 1/1m ID x";
  const std::string first = ask(reserve);
  EXPECT_THAT(first, StartsWith("[1, 60000, "));
  EXPECT_EQ(ask(reserve), first);
  EXPECT_EQ(ask("RL.CANCEL k " + id_in(first)), "1");
  EXPECT_THAT(ask("RL.RESERVE k 1/1m ID y"), StartsWith("[1, 60000, "));
  EXPECT_THAT(ask(reserve), StartsWith("[1, 120000, ")) << "it is booked anew";
}

// Of several keys each has its own hold; the request is remembered at the first.
TEST_F(RlRepeat, ARequestOfManyKeysIsForgottenWithOneOfItsHolds) {
  const std::string take = "RL.MTAKE 2 a b FIXED 1/1h FIXED 2/1h HOLD 60s ID x";
  const std::string first = ask(take);
  EXPECT_THAT(first, StartsWith("[1, -1, "));
  EXPECT_EQ(ask(take), first);
  EXPECT_EQ(ask("RL.CANCEL b " + id_in(first)), "1");
  EXPECT_THAT(ask(take), StartsWith("[0, 0, ")) << "the first key has none left";
}

TEST_F(RlRepeat, WhoHasLeftAFunnelIsForgottenWithTheHold) {
  const std::string acquire = "RL.ACQUIRE k LEAKY 1/1s CAPACITY 2 TIMEOUT 9s HOLD 60s ID x";
  ask("RL.TAKE k LEAKY 1/1s CAPACITY 2");
  EXPECT_EQ(ask(acquire), "") << "it waits";
  server_->advance(2 * kSecond);
  const std::string first = heard(*client_);
  EXPECT_THAT(first, StartsWith("[1, "));
  EXPECT_EQ(ask(acquire), first);
  EXPECT_EQ(ask("RL.CANCEL k " + id_in(first)), "0") << "it has drained";
  const std::string again = ask(acquire);
  EXPECT_NE(again, first);
}

// It has used some: the same request is answered as it was.
TEST_F(RlRepeat, WhatWasUsedStaysRemembered) {
  const std::string take = "RL.TAKE k FIXED 9/1h COST 5 HOLD 60s ID x";
  const std::string first = ask(take);
  ask("RL.SETTLE k " + id_in(first) + " 1");
  EXPECT_EQ(ask(take), first);
}

}  // namespace
}  // namespace weir::server
