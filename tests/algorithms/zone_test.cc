// Zones and the calendar in them: tables derived by hand, windows that tile time in zones that
// nobody lives in, and what becomes of a window when a zone's table changes.
#include "algorithms/zone.h"

#include "algorithms/limit_text.h"
#include "base/ascii.h"
#include "tests/algorithms/tables.h"
#include "tests/algorithms/window_limits.h"

namespace weir::algorithms::testing {
namespace {

constexpr int64_t kHourS = 3'600, kDayS = 86'400;
constexpr int64_t kMidnightS = 19'660 * kDayS;  // 2023-10-30 00:00 UTC, a Monday

// UTC until `at_s` after a midnight, then `offset_s`.
Zone jumping(int64_t at_s, int64_t offset_s) {
  return Zone("Test/Jumps", {{0, 0}, {kMidnightS + at_s, offset_s}}, 0);
}

// Seconds after that midnight.
Window day_of(const Zone& zone, int64_t at_s) {
  const Window window =
      calendar_window({.unit = CalendarUnit::kDay, .zone = &zone}, (kMidnightS + at_s) * kNsPerS);
  return {window.start_ns / kNsPerS - kMidnightS, window.end_ns / kNsPerS - kMidnightS};
}

TEST(Zone, ADayIsShorterOrLongerAtAChange) {
  const Zone spring = jumping(2 * kHourS, kHourS);
  EXPECT_EQ(day_of(spring, -1), (Window{-kDayS, 0}));
  EXPECT_EQ(day_of(spring, 0), (Window{0, 23 * kHourS}));
  EXPECT_EQ(day_of(spring, 23 * kHourS), (Window{23 * kHourS, 47 * kHourS}));
  const Zone autumn = jumping(3 * kHourS, -kHourS);
  EXPECT_EQ(day_of(autumn, 0), (Window{0, 25 * kHourS}));
  EXPECT_EQ(day_of(autumn, 25 * kHourS - 1), (Window{0, 25 * kHourS}));
  const Zone lord_howe = jumping(2 * kHourS, kHourS / 2);
  EXPECT_EQ(day_of(lord_howe, 0), (Window{0, 23 * kHourS + kHourS / 2}));
}

TEST(Zone, ADayBeginsAtItsFirstInstant) {
  const Zone no_midnight = jumping(0, kHourS);  // from 00:00 to 01:00
  EXPECT_EQ(day_of(no_midnight, 0), (Window{0, 23 * kHourS}));
  EXPECT_EQ(day_of(no_midnight, -1), (Window{-kDayS, 0}));
  const Zone half_past = jumping(-kHourS / 2, kHourS);  // from 23:30 to 00:30
  EXPECT_EQ(day_of(half_past, 0), (Window{-kHourS / 2, 23 * kHourS}));
  EXPECT_EQ(day_of(half_past, -kHourS), (Window{-kDayS, -kHourS / 2}));
}

TEST(Zone, OfTwoMidnightsTheFirstCounts) {
  const Zone after = jumping(kHourS, -kHourS);  // from 01:00 to 00:00
  EXPECT_EQ(day_of(after, 0), (Window{0, 25 * kHourS}));
  const Zone over = jumping(60, -kHourS);  // from 00:01 to 23:01: the day goes on
  EXPECT_EQ(day_of(over, -1), (Window{-kDayS, 0}));
  EXPECT_EQ(day_of(over, 0), (Window{0, 25 * kHourS}));
  EXPECT_EQ(day_of(over, 60), (Window{0, 25 * kHourS}));
  const Zone at = jumping(0, -kHourS);  // from 00:00 to 23:00: the first midnight never was
  EXPECT_EQ(day_of(at, 0), (Window{-kDayS, kHourS}));
}

TEST(Zone, ADateLeftOutHasNoWindow) {
  const Zone apia = jumping(0, kDayS);
  EXPECT_EQ(day_of(apia, -1), (Window{-kDayS, 0}));
  EXPECT_EQ(day_of(apia, 0), (Window{0, kDayS}));  // the date after the next
  const Calendar day{.unit = CalendarUnit::kDay, .zone = &apia};
  const auto none = window_of_date(day, kMidnightS * kNsPerS).window;
  EXPECT_EQ(none.start_ns, none.end_ns);
  const Calendar week{.unit = CalendarUnit::kWeek, .zone = &apia};
  const Window six_days = calendar_window(week, kMidnightS * kNsPerS);
  EXPECT_EQ(six_days.end_ns - six_days.start_ns, 6 * kNsPerDay);
}

TEST(Zone, HoursCountElapsedTime) {
  const Zone zone("Test/Half", {{0, 1'800}, {kMidnightS + 5'400, 5'400}}, 1'800);
  const Calendar hour{.unit = CalendarUnit::kHour, .zone = &zone};
  for (int64_t half = -10; half < 10; half += 2) {
    const int64_t start_ns = (kMidnightS + half * 1'800 + 1'800) * kNsPerS;
    EXPECT_EQ(calendar_window(hour, start_ns), (Window{start_ns, start_ns + kNsPerHour}));
    EXPECT_EQ(calendar_window(hour, start_ns - 1).end_ns, start_ns);
  }
}

TEST(Zone, ATableIsRisingAndItsOffsetsAreOfThisWorld) {
  const auto refuses = [](std::vector<Zone::Range> ranges, std::string name = "A") {
    EXPECT_ANY_THROW(Zone(std::move(name), std::move(ranges), 0));
  };
  refuses({});
  refuses({{5, 0}, {5, 1}});
  refuses({{5, kZoneOffsetSMax + 1}});
  refuses({{5, -kZoneOffsetSMax - 1}});
  refuses({{5, 0}}, "");
  refuses({{5, 0}}, "../etc/passwd");
  refuses({{5, 0}}, std::string(kZoneNameBytesMax + 1, 'a'));
}

// Laws of every unit in every zone: a window contains its instant, the next begins where it ends,
// and its date leads back to it.
TEST(Zone, WindowsTileTime) {
  Seeded seeded;
  for (int i = 0; i < 200'000; ++i) {
    Calendar calendar = any_calendar(seeded.rng);
    if (calendar.zone != nullptr) calendar.zone = test_zones().any(seeded.rng);
    const int64_t at_ns = seeded.rng.between(0, kInstantNsMax);
    const auto [window, date_ns] = window_at(calendar, at_ns);
    ASSERT_LE(window.start_ns, at_ns);
    ASSERT_LT(at_ns, window.end_ns);
    ASSERT_EQ(calendar_window(calendar, window.start_ns), window);
    ASSERT_EQ(calendar_window(calendar, window.end_ns - 1), window);
    ASSERT_EQ(calendar_window(calendar, window.start_ns - 1).end_ns, window.start_ns);
    const auto next = window_at(calendar, window.end_ns);
    ASSERT_EQ(next.window.start_ns, window.end_ns);
    ASSERT_GT(next.date_ns, date_ns);
    ASSERT_EQ(window_of_date(calendar, date_ns).window, window);
    ASSERT_EQ(window_of_date(calendar, date_ns).date_ns, date_ns);
  }
}

// The table of a zone changes between two starts, by up to some hours: nobody gets a date's permits
// twice, though its window may end earlier or later.
TEST(Zone, ADateBeginsOnceWhateverTheTableSays) {
  Seeded seeded;
  Rng& rng = seeded.rng;
  int64_t moved = 0;
  for (int life = 0; life < 20'000; ++life) {
    const int64_t offset_s = rng.between(-48, 48) * 900;
    const auto zone_of = [&] {
      return Zone("A/B", {{0, offset_s + rng.between(-12, 12) * 900}}, 0);
    };
    const Zone before = zone_of(), after = zone_of();
    Calendar calendar{.unit = CalendarUnit(rng.between(4, 8)), .zone = &before};
    if (calendar.unit == CalendarUnit::kMonth) calendar.on_day = rng.between(1, 31);
    const Limit old_limit = make_limit(calendar_spec(3, calendar)).value();
    calendar.zone = &after;
    const Limit limit = make_limit(calendar_spec(3, calendar)).value();
    ASSERT_TRUE(same_limit(old_limit, limit));
    State state = fresh_state(old_limit, kStartNs);
    int64_t now_ns = kStartNs + rng.between(0, kNsPerDay);
    ASSERT_TRUE(decide(old_limit, state, {.now_ns = now_ns, .cost = 3}).allowed);
    const int64_t date_ns = state.words[0];
    for (int step = 0; step < 20; ++step) {
      const auto verdict = decide(limit, state, {.now_ns = now_ns, .cost = 3});
      if (verdict.allowed) {
        ASSERT_GT(state.words[0], date_ns);
        break;
      }
      ASSERT_GT(verdict.retry_after_ns, 0);
      const bool wait = rng.one_in(4);
      now_ns += wait ? verdict.retry_after_ns : rng.between(0, kNsPerDay / 8);
      ASSERT_TRUE(!wait || peek(limit, state, now_ns, 3).allowed);
    }
    moved += before.offset_s(0) != after.offset_s(0);
  }
  EXPECT_GT(moved, 1'000);
}

class OneZone : public Zones {
 public:
  const Zone* find(std::string_view name) const override {
    return name == zone_.name() ? &zone_ : nullptr;
  }
  std::string accepted() const override { return "A/B"; }

 private:
  Zone zone_{"A/B", {{0, kHourS}}, kHourS};
};

std::string read_in_zone(std::string_view text) {
  const OneZone zones;
  const auto parsed = parse_limits(split_at_spaces(text), 0, &zones);
  return parsed ? format_limits(parsed->limits) : parsed.error();
}

TEST(Zone, WordsOfALimit) {
  for (const char* text : {"FIXED 5 ALIGN DAY ZONE A/B", "FIXED 5 ALIGN MONTH ON 31 ZONE A/B",
                           "FIXED 5 ALIGN YEAR ZONE A/B", "FIXED 5 ALIGN MONTH ON 2 OFFSET -03:30",
                           "FIXED 5 ALIGN QUARTER", "FIXED 5 ALIGN YEAR OFFSET +08:00"}) {
    EXPECT_EQ(read_in_zone(text), text);
  }
  EXPECT_EQ(read_in_zone("fixed 5 zone A/B on 1 align month"), "FIXED 5 ALIGN MONTH ZONE A/B");
  const std::pair<const char*, const char*> errors[] = {
      {"FIXED 5 ALIGN DAY ZONE a/b", "ZONE must be A/B, got 'a/b'"},
      {"FIXED 5 ALIGN DAY ZONE", "ZONE must be the name of a time zone, got 'nothing'"},
      {"FIXED 5 ALIGN DAY ZONE ../B", "ZONE must be A/B, got '../B'"},
      {"FIXED 5 ALIGN DAY ZONE A/B ZONE A/B", "ZONE must be given once, got 'A/B'"},
      {"FIXED 5 ALIGN DAY ZONE A/B OFFSET +00:00", "ZONE must be given without OFFSET, got 'A/B'"},
      {"FIXED 5/1s ZONE A/B",
       "ZONE must be left out, unless ALIGN names a calendar unit, got 'A/B'"},
      {"FIXED 5 ALIGN DAY ON 1", "ON must be left out, unless ALIGN is MONTH, got '1'"},
      {"FIXED 5 ALIGN YEAR ON 1", "ON must be left out, unless ALIGN is MONTH, got '1'"},
      {"FIXED 5/1s ON 1", "ON must be left out, unless ALIGN is MONTH, got '1'"},
      {"FIXED 5 ALIGN MONTH ON 0", "ON must be between 1 and 31, got '0'"},
      {"FIXED 5 ALIGN MONTH ON 32", "ON must be between 1 and 31, got '32'"},
      {"FIXED 5 ALIGN MONTH ON last", "ON must be an integer, got 'last'"},
      {"FIXED 5 ALIGN DECADE",
       "ALIGN must be FIRST, EPOCH, MINUTE, HOUR, DAY, WEEK, MONTH, QUARTER or YEAR, got 'DECADE'"},
  };
  for (const auto& [text, error] : errors)
    EXPECT_EQ(read_in_zone(text), std::string("limit 0 (FIXED): ") + error);
  EXPECT_EQ(parse_limits(split_at_spaces("FIXED 5 ALIGN DAY ZONE A/B")).error(),
            "limit 0 (FIXED): ZONE must be left out here, got 'A/B'");
}

TEST(Zone, OnDisk) {
  const OneZone zones;
  const auto parsed =
      parse_limits(split_at_spaces("FIXED 5 ALIGN MONTH ON 31 ZONE A/B"), 0, &zones);
  const Limit limit = parsed->limits.at(0);
  State state;
  decide(limit, state, {.now_ns = kStartNs, .cost = 2});
  const std::string record = bytes_of(limit, state);
  LimitState found;
  ASSERT_TRUE(read_record(record, {&found, 1}, &zones).ok());
  EXPECT_EQ(bytes_of(found.limit, found.state), record);
  EXPECT_EQ(format_limit(found.limit), "FIXED 5 ALIGN MONTH ON 31 ZONE A/B");
  EXPECT_EQ(state.words[0], 1'698'710'400 * kNsPerS);  // 2023-10-31 as if it were UTC
  EXPECT_EQ(read_record(record, {&found, 1}).error(), RecordError::kUnknownZone);
  EXPECT_EQ(read_record(record, {&found, 1}, &test_zones()).error(), RecordError::kUnknownZone);
  for (size_t size = 0; size < record.size(); ++size)
    EXPECT_FALSE(read_record(record.substr(0, size), {&found, 1}, &zones).ok()) << size;
  const Zone stand_in("A/C");
  EXPECT_FALSE(stand_in.is_known());
  Limit other = limit;
  other.zone = &stand_in;
  EXPECT_FALSE(same_limit(limit, other));
  State single;
  EXPECT_TRUE(read_single(record, limit, single));
  EXPECT_FALSE(read_single(record, other, single));
}

// What an earlier version wrote keeps its bytes.
TEST(Zone, WithoutAZoneTheBytesAreAsEver) {
  const Limit month = make_limit(calendar_spec(5, {.unit = CalendarUnit::kMonth})).value();
  EXPECT_EQ(month.options, (std::array<int64_t, 2>{6, 0}));
  LimitSpec spec = calendar_spec(5, {.unit = CalendarUnit::kMonth});
  for (const int64_t align : {106, 3'206, 205, -194, 9, -1}) {
    spec.options[0] = align;
    EXPECT_FALSE(make_limit(spec).ok()) << align;
  }
  spec.options = {3'106, 0};
  EXPECT_TRUE(make_limit(spec).ok());
  spec.options[1] = kInZone;
  EXPECT_EQ(refusal(spec), "ZONE must be given, got 'nothing'");
}

}  // namespace
}  // namespace weir::algorithms::testing
