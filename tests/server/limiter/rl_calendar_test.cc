// FIXED's calendar in a server: days of 23 and 25 hours, a month that begins on its last day,
// quarters and years; what is kept over a restart, and over a change of tzdata.
#include <chrono>
#include <map>

#include "algorithms/fixed.h"
#include "tests/server/rl_fixture.h"

namespace weir::server {
namespace {

using algorithms::Zone;

constexpr int64_t kHour = 3'600 * kSecond;
constexpr int64_t kDay = 24 * kHour;

// UTC.
int64_t date_ns(int year, unsigned month, unsigned day, int64_t hour = 0) {
  const std::chrono::sys_days date =
      std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day);
  return date.time_since_epoch().count() * kDay + hour * kHour;
}

// Zones of which a test says what they are, with or without tzdata.
class FakeZones : public ZoneSource {
 public:
  const std::vector<std::string>& names() override {
    names_.clear();
    for (const auto& [name, table] : tables) names_.push_back(name);
    return names_;
  }
  std::optional<ZoneTable> load(const std::string& name) override {
    ++loaded;
    return tables.at(name);
  }
  void set(const std::string& name, int64_t offset_s) {
    tables[name] = {{{0, offset_s}}, offset_s};
  }

  std::map<std::string, std::optional<ZoneTable>> tables;
  int loaded = 0;

