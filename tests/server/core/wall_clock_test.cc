// The wall clock and instants: what people write and read is the wall clock's, whatever it has said
// before, and no step of it grants anything twice or freezes anything.
#include <gtest/gtest.h>

#include "base/time_units.h"
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

constexpr int64_t kHour = 3'600 * kSecond;
constexpr int64_t kDay = 24 * kHour;
constexpr int64_t kTenYears = 3'652 * kDay;
constexpr int64_t kMidnight = 1'700'006'400 * kSecond;  // of 2023-11-15; FakeClock: 22:13:20 before

class WallClock : public LimiterTest {
 protected:
  int64_t wall_ns() { return server_->clock.wall_ns(); }
  int64_t wall_s() { return wall_ns() / kSecond; }
  // Somebody sets the clock, and a turn has ended.
  void step(int64_t ns) {
    server_->clock.step_wall(ns);
    server_->run_turns();
  }
  // Goes on until the wall clock says so.
  void pass_until(int64_t wall_ns) { server_->advance(wall_ns - this->wall_ns()); }
  std::string time() { return ask("TIME"); }
  std::string true_time() {
    return "[" + quoted(wall_s()) + ", " + quoted(wall_ns() / 1'000 % 1'000'000) + "]";
  }
  std::string ask_with(std::string_view before, int64_t number, std::string_view after = "") {
    return ask(std::string(before) + " " + std::to_string(number) + " " + std::string(after));
  }
  std::string info(const std::string& field) {
    const std::string text = client_->call({"INFO", "weir"});
    const size_t at = text.find("\n" + field + ":");
    if (at == std::string::npos) return "none";
    const size_t begin = at + field.size() + 2;
    return text.substr(begin, text.find('\r', begin) - begin);
  }

 private:
  static std::string quoted(int64_t number) { return "\"" + std::to_string(number) + "\""; }
};

// A server started once by a clock three hours ahead, then by the right one.
class AheadOnce : public WallClock {
 protected:
  void SetUp() override {
    step(3 * kHour);
    ask("SET before 1");
    restart(-3 * kHour);
  }
};

TEST_F(AheadOnce, TimeIsTheWallClocks) {
  EXPECT_EQ(time(), true_time());
  server_->advance(5 * kSecond);
  EXPECT_EQ(time(), true_time());
  EXPECT_EQ(ask("EVAL return(redis.call('TIME')[1]) 0"), "\"" + std::to_string(wall_s()) + "\"");
}

TEST_F(AheadOnce, EndsAreTheWallClocks) {
  const int64_t s = wall_s() + 3'600, ms = s * 1'000;
  ask_with("SET a 1 EXAT", s);
  ask_with("SET b 1 PXAT", ms);
  ask("MSET c 1 d 1 e 1 h 1");
  ask_with("EXPIREAT c", s);
  ask_with("PEXPIREAT d", ms);
  ask_with("GETEX e EXAT", s);
  ask_with("INCREX f BYINT 1 EXAT", s);
  const std::string dumped = client_->call({"DUMP", "h"});
  const std::string body = dumped.substr(dumped.find('\n') + 1);
  client_->call({"RESTORE", "g", std::to_string(ms), body.substr(0, body.size() - 2), "ABSTTL"});
  for (const std::string key : {"a", "b", "c", "d", "e", "f", "g"}) {
    EXPECT_EQ(ask("PTTL " + key), "3600000") << key;
    EXPECT_EQ(ask("EXPIRETIME " + key), std::to_string(s)) << key;
    EXPECT_EQ(ask("PEXPIRETIME " + key), std::to_string(ms)) << key;
    EXPECT_NE(ask("GET " + key), "nil") << key;
  }
  server_->advance(kHour + kSecond);
  for (const std::string key : {"a", "b", "c", "d", "e", "f", "g"})
    EXPECT_EQ(ask("EXISTS " + key), "0") << key;
}

TEST_F(AheadOnce, DurationsAreDurations) {
  ask("SET k 1 EX 100");
  EXPECT_EQ(ask("PTTL k"), "100000");
  EXPECT_EQ(ask("PEXPIRETIME k"), std::to_string(wall_ns() / kMs + 100'000));
}

TEST_F(AheadOnce, ADayEndsAtMidnight) {
  const int64_t left_ms = (kMidnight - wall_ns()) / kMs;
  EXPECT_EQ(ask("RL.TAKE k FIXED 5 ALIGN DAY COST 5"),
            "[1, 5, 0, 0, " + std::to_string(left_ms) + ", 0]");
  EXPECT_EQ(ask("RL.PEEK k FIXED 5 ALIGN DAY"),
            "[0, 5, 0, " + std::to_string(left_ms) + ", " + std::to_string(left_ms) + ", 0]");
  pass_until(kMidnight - kMs);
  EXPECT_EQ(ask("RL.TAKE k FIXED 5 ALIGN DAY"), "[0, 5, 0, 1, 1, 0]");
  pass_until(kMidnight);
  EXPECT_EQ(ask("RL.TAKE k FIXED 5 ALIGN DAY"), "[1, 5, 4, 0, 86400000, 0]");
}

TEST_F(AheadOnce, EveryWayToAWindowGoesByTheWallClock) {
  const std::string left = std::to_string((kMidnight - wall_ns()) / kMs);
  EXPECT_EQ(ask("RL.MTAKE 2 a b FIXED 5 ALIGN DAY FIXED 5 ALIGN DAY"),
            "[1, -1, [1, 5, 4, 0, " + left + ", 0], [1, 5, 4, 0, " + left + ", 0]]");
  EXPECT_EQ(ask("RL.TAKE c FIXED 5 ALIGN DAY GCRA 9/1s"), "[1, 5, 4, 0, " + left + ", 0]");
  EXPECT_NE(ask("RL.INFO c").find("\"reset_after_ms\", " + left), std::string::npos)
      << ask("RL.INFO c");
  EXPECT_EQ(ask("RL.REFUND c 1"), "[1, 5, 5, 0, 0, 0]");
  EXPECT_EQ(ask("RL.TAKE d FIXED 5/86400s ALIGN EPOCH"), "[1, 5, 4, 0, " + left + ", 0]");
  EXPECT_EQ(ask("RL.TAKE e FIXED 5 ALIGN HOUR COST 2"), "[1, 5, 3, 0, 2800000, 0]");
  EXPECT_EQ(ask("RL.TAKE e FIXED 6 ALIGN DAY"), "[1, 6, 3, 0, " + left + ", 0]");
  EXPECT_EQ(ask("RL.TAKE f FIXED 5/86400s"), "[1, 5, 4, 0, 86400000, 0]");
}

TEST_F(AheadOnce, WhoWaitsIsServedAtMidnight) {
  ask("RL.TAKE k FIXED 1 ALIGN DAY");
  const auto waiter = server_->connect();
  send(*waiter, "RL.ACQUIRE k FIXED 1 ALIGN DAY TIMEOUT 0");
  server_->run_turns();
  pass_until(kMidnight - kMs);
  EXPECT_EQ(heard(*waiter), "");
  pass_until(kMidnight);
  EXPECT_EQ(heard(*waiter).substr(0, 2), "[1");
}

TEST_F(AheadOnce, StampsAreTheWallClocks) {
  ask("CONFIG SET slowlog-log-slower-than 0");
  ask("GET k");
  EXPECT_EQ(ask("EVAL return(redis.call('SLOWLOG','GET',1)[1][2]) 0"), std::to_string(wall_s()));
  const auto monitor = server_->connect();
  monitor->call({"MONITOR"});
  ask("GET k");
  EXPECT_EQ(monitor->take().substr(1, 10), std::to_string(wall_s()));
  EXPECT_EQ(ask("LASTSAVE"), std::to_string(wall_s()));
}

TEST_F(WallClock, AStepBackMovesTimeAndNoInstant) {
  ask("SET k 1 EX 100");
  step(-3 * kHour);
  EXPECT_EQ(time(), true_time());
  EXPECT_EQ(ask("PTTL k"), "100000");
  EXPECT_EQ(ask("PEXPIRETIME k"), std::to_string(wall_ns() / kMs + 100'000));
  ask("SET l 1");
  restart(kSecond);
  EXPECT_EQ(time(), true_time());
  EXPECT_EQ(ask("PTTL k"), "99000");
}

// Somebody sets the clock back, and the loop looks at it. Were that not written, a kill would show
// readers a permit that is due three hours later than it was.
TEST_F(WallClock, AStepBackIsStoredThoughNobodyWrites) {
  ask("RL.TAKE k 1/10h");
  step(-3 * kHour);
  server_->advance(kHour);
  EXPECT_EQ(ask("RL.PEEK k 1/10h"), "[0, 1, 0, 32400000, 32400000, 0]");
  restart(kSecond);
  EXPECT_EQ(ask("RL.PEEK k 1/10h"), "[0, 1, 0, 32399000, 32399000, 0]");
  step(-kSecond / 4);
  server_->advance(kSecond);
  restart();
  EXPECT_EQ(ask("RL.PEEK k 1/10h"), "[0, 1, 0, 32398000, 32398000, 0]");
}

TEST_F(WallClock, AStepBackIsStoredOnce) {
  ask("SET k 1");
  step(-3 * kHour);
  server_->advance(kSecond);
  const uint64_t turn = (*server_)->keys().turn();
  for (int i = 0; i < 10; ++i) server_->advance(kSecond);
  EXPECT_EQ((*server_)->keys().turn(), turn);
}

TEST_F(WallClock, AStepBackOnAFullDiskFailsNoReader) {
  ask("SET k 1");
  server_->disk().faults.disk_full = true;
  EXPECT_TRUE(ask("SET k 2").starts_with("(error MISCONF"));
  for (int i = 0; i < 3; ++i) {
    step(-3 * kHour);
    server_->advance(kSecond);
    EXPECT_EQ(ask("GET k"), "\"1\"");
  }
}

// 23:00, set back to 20:00: the quota of the day is used up until midnight by the wall clock.
TEST_F(WallClock, AWindowThatWasBegunDoesNotBeginAgain) {
  pass_until(kMidnight - kHour);
  ask("RL.TAKE k FIXED 5 ALIGN DAY COST 5");
  step(-3 * kHour);
  for (int64_t left_ns = kMidnight - wall_ns(); left_ns > 0; left_ns -= kHour / 4) {
    const std::string left = std::to_string((kMidnight - wall_ns()) / kMs);
    EXPECT_EQ(ask("RL.TAKE k FIXED 5 ALIGN DAY"), "[0, 5, 0, " + left + ", " + left + ", 0]");
    if (left_ns > kHour / 2) restart(kHour / 4);
    if (left_ns <= kHour / 2) server_->advance(kHour / 4);
  }
  pass_until(kMidnight);
  EXPECT_EQ(ask("RL.TAKE k FIXED 5 ALIGN DAY"), "[1, 5, 4, 0, 86400000, 0]");
}

// 22:13, three hours ahead for a while: what was taken from tomorrow is tomorrow's.
TEST_F(WallClock, AWindowEnteredEarlyIsNotEnteredAgain) {
  step(3 * kHour);
  ask("RL.TAKE k FIXED 5 ALIGN DAY COST 5");
  step(-3 * kHour);
  EXPECT_EQ(ask("RL.TAKE k FIXED 5 ALIGN DAY").substr(0, 10), "[0, 5, 0, ");
  pass_until(kMidnight + kSecond);
  EXPECT_EQ(ask("RL.TAKE k FIXED 5 ALIGN DAY"), "[0, 5, 0, 86399000, 86399000, 0]");
  restart(kDay - kSecond);
  EXPECT_EQ(ask("RL.TAKE k FIXED 5 ALIGN DAY"), "[1, 5, 4, 0, 86400000, 0]");
}

TEST_F(WallClock, TenYearsAheadAndBackFreezesNothingForLong) {
  step(kTenYears);
  ask("SET ends 1 EX 100");
  ask("RL.TAKE day FIXED 5 ALIGN DAY COST 5");
  ask("RL.TAKE bucket GCRA 1/10s BURST 4 COST 5");
  ask("RL.TAKE first FIXED 5/10s COST 5");
  restart(-kTenYears);
  EXPECT_EQ(time(), true_time());
  EXPECT_EQ(ask("PTTL ends"), "100000");
  EXPECT_EQ(ask("RL.TAKE bucket GCRA 1/10s BURST 4"), "[0, 5, 0, 10000, 50000, 0]");
  EXPECT_EQ(ask("RL.TAKE first FIXED 5/10s"), "[0, 5, 0, 10000, 10000, 0]");
  EXPECT_EQ(ask("RL.TAKE day FIXED 5 ALIGN DAY").substr(0, 10), "[0, 5, 0, ");
  server_->advance(10 * kSecond);
  EXPECT_EQ(ask("RL.TAKE bucket GCRA 1/10s BURST 4"), "[1, 5, 0, 0, 50000, 0]");
  EXPECT_EQ(ask("RL.TAKE first FIXED 5/10s"), "[1, 5, 4, 0, 10000, 0]");
  ask_with("SET k 1 EXAT", wall_s() + 3'600);
  EXPECT_EQ(ask("TTL k"), "3600");
  server_->advance(2 * kDay);
  EXPECT_EQ(ask("RL.TAKE day FIXED 5 ALIGN DAY").substr(0, 8), "[1, 5, 4");
}

// February has a day more in 2024, at any lead; there is no daylight saving by an offset.
TEST_F(WallClock, ALeapDayIsADay) {
  constexpr int64_t kLeapDay = 1'709'164'800 * kSecond;  // 2024-02-29
  step(3 * kHour);
  step(-3 * kHour);
  pass_until(kLeapDay);
  EXPECT_EQ(ask("RL.TAKE d FIXED 5 ALIGN DAY"), "[1, 5, 4, 0, 86400000, 0]");
  EXPECT_EQ(ask("RL.TAKE m FIXED 5 ALIGN MONTH"), "[1, 5, 4, 0, 86400000, 0]");
  server_->advance(kDay);
  EXPECT_EQ(ask("RL.TAKE m FIXED 5 ALIGN MONTH"), "[1, 5, 4, 0, 2678400000, 0]");
}

TEST_F(WallClock, InfoTellsOfADifference) {
  EXPECT_EQ(info("clock_lead_ms") + " " + info("clock_differs"), "0 0");
  step(-kSecond);
  EXPECT_EQ(info("clock_lead_ms") + " " + info("clock_differs"), "1000 0");
  step(-kMs);
  EXPECT_EQ(info("clock_lead_ms") + " " + info("clock_differs"), "1001 1");
  step(2 * kSecond);
  EXPECT_EQ(info("clock_lead_ms") + " " + info("clock_differs"), "0 0");
}

class Reset : public WallClock {
 protected:
  std::string reset() { return ask("WEIR CLOCK RESET"); }
};

TEST_F(Reset, DropsTheDifferenceForGood) {
  step(-3 * kHour);
  EXPECT_EQ(reset().substr(0, 24), "[\"dropped_ms\", 10800000,");
  EXPECT_EQ(info("clock_lead_ms") + " " + info("clock_accepted_ms"), "0 10800000");
  EXPECT_EQ(reset(),
            "[\"dropped_ms\", 0, \"granted_again\", \"nothing: there was no difference\"]");
  restart(kSecond);
  EXPECT_EQ(info("clock_lead_ms") + " " + info("clock_accepted_ms"), "0 10800000");
  EXPECT_EQ(info("clock_differs"), "0");
  EXPECT_EQ(time(), true_time());
  step(-kSecond);
  EXPECT_EQ(info("clock_lead_ms"), "1000");
}

TEST_F(Reset, EndsWindowsAheadOfTheWallClockAndNothingElse) {
  step(kTenYears);
  ask("SET ends 1 EX 100");
  ask("RL.TAKE day FIXED 5 ALIGN DAY COST 5");
  ask("RL.TAKE bucket GCRA 1/10s BURST 4 COST 5");
  ask("RL.TAKE first FIXED 5/10s COST 5");
  ask("RL.TAKE log SLIDINGLOG 5/10s COST 5");
  step(-kTenYears);
  ask("RL.TAKE today FIXED 5 ALIGN DAY COST 5");
  reset();
  EXPECT_EQ(ask("RL.TAKE day FIXED 5 ALIGN DAY").substr(0, 8), "[1, 5, 4");
  EXPECT_EQ(ask("RL.TAKE day FIXED 5 ALIGN DAY COST 5").substr(0, 8), "[0, 5, 4");
  EXPECT_EQ(ask("RL.TAKE today FIXED 5 ALIGN DAY").substr(0, 8), "[0, 5, 0");
  EXPECT_EQ(ask("RL.TAKE bucket GCRA 1/10s BURST 4"), "[0, 5, 0, 10000, 50000, 0]");
  EXPECT_EQ(ask("RL.TAKE first FIXED 5/10s"), "[0, 5, 0, 10000, 10000, 0]");
  EXPECT_EQ(ask("RL.TAKE log SLIDINGLOG 5/10s"), "[0, 5, 0, 10000, 10000, 0]");
  EXPECT_EQ(ask("PTTL ends"), "100000");
  EXPECT_EQ(time(), true_time());
}

// A window that runs at the reset does not begin again when the clock is set back afterwards.
TEST_F(Reset, LeavesTheRunningWindowAlone) {
  for (const int64_t before : {int64_t{0}, -3 * kHour}) {
    ask("FLUSHALL");
    if (before != 0) step(before);
    ask("RL.TAKE early FIXED 5 ALIGN MINUTE COST 5");
    reset();
    ask("RL.TAKE late FIXED 5 ALIGN MINUTE COST 5");
    step(-60 * kSecond);
    for (const char* key : {"early", "late"}) {
      EXPECT_EQ(ask(std::string("RL.TAKE ") + key + " FIXED 5 ALIGN MINUTE").substr(0, 8),
                "[0, 5, 0")
          << key;
    }
    restart(kSecond);
    EXPECT_EQ(ask("RL.TAKE late FIXED 5 ALIGN MINUTE").substr(0, 8), "[0, 5, 0");
  }
}

TEST_F(Reset, LetsWhoWaitsForSuchAWindowIn) {
  step(kTenYears);
  ask("RL.TAKE day FIXED 5 ALIGN DAY COST 5");
  step(-kTenYears);
  const auto waiter = server_->connect();
  send(*waiter, "RL.ACQUIRE day FIXED 5 ALIGN DAY TIMEOUT 0");
  server_->run_turns();
  EXPECT_EQ(heard(*waiter), "");
  reset();
  server_->run_turns();
  EXPECT_EQ(heard(*waiter).substr(0, 8), "[1, 5, 4");
}

TEST_F(Reset, IsTakenBackWithItsTurn) {
  step(-3 * kHour);
  server_->disk().faults.disk_full = true;
  EXPECT_EQ(reset().substr(0, 15), "(error MISCONF ");
  EXPECT_EQ(info("clock_lead_ms") + " " + info("clock_accepted_ms"), "10800000 0");
  server_->disk().faults.disk_full = false;
  server_->advance(2 * kSecond);
  EXPECT_EQ(reset().substr(0, 24), "[\"dropped_ms\", 10800000,");
}

TEST_F(Reset, TakesItsOwnPlace) {
  EXPECT_EQ(ask("WEIR CLOCK BACK"), "(error ERR syntax error: WEIR CLOCK takes RESET or nothing)");
  ask("MULTI");
  EXPECT_EQ(reset(), "(error ERR Command not allowed inside a transaction)");
  ask("DISCARD");
  EXPECT_EQ(ask("WEIR CLOCK"),
            "[\"wall_ms\", 1700000000000, \"instant_ms\", 1700000000000, "
            "\"lead_ms\", 0, \"accepted_ms\", 0]");
}

}  // namespace
}  // namespace weir::server
