// RL.ACQUIRE with an ID: a place in the queue that survives a lost connection.
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

constexpr const char* kMine = "RL.ACQUIRE q GCRA 1/7s TIMEOUT 60000 ID mine";
constexpr const char* kYours = "RL.ACQUIRE q GCRA 1/7s TIMEOUT 60000 ID yours";
constexpr const char* kNobodys = "RL.ACQUIRE q GCRA 1/7s TIMEOUT 60000";
constexpr const char* kGranted = "[1, 1, 0, 0, 7000, 0]";

class RlTicket : public LimiterTest {
 protected:
  std::unique_ptr<FakeClient> asking(std::string_view line) {
    auto client = server_->connect();
    send(*client, line);
    server_->run_turns();
    return client;
  }
  void lose(std::unique_ptr<FakeClient>* client) {
    (*client)->leave();
    client->reset();
    server_->run_turns();
  }
  void advance_ms(int64_t ms) { server_->advance(ms * kMs); }
};

TEST_F(RlTicket, AClientThatGivesUpReadingKeepsItsPlace) {
  ask("RL.TAKE q GCRA 1/7s");
  auto mine = asking(kMine);
  const auto later = asking(kNobodys);
  advance_ms(5000);
  lose(&mine);
  mine = asking(kMine);
  advance_ms(2000);
  EXPECT_EQ(heard(*mine), kGranted);
  EXPECT_EQ(heard(*later), "");
  advance_ms(7000);
  EXPECT_EQ(heard(*later), kGranted);
}

TEST_F(RlTicket, APlaceIsPassedOverUnchargedWhileNobodyIsThere) {
  ask("RL.TAKE q GCRA 1/7s");
  auto mine = asking(kMine);
  const auto second = asking(kNobodys);
  const auto third = asking(kNobodys);
  lose(&mine);
  advance_ms(7000);
  EXPECT_EQ(heard(*second), kGranted);
  mine = asking(kMine);
  advance_ms(6999);
  EXPECT_EQ(heard(*mine), "");
  advance_ms(1);
  EXPECT_EQ(heard(*mine), kGranted);
  EXPECT_EQ(heard(*third), "");
  advance_ms(7000);
  EXPECT_EQ(heard(*third), kGranted);
}

TEST_F(RlTicket, NobodyWaitsWhereOnlyTicketsAre) {
  ask("RL.TAKE q GCRA 1/7s");
  auto mine = asking(kMine);
  lose(&mine);
  advance_ms(7000);
  EXPECT_EQ(ask("RL.TAKE q GCRA 1/7s"), kGranted);
  EXPECT_EQ((*server_)->next_wait_ns(), kNotDue);
}