 private:
  std::vector<std::string> names_;
};

class RlCalendar : public LimiterTest {
 protected:
  void pass_until(int64_t wall_ns) { server_->advance(wall_ns - server_->clock.wall_ns()); }
  // "[1, 5, 4, 0, <until the window's end>, 0]" of a first take.
  static std::string first(int64_t length_ns) {
    return "[1, 5, 4, 0, " + std::to_string(length_ns / kMs) + ", 0]";
  }
  static std::string denied(int64_t left_ns) {
    const std::string left = std::to_string(left_ns / kMs);
    return "[0, 5, 0, " + left + ", " + left + ", 0]";
  }
  void use(FakeZones* zones) { (*server_)->limiters().zones.use(zones); }
  void restart_with(FakeZones* zones, int64_t down_ns = 0) {
    restart(down_ns);
    use(zones);
  }
};

TEST_F(RlCalendar, ADayInAZoneHas23Or25HoursAtAChange) {
  const std::string take = "RL.TAKE k FIXED 5 ALIGN DAY ZONE Europe/Berlin";
  pass_until(date_ns(2024, 3, 29, 23));
  EXPECT_EQ(ask(take), first(24 * kHour));
  pass_until(date_ns(2024, 3, 30, 23));
  EXPECT_EQ(ask(take), first(23 * kHour));
  EXPECT_EQ(ask(take + " COST 4"), "[1, 5, 0, 0, 82800000, 0]");
  pass_until(date_ns(2024, 3, 31, 22) - kMs);
  EXPECT_EQ(ask(take), denied(kMs));
  pass_until(date_ns(2024, 3, 31, 22));
  EXPECT_EQ(ask(take), first(24 * kHour));
  pass_until(date_ns(2024, 10, 26, 22));
  EXPECT_EQ(ask(take), first(25 * kHour));
  pass_until(date_ns(2024, 10, 27, 23));
  EXPECT_EQ(ask(take), first(24 * kHour));
}

TEST_F(RlCalendar, HoursCountElapsedTime) {
  pass_until(date_ns(2024, 3, 31, 0));
  for (int hour = 0; hour < 3; ++hour) {
    EXPECT_EQ(ask("RL.TAKE b FIXED 5 ALIGN HOUR ZONE Europe/Berlin"), first(kHour));
    server_->advance(kHour / 2);
    EXPECT_EQ(ask("RL.TAKE k FIXED 5 ALIGN HOUR ZONE Asia/Kolkata"), first(kHour));
    server_->advance(kHour / 2);
  }
}

TEST_F(RlCalendar, AMonthBeginsOnItsLastDay) {
  const auto month_on = [this](int day) {
    const std::string on = std::to_string(day);
    return ask("RL.TAKE on" + on + " FIXED 5 ALIGN MONTH ON " + on);
  };
  pass_until(date_ns(2024, 2, 28));
  EXPECT_EQ(month_on(28), first(29 * kDay));
  EXPECT_EQ(month_on(29), first(kDay));
  pass_until(date_ns(2024, 2, 29));  // a leap day
  EXPECT_EQ(month_on(29), first(29 * kDay));
  EXPECT_EQ(month_on(30), first(30 * kDay));
  EXPECT_EQ(month_on(31), first(31 * kDay));
  pass_until(date_ns(2024, 3, 31));
  EXPECT_EQ(month_on(31), first(30 * kDay));
  pass_until(date_ns(2025, 2, 28));
  EXPECT_EQ(month_on(29), first(29 * kDay));
  EXPECT_EQ(month_on(30), first(30 * kDay));
  EXPECT_EQ(month_on(31), first(31 * kDay));
  EXPECT_EQ(ask("RL.TAKE z FIXED 5 ALIGN MONTH ON 31 ZONE Asia/Tokyo"),
            first(31 * kDay - 9 * kHour));
}

TEST_F(RlCalendar, QuartersAndYears) {
  pass_until(date_ns(2024, 1, 1));
  EXPECT_EQ(ask("RL.TAKE q FIXED 5 ALIGN QUARTER"), first(91 * kDay));
  EXPECT_EQ(ask("RL.TAKE y FIXED 5 ALIGN YEAR"), first(366 * kDay));
  EXPECT_EQ(ask("RL.TAKE o FIXED 5 ALIGN YEAR OFFSET -01:00"), first(kHour));
  EXPECT_EQ(ask("RL.TAKE z FIXED 5 ALIGN QUARTER ZONE Europe/Berlin"),
            first(91 * kDay - 2 * kHour));
  pass_until(date_ns(2024, 12, 31, 23));
  EXPECT_EQ(ask("RL.TAKE y FIXED 5 ALIGN YEAR COST 4"), "[1, 5, 0, 0, 3600000, 0]");
  EXPECT_EQ(ask("RL.TAKE b FIXED 5 ALIGN YEAR ZONE Europe/Berlin"), first(365 * kDay));
  pass_until(date_ns(2025, 1, 1));
  EXPECT_EQ(ask("RL.TAKE y FIXED 5 ALIGN YEAR"), first(365 * kDay));
}

// The rule of tzdata's last line goes on: the files of Debian list changes until 2037.
TEST_F(RlCalendar, SummersOfTheNextCenturies) {
  pass_until(date_ns(2150, 7, 1, 22));  // midnight in summer
  EXPECT_EQ(ask("RL.TAKE k FIXED 5 ALIGN DAY ZONE Europe/Berlin"), first(kDay));
  pass_until(date_ns(2150, 10, 24, 22));  // the last Sunday of October is the 25th
  EXPECT_EQ(ask("RL.TAKE k FIXED 5 ALIGN DAY ZONE Europe/Berlin"), first(25 * kHour));
}

TEST_F(RlCalendar, ItIsKeptAndShown) {
  const std::string limit = "FIXED 5 ALIGN MONTH ON 31 ZONE Europe/Berlin";
  pass_until(date_ns(2024, 3, 30, 23));
  EXPECT_EQ(ask("RL.TAKE k " + limit + " COST 5"), "[1, 5, 0, 0, 2588400000, 0]");
  EXPECT_NE(ask("RL.INFO k").find("\"parameters\", \"" + limit + "\""), std::string::npos)
      << ask("RL.INFO k");
  ask("RL.POLICY SET p " + limit);
  EXPECT_NE(ask("RL.POLICY GET p").find("\"" + limit + "\""), std::string::npos);
  ask("RL.POLICY OVERRIDE p KEY own FIXED 7 ALIGN YEAR ZONE Asia/Tokyo");
  restart(kDay);
  const int64_t left_ns = date_ns(2024, 4, 29, 22) - server_->clock.wall_ns();
  EXPECT_EQ(ask("RL.TAKE k " + limit), denied(left_ns));
  EXPECT_EQ(ask("RL.TAKE k fixed 5 zone Europe/Berlin align month on 31"), denied(left_ns));
  EXPECT_EQ(ask("RL.TAKE k POLICY p"), denied(left_ns));
  EXPECT_EQ(ask("RL.TAKE own POLICY p").substr(0, 8), "[1, 7, 6");
  pass_until(date_ns(2024, 4, 29, 22));
  EXPECT_EQ(ask("RL.TAKE k POLICY p"), first(31 * kDay));
}

TEST_F(RlCalendar, ItIsAWindowLikeAnyOther) {
  const std::string limit = "FIXED 5 ALIGN DAY ZONE Europe/Berlin";
  pass_until(date_ns(2024, 3, 30, 23));
  EXPECT_EQ(ask("RL.TAKE k " + limit + " COST 4 HOLD 60s"), "[1, 5, 1, 0, 82800000, 0, 1]");
  EXPECT_EQ(ask("RL.TAKE k " + limit + " COST 9 UPTO"), "[1, 5, 0, 0, 82800000, 0, 1]");
  EXPECT_EQ(ask("RL.TAKE k " + limit + " SHADOW").substr(0, 8), "[1, 5, 0");
  EXPECT_EQ(ask("RL.TAKE k " + limit + " COST 2 FORCE").substr(0, 9), "[1, 5, -2");
  EXPECT_EQ(ask("RL.REFUND k 2").substr(0, 8), "[1, 5, 0");
  ask("RL.SETTLE k 1 1");
  EXPECT_EQ(ask("RL.PEEK k"), "[1, 5, 2, 0, 82800000, 0]");
  EXPECT_EQ(ask("RL.TAKE k FIXED 9 ALIGN DAY"), "[1, 9, 6, 0, 3600000, 0]");
  const auto waiter = server_->connect();
  ask("RL.TAKE w " + limit + " COST 5");
  send(*waiter, "RL.ACQUIRE w " + limit + " TIMEOUT 0");
  server_->run_turns();
  pass_until(date_ns(2024, 3, 31, 22) - kMs);
  EXPECT_EQ(heard(*waiter), "");
  pass_until(date_ns(2024, 3, 31, 22));
  EXPECT_EQ(heard(*waiter), first(kDay));
}

TEST_F(RlCalendar, AClockSetBackBeginsNoDayAgain) {
  const std::string take = "RL.TAKE k FIXED 5 ALIGN DAY ZONE Europe/Berlin COST 5";
  pass_until(date_ns(2024, 10, 26, 22) + kHour);
  EXPECT_EQ(ask(take).substr(0, 8), "[1, 5, 0");
  server_->clock.step_wall(-3 * kHour);  // into the day before
  server_->run_turns();
  EXPECT_EQ(ask(take), denied(27 * kHour));
  pass_until(date_ns(2024, 10, 27, 23) - kMs);
  EXPECT_EQ(ask(take), denied(kMs));
  pass_until(date_ns(2024, 10, 27, 23));
  EXPECT_EQ(ask(take).substr(0, 8), "[1, 5, 0");
}

TEST_F(RlCalendar, Errors) {
  const std::string form =
      "the name of a time zone as this machine's tzdata writes it, such as "
      "Europe/Berlin, got '";
  const std::pair<std::string, std::string> errors[] = {
      {"ALIGN DAY ZONE Europe/Bonn", "ZONE must be " + form + "Europe/Bonn'"},
      {"ALIGN DAY ZONE europe/berlin", "ZONE must be " + form + "europe/berlin'"},
      {"ALIGN DAY ZONE ../../../etc/passwd", "ZONE must be " + form + "../../../etc/passwd'"},
      {"ALIGN DAY ZONE /etc/localtime", "ZONE must be " + form + "/etc/localtime'"},
      {"ALIGN DAY ZONE Europe/", "ZONE must be " + form + "Europe/'"},
      {"ALIGN DAY ZONE Europe/Berlin OFFSET +01:00",
       "ZONE must be given without OFFSET, got 'Europe/Berlin'"},
      {"ALIGN WEEK ON 3", "ON must be left out, unless ALIGN is MONTH, got '3'"},
      {"ALIGN MONTH ON 32", "ON must be between 1 and 31, got '32'"},
  };
  for (const auto& [words, error] : errors) {
    EXPECT_EQ(ask("RL.TAKE k FIXED 5 " + words), "(error ERR limit 0 (FIXED): " + error + ")");
    EXPECT_EQ(ask("RL.POLICY SET p FIXED 5 " + words),
              "(error ERR limit 0 (FIXED): " + error + ")");
  }
}

TEST_F(RlCalendar, AHostileStreamOfNamesReadsNoFile) {
  FakeZones zones;
  zones.set("A/B", 3'600);
  zones.tables["A/Broken"] = std::nullopt;
  use(&zones);
  for (int i = 0; i < 3'000; ++i) {
    const std::string name = i % 3 == 0 ? "A/Broken" : "A/" + std::to_string(i);
    ASSERT_EQ(ask("RL.TAKE k FIXED 5 ALIGN DAY ZONE " + name).substr(0, 36),
              "(error ERR limit 0 (FIXED): ZONE mus");
  }
  EXPECT_EQ(ask("RL.TAKE k FIXED 5 ALIGN DAY ZONE A/B").substr(0, 8), "[1, 5, 4");
  EXPECT_EQ(ask("RL.TAKE k FIXED 5 ALIGN DAY ZONE A/B COST 2").substr(0, 8), "[1, 5, 2");
  EXPECT_EQ(zones.loaded, 2);
  const std::string longest(1'000'000, 'A');
  EXPECT_LT(ask("RL.TAKE k FIXED 5 ALIGN DAY ZONE " + longest).size(), 300u);
}

TEST_F(RlCalendar, WithoutTzdataAZoneIsRefusedAndNothingElse) {
  FakeZones none;
  use(&none);
  EXPECT_EQ(ask("RL.TAKE k FIXED 5 ALIGN DAY ZONE Europe/Berlin"),
            "(error ERR limit 0 (FIXED): ZONE must be left out, since this machine has no tzdata; "
            "OFFSET needs none, got 'Europe/Berlin')");
  EXPECT_EQ(ask("RL.TAKE k FIXED 5 ALIGN DAY OFFSET +01:00").substr(0, 8), "[1, 5, 4");
}

// A directory goes to a machine whose tzdata lacks a zone, and back.
TEST_F(RlCalendar, AZoneThatIsNotKnownAnyMore) {
  FakeZones zones, none;
  zones.set("A/B", 3'600);
  use(&zones);
  const std::string limit = "FIXED 5 ALIGN DAY ZONE A/B";
  ask("RL.TAKE k " + limit + " COST 5");
  ask("RL.POLICY SET p " + limit);
  ask("RL.POLICY OVERRIDE p PREFIX o: " + limit);
  ask("RL.TAKE reset " + limit);
  const std::string dumped = client_->call({"DUMP", "k"});
  const size_t begin = dumped.find('\n') + 1;
  const std::string payload = dumped.substr(begin, dumped.size() - begin - 2);
  EXPECT_EQ(client_->call({"RESTORE", "copy", "0", payload}), "+OK\r\n");
  EXPECT_EQ(ask("RL.TAKE copy " + limit).substr(0, 8), "[0, 5, 0");

  restart_with(&none, kHour / 10);
  const std::string error =
      "(error ERR limit 0 (FIXED): ZONE must be left out, since this machine has no tzdata; OFFSET "
      "needs none, got 'A/B')";
  EXPECT_EQ(ask("RL.TAKE k " + limit), error);
  EXPECT_EQ(ask("RL.TAKE k POLICY p"), error);
  EXPECT_EQ(ask("RL.TAKE o:1 POLICY p"), error);
  EXPECT_NE(ask("RL.INFO k").find(limit), std::string::npos) << ask("RL.INFO k");
  EXPECT_NE(ask("RL.POLICY GET p").find(limit), std::string::npos);
  EXPECT_EQ(ask("RL.RESET reset"), "1");
  EXPECT_EQ(client_->call({"RESTORE", "new", "0", payload}).substr(0, 4), "-ERR");

  restart_with(&zones);
  EXPECT_EQ(ask("RL.TAKE k " + limit).substr(0, 8), "[0, 5, 0");
  EXPECT_EQ(ask("RL.TAKE k POLICY p").substr(0, 8), "[0, 5, 0");
  EXPECT_EQ(ask("RL.TAKE o:1 POLICY p").substr(0, 8), "[1, 5, 4");
}

// 22:13 UTC is in the 15th at +02:00, and in the 14th at +01:00: a new tzdata between two starts
// does not hand out the 15th again, neither at once nor at the midnight that the new table has.
TEST_F(RlCalendar, ADayThatWasBegunDoesNotBeginAgainWithANewTable) {
  FakeZones before, after;
  before.set("A/B", 7'200);
  after.set("A/B", 3'600);
  use(&before);
  const std::string take = "RL.TAKE k FIXED 5 ALIGN DAY ZONE A/B COST 5";
  EXPECT_EQ(ask(take).substr(0, 8), "[1, 5, 0");
  restart_with(&after);
  EXPECT_EQ(ask(take).substr(0, 8), "[0, 5, 0");
  pass_until(date_ns(2023, 11, 14, 23));
  EXPECT_EQ(ask(take), denied(kDay));
  pass_until(date_ns(2023, 11, 15, 23) - kMs);
  EXPECT_EQ(ask(take), denied(kMs));
  pass_until(date_ns(2023, 11, 15, 23));
  EXPECT_EQ(ask(take).substr(0, 8), "[1, 5, 0");
}

}  // namespace
}  // namespace weir::server
