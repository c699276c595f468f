// The machine's time zones against the C library, which reads tzdata by code of its own: offsets of
// all zones at random instants, and windows found by walking through local time.
#include "server/os/time_zones.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <map>
#include <string>

#include "algorithms/calendar.h"
#include "server/os/zone_rule.h"
#include "tests/algorithms/naive_calendar.h"
#include "tests/algorithms/rng.h"

namespace weir::server {
namespace {

using algorithms::Calendar;
using algorithms::CalendarUnit;
using algorithms::Window;
using algorithms::Zone;
using algorithms::testing::NaiveZone;
using algorithms::testing::Seeded;

constexpr int64_t kLastS = 9'200'000'000;  // in 2261

// The process' local time is a zone's, for a while.
class LocalTime {
 public:
  explicit LocalTime(const std::string& name) {
    setenv("TZ", (":" + name).c_str(), 1);
    tzset();
  }
  ~LocalTime() {
    unsetenv("TZ");
    tzset();
  }
  static int64_t offset_s(int64_t at_s) { return local(at_s).tm_gmtoff; }
  static bool is_summer(int64_t at_s) { return local(at_s).tm_isdst > 0; }

 private:
  static tm local(int64_t at_s) {
    const time_t at = at_s;
    tm parts{};
    localtime_r(&at, &parts);
    return parts;
  }
};

TEST(TimeZones, EveryZoneHasTheOffsetsOfTheCLibrary) {
  Seeded seeded;
  TimeZones zones;
  const auto& names = system_zones().names();
  ASSERT_GT(names.size(), 400u);
  for (const std::string& name : names) {
    const Zone* zone = zones.given().find(name);
    ASSERT_NE(zone, nullptr) << name;
    const LocalTime local(name);
    for (int i = 0; i < 1'000; ++i) {
      const bool near = seeded.rng.one_in(2);
      const int64_t at_s =
          near ? seeded.rng.between(0, 2'200'000'000) : seeded.rng.between(-9'200'000'000, kLastS);
      ASSERT_EQ(zone->offset_s(at_s), LocalTime::offset_s(at_s)) << name << " " << at_s;
    }
  }
}

// Midnights that do not exist or come twice, half hours, a day left out, a summer that pauses for
// Ramadan, a summer that is standard time, and zones of today. A run walks through some of them.
constexpr const char* kZones[] = {
    "Europe/Berlin",     "America/New_York", "Australia/Lord_Howe", "Pacific/Apia",
    "Africa/Casablanca", "Africa/Cairo",     "America/Sao_Paulo",   "Asia/Beirut",
    "America/Asuncion",  "America/St_Johns", "Asia/Kathmandu",      "Asia/Kolkata",
    "Europe/Dublin",     "Atlantic/Azores",  "America/Havana",      "Pacific/Kwajalein",
    "Asia/Gaza",         "America/Nuuk",     "Asia/Pyongyang",      "Pacific/Chatham"};

Calendar any_calendar(algorithms::testing::Rng& rng, const Zone* zone) {
  Calendar calendar{.unit = CalendarUnit(rng.between(2, 8)), .zone = zone};
  if (calendar.unit == CalendarUnit::kMonth) calendar.on_day = rng.between(1, 31);
  return calendar;
}

TEST(TimeZones, WindowsAreThoseOfLocalTime) {
  Seeded seeded;
  TimeZones zones;
  constexpr int64_t kEndS = 2'300'000'000;  // in 2042, after the last change that is listed
  for (int i = 0; i < 5; ++i) {
    const char* name = seeded.rng.pick(kZones);
    const Zone* zone = zones.given().find(name);
    ASSERT_NE(zone, nullptr) << name;
    const LocalTime local(name);
    const NaiveZone naive(LocalTime::offset_s, kEndS);
    // Hours are aligned by standard time: that of a January or July long after the last change.
    const int64_t july_s = 5'000'000'000 + 182 * 86'400;
    const int64_t standard_s =
        LocalTime::offset_s(LocalTime::is_summer(july_s) ? 5'000'000'000 : july_s);
    EXPECT_EQ((zone->standard_s() - standard_s) % 3'600, 0) << name;
    for (int times = 0; times < 50'000; ++times) {
      const Calendar calendar = any_calendar(seeded.rng, zone);
      const int64_t at_ns = seeded.rng.between(0, kEndS - 800 * 86'400) * kNsPerS +
                            seeded.rng.between(0, kNsPerS - 1);
      ASSERT_EQ(calendar_window(calendar, at_ns), naive_window(calendar, at_ns, &naive))
          << name << " unit " << int64_t(calendar.unit) << " ON " << calendar.on_day << " at "
          << at_ns;
    }
  }
}

// Of all days of a century, the lengths that they have.
TEST(TimeZones, DaysHave23To25Hours) {
  TimeZones zones;
  const auto lengths = [&](const char* name) {
    const Calendar day{.unit = CalendarUnit::kDay, .zone = zones.given().find(name)};
    std::map<int64_t, int> minutes;
    Window window = calendar_window(day, 946'684'800 * kNsPerS);
    while (window.end_ns <= 4'102'444'800 * kNsPerS) {
      ++minutes[(window.end_ns - window.start_ns) / kNsPerMinute];
      window = calendar_window(day, window.end_ns);
    }
    return minutes;
  };
  const std::map<int64_t, int> berlin = {{1'380, 100}, {1'440, 36'325}, {1'500, 100}};
  EXPECT_EQ(lengths("Europe/Berlin"), berlin);
  for (const auto& [minutes, days] : lengths("Australia/Lord_Howe"))
    EXPECT_TRUE(minutes == 1'410 || minutes == 1'440 || minutes == 1'470) << minutes;
}

TEST(TimeZones, ADateThatWasLeftOut) {
  TimeZones zones;
  const Calendar day{.unit = CalendarUnit::kDay, .zone = zones.given().find("Pacific/Apia")};
  const int64_t jump_ns = 1'325'239'200 * kNsPerS;  // 2011-12-30T10:00Z, the 31st begins
  EXPECT_EQ(calendar_window(day, jump_ns - 1), (Window{jump_ns - kNsPerDay, jump_ns}));
  EXPECT_EQ(calendar_window(day, jump_ns), (Window{jump_ns, jump_ns + kNsPerDay}));
}

TEST(TimeZones, NamesAreThoseOfTheTableInItsLetters) {
  TimeZones zones;
  for (const char* name : {"europe/berlin", "Europe/Berlin ", "Europe", "Europe/", "", ".", "..",
                           "/etc/localtime", "../zoneinfo/UTC", "Europe/../UTC", "tzdata.zi",
                           "posix/UTC", "right/UTC", "zone.tab", "Europe//Berlin"}) {
    EXPECT_EQ(zones.given().find(name), nullptr) << name;
  }
  const Zone* berlin = zones.given().find("Europe/Berlin");
  EXPECT_EQ(zones.given().find("Europe/Berlin"), berlin);
  EXPECT_EQ(zones.stored().find("Europe/Berlin"), berlin);
}

TEST(TimeZones, WhatIsStoredAndNotKnownIsStoodInFor) {
  TimeZones zones;
  const Zone* lost = zones.stored().find("Mars/Olympus");
  ASSERT_NE(lost, nullptr);
  EXPECT_FALSE(lost->is_known());
  EXPECT_EQ(zones.stored().find("Mars/Olympus"), lost);
  EXPECT_EQ(zones.given().find("Mars/Olympus"), nullptr);
  EXPECT_EQ(zones.stored().find("Mars Olympus"), nullptr);
  for (size_t i = 1; i < TimeZones::kStandInsMax; ++i)
    ASSERT_NE(zones.stored().find("Mars/" + std::to_string(i)), nullptr);
  EXPECT_EQ(zones.stored().find("Mars/Last"), nullptr);
  EXPECT_EQ(zones.stored().find("Mars/Olympus"), lost);
}

TEST(ZoneRule, FormsOfPosix) {
  const auto rule = parse_zone_rule("<-02>2<-01>,M3.5.0/-1,M10.5.0/0");
  ASSERT_TRUE(rule.has_value());
  EXPECT_EQ(rule->standard_s, -7'200);
  EXPECT_EQ(rule->summer_s, -3'600);
  const auto changes = changes_by(*rule, 2024, 2024);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0], (Zone::Range{1'711'846'800, -3'600}));  // 2024-03-31T01:00Z
  EXPECT_EQ(changes[1], (Zone::Range{1'729'990'800, -7'200}));  // 2024-10-27T01:00Z
  EXPECT_EQ(parse_zone_rule("<+0545>-5:45")->standard_s, 20'700);
  EXPECT_TRUE(changes_by(*parse_zone_rule("UTC0"), 2000, 2100).empty());
  const auto days = changes_by(*parse_zone_rule("AAA0BBB,J60/0,60/0"), 2024, 2024);
  EXPECT_EQ(days[0].from_s, 1'709'247'600);  // 60 from zero: 1 March, in summer time
  EXPECT_EQ(days[1].from_s, 1'709'251'200);  // J60: 1 March
  for (const char* text :
       {"", "C", "CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
        "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "CET-25", "CET-1x", "<CET-1",
        "CET-1CEST,J0,J1", "CET-1CEST,366,1", "CET-1CEST,M3.5.0/168,M10.5.0", "1", "<>1",
        "CET-1CEST,M3.5.0,M10.5.0,"}) {
    EXPECT_FALSE(parse_zone_rule(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace weir::server