TEST_F(RlTicket, APlaceIsKeptForAMinute) {
  for (const bool in_time : {true, false}) {
    ask("DEL q");
    ask("RL.TAKE q GCRA 1/2m");
    auto mine = asking("RL.ACQUIRE q GCRA 1/2m TIMEOUT 300000 ID mine");
    const auto other = asking("RL.ACQUIRE q GCRA 1/2m TIMEOUT 0");
    lose(&mine);
    advance_ms(in_time ? 59'000 : 60'001);
    mine = asking("RL.ACQUIRE q GCRA 1/2m TIMEOUT 300000 ID mine");
    advance_ms(61'000);
    EXPECT_EQ(heard(*mine).empty(), !in_time);
    EXPECT_EQ(heard(*other).empty(), in_time);
    ask("FLUSHALL");
    advance_ms(300'000);
  }
}

TEST_F(RlTicket, ASecondConnectionTakesOver) {
  ask("RL.TAKE q GCRA 1/7s");
  const auto first = asking(kMine);
  const auto other = asking(kNobodys);
  auto second = asking(kMine);
  EXPECT_EQ(heard(*first),
            "(error ERR another connection has asked with the same ID and waits in this one's "
            "place)");
  EXPECT_EQ(server::ask(*first, "PING"), "PONG");
  advance_ms(7000);
  EXPECT_EQ(heard(*second), kGranted);
  EXPECT_EQ(heard(*other), "");
  EXPECT_EQ(ask(kMine), kGranted);  // the first answer
  advance_ms(7000);
  EXPECT_EQ(heard(*other), kGranted);
}

TEST_F(RlTicket, WhoeverWasTakenOverLeavesNothing) {
  ask("RL.TAKE q GCRA 1/7s");
  auto first = asking(kMine);
  send(*client_, kMine);
  first->leave();  // it goes before it was told
  server_->run_turns();
  const auto other = asking(kNobodys);
  advance_ms(7000);
  EXPECT_EQ(heard(*client_), kGranted);
  EXPECT_EQ(heard(*other), "");
}

// The connection's end is noticed when the same request has come again and was granted.
TEST_F(RlTicket, WhoIsGrantedBeforeTheLostConnectionIsNoticedIsGrantedOnce) {
  ask("RL.TAKE q GCRA 1/7s");
  const auto mine = asking(kMine);
  server_->clock.advance(7 * kSecond);
  mine->leave();
  EXPECT_EQ(ask(kMine), kGranted);
  server_->run_turns();
  EXPECT_EQ(ask(kMine), kGranted);  // the first answer
  advance_ms(7000);
  EXPECT_EQ(ask("RL.PEEK q COST 0"), "[1, 1, 1, 0, 0, 0]");  // one was taken
}

TEST_F(RlTicket, AnEndNoticedLateLeavesTheNewWaitAlone) {
  constexpr const char* kSlow = "RL.ACQUIRE q GCRA 1/2m TIMEOUT 300000 ID mine";
  ask("RL.TAKE q GCRA 1/2m");
  const auto first = asking(kSlow);
  first->leave();
  send(*client_, kSlow);
  server_->run_turns();
  advance_ms(90'000);
  restart();
  const auto other = asking("RL.ACQUIRE q GCRA 1/2m TIMEOUT 0");
  const auto mine = asking(kSlow);
  advance_ms(30'000);
  EXPECT_EQ(heard(*mine), "[1, 1, 0, 0, 120000, 0]");
  EXPECT_EQ(heard(*other), "");
}

TEST_F(RlTicket, AskingInATransactionLeavesThePlace) {
  ask("RL.TAKE q GCRA 1/7s");
  auto mine = asking(kMine);
  const auto later = asking(kNobodys);
  lose(&mine);
  ask("MULTI");
  ask(kMine);
  EXPECT_EQ(ask("EXEC").substr(0, 3), "[[0");
  mine = asking(kMine);
  advance_ms(7000);
  EXPECT_EQ(heard(*mine), kGranted);
  EXPECT_EQ(heard(*later), "");
}

TEST_F(RlTicket, TheHeadOfTheQueueStepsBack) {
  ask("RL.TAKE q GCRA 1/7s");
  auto mine = asking(kMine);
  lose(&mine);
  const auto head = asking(kNobodys);
  advance_ms(6999);
  mine = asking(kMine);
  advance_ms(1);
  EXPECT_EQ(heard(*mine), kGranted);
  EXPECT_EQ(heard(*head), "");
  advance_ms(7000);
  EXPECT_EQ(heard(*head), kGranted);
}

TEST_F(RlTicket, ReturnsBetweenTwoOthers) {
  ask("RL.TAKE q GCRA 1/7s");
  const auto first = asking(kNobodys);
  auto mine = asking(kMine);
  auto yours = asking(kYours);
  const auto last = asking(kNobodys);
  lose(&mine);
  lose(&yours);
  EXPECT_EQ(ask("RL.TAKE q GCRA 1/7s"), "[0, 1, 0, 21000, 21000, 0]");
  yours = asking(kYours);
  mine = asking(kMine);
  EXPECT_EQ(ask("RL.TAKE q GCRA 1/7s"), "[0, 1, 0, 35000, 35000, 0]");
  for (FakeClient* next : {first.get(), mine.get(), yours.get(), last.get()}) {
    EXPECT_EQ(heard(*next), "");
    advance_ms(7000);
    EXPECT_EQ(heard(*next), kGranted);
  }
}

TEST_F(RlTicket, APlaceSurvivesARestart) {
  ask("RL.TAKE q GCRA 1/7s");
  auto mine = asking(kMine);
  mine.reset();
  restart(1 * kSecond);
  const auto other = asking(kNobodys);
  mine = asking(kMine);
  advance_ms(6000);
  EXPECT_EQ(heard(*mine), kGranted);
  EXPECT_EQ(heard(*other), "");
}

TEST_F(RlTicket, OtherArgumentsAreRefused) {
  ask("RL.TAKE q GCRA 1/7s");
  const auto mine = asking(kMine);
  EXPECT_EQ(ask("RL.ACQUIRE q GCRA 1/7s TIMEOUT 1 ID mine"),
            "(error ERR ID was used with other arguments)");
  EXPECT_EQ(ask("RL.TAKE q GCRA 1/7s ID mine"), "(error ERR ID was used with other arguments)");
  advance_ms(7000);
  EXPECT_EQ(heard(*mine), kGranted);
}

TEST_F(RlTicket, WhoWasDeniedHasNoPlace) {
  ask("RL.TAKE q GCRA 1/7s");
  const auto mine = asking("RL.ACQUIRE q GCRA 1/7s TIMEOUT 7000 ID mine");
  auto first = asking(kYours);
  ask("RL.TAKE q GCRA 1/7s FORCE");
  advance_ms(7000);
  EXPECT_EQ(heard(*mine).substr(0, 2), "[0");
  EXPECT_EQ(ask("RL.ACQUIRE q GCRA 1/7s TIMEOUT 7000 ID mine").substr(0, 2), "[0");  // after yours
}

TEST_F(RlTicket, ATransactionDoesNotTakeOver) {
  ask("RL.TAKE q GCRA 1/7s");
  const auto mine = asking(kMine);
  ask("MULTI");
  ask(kMine);
  EXPECT_EQ(ask("EXEC").substr(0, 3), "[[0");
  EXPECT_EQ(heard(*mine), "");
  advance_ms(7000);
  EXPECT_EQ(heard(*mine), kGranted);
}

constexpr const char* kDrop = "RL.ACQUIRE f LEAKY 1/1s CAPACITY 5 TIMEOUT 60000 ID drop";

TEST_F(RlTicket, AFunnelKeepsWhatHasAnId) {
  auto drop = asking(kDrop);
  const auto next = asking("RL.ACQUIRE f LEAKY 1/1s CAPACITY 5 TIMEOUT 0");
  lose(&drop);
  advance_ms(500);
  drop = asking(kDrop);
  EXPECT_EQ(heard(*drop), "");
  advance_ms(499);
  EXPECT_EQ(heard(*drop), "");
  advance_ms(1);
  EXPECT_EQ(heard(*drop).substr(0, 2), "[1");
  EXPECT_EQ(heard(*next), "");
  advance_ms(1000);
  EXPECT_EQ(heard(*next).substr(0, 2), "[1");
}

TEST_F(RlTicket, AFunnelAnswersWhoAsksAfterTheDeparture) {
  auto drop = asking(kDrop);
  drop.reset();
  restart(5 * kSecond);
  EXPECT_EQ(ask(kDrop).substr(0, 2), "[1");
  EXPECT_EQ(ask("RL.PEEK f"), "(nil)");
}

TEST_F(RlTicket, ACancelledDepartureIsForgotten) {
  auto drop = asking(kDrop);
  lose(&drop);
  EXPECT_EQ(ask("RL.CANCEL f 1"), "1");
  EXPECT_EQ(ask("EXISTS f"), "0");
  drop = asking(kDrop);  // it is let in anew
  EXPECT_EQ(ask("RL.PEEK f"), "[1, 5, 3, 0, 2000, 0]");
  advance_ms(1000);
  EXPECT_EQ(heard(*drop).substr(0, 2), "[1");
}

TEST_F(RlTicket, ADropThatIsCancelledWhileItWaitsAgainIsDenied) {
  auto drop = asking(kDrop);
  lose(&drop);
  drop = asking(kDrop);
  EXPECT_EQ(ask("RL.CANCEL f 1"), "1");
  EXPECT_EQ(heard(*drop).substr(0, 2), "[0");
}

TEST_F(RlTicket, ADropIsTakenOver) {
  const auto first = asking(kDrop);
  const auto second = asking(kDrop);
  EXPECT_EQ(heard(*first).substr(0, 6), "(error");
  ask("MULTI");
  ask(kDrop);
  EXPECT_EQ(ask("EXEC").substr(0, 3), "[[0");
  advance_ms(1000);
  EXPECT_EQ(heard(*second).substr(0, 2), "[1");
  advance_ms(1);
  EXPECT_EQ(ask("EXISTS f"), "0");  // it held one drop
}

}  // namespace
}  // namespace weir::server
