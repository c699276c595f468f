// FIXED and its calendar against tables derived by hand: the instant before, at and after each
// boundary, leap years, ends of years, ISO week 53, offsets.
#include "algorithms/fixed.h"

#include "algorithms/fixed_grammar.h"
#include "tests/algorithms/naive_calendar.h"
#include "tests/algorithms/tables.h"
#include "tests/algorithms/window_limits.h"

namespace weir::algorithms::testing {
namespace {

Limit three_per_ten_seconds(int64_t align) {
  return windowed(algorithm_fixed, 3, 10 * kSecond, {align, 0});
}

TEST(Fixed, AlignFirst) {
  expect_table(three_per_ten_seconds(kAlignFirst),
               {
                   {7 * kSecond, 1, {true, 3, 2, 0, 10 * kSecond, true}},
                   {8 * kSecond, 1, {true, 3, 1, 0, 9 * kSecond, true}},
                   {9 * kSecond, 1, {true, 3, 0, 0, 8 * kSecond, true}},
                   {9 * kSecond, 1, {false, 3, 0, 8 * kSecond, 8 * kSecond, false}},
                   {17 * kSecond - 1, 1, {false, 3, 0, 1, 1, false}},
                   {17 * kSecond, 1, {true, 3, 2, 0, 10 * kSecond, true}},
                   {17 * kSecond, 4, {false, 3, 2, kNever, 10 * kSecond, false}},
                   {17 * kSecond, 0, {true, 3, 2, 0, 10 * kSecond, false}},
                   {20 * kSecond, -1, {true, 3, 3, 0, 0, true}},
                   {20 * kSecond, -1, {true, 3, 3, 0, 0, false}},
                   {21 * kSecond, 1, {true, 3, 2, 0, 10 * kSecond, true}},
                   {31 * kSecond - 1, 3, {false, 3, 2, 1, 1, false}},
                   {31 * kSecond, 3, {true, 3, 0, 0, 10 * kSecond, true}},
                   {42 * kSecond, -3, {true, 3, 3, 0, 0, false}},
               });
}

// kStartNs is a multiple of ten seconds.
TEST(Fixed, AlignEpoch) {
  expect_table(three_per_ten_seconds(kAlignEpoch),
               {
                   {7 * kSecond, 1, {true, 3, 2, 0, 3 * kSecond, true}},
                   {9 * kSecond, 2, {true, 3, 0, 0, 1 * kSecond, true}},
                   {10 * kSecond - 1, 1, {false, 3, 0, 1, 1, false}},
                   {10 * kSecond, 3, {true, 3, 0, 0, 10 * kSecond, true}},
                   {10 * kSecond + 1, 1, {false, 3, 0, 10 * kSecond - 1, 10 * kSecond - 1, false}},
                   {10 * kSecond + 1, -2, {true, 3, 2, 0, 10 * kSecond - 1, true}},
                   {10 * kSecond + 1, -5, {true, 3, 3, 0, 0, true}},
               });
}

// The window that lasts from `start_s` to `end_s`, asked at its first and at its last nanosecond
// and just outside.
void expect_window(const Calendar& calendar, int64_t start_s, int64_t end_s) {
  const Window window{start_s * kSecond, end_s * kSecond};
  EXPECT_EQ(calendar_window(calendar, window.start_ns), window) << start_s;
  EXPECT_EQ(calendar_window(calendar, window.end_ns - 1), window) << start_s;
  EXPECT_EQ(calendar_window(calendar, window.start_ns - 1).end_ns, window.start_ns) << start_s;
  EXPECT_EQ(calendar_window(calendar, window.end_ns).start_ns, window.end_ns) << start_s;
}

TEST(Calendar, MonthsHaveTheirLengths) {
  const Calendar month{.unit = CalendarUnit::kMonth};
  expect_window(month, 1'706'745'600, 1'709'251'200);  // February 2024: 29 days
  expect_window(month, 1'675'209'600, 1'677'628'800);  // February 2023: 28
  expect_window(month, 949'363'200, 951'868'800);      // February 2000: 29
  expect_window(month, 4'105'123'200, 4'107'542'400);  // February 2100: 28
  expect_window(month, 1'701'388'800, 1'704'067'200);  // December 2023: the year ends
  expect_window(month, 0, 31 * 86'400);                // January 1970
}

TEST(Calendar, WeeksBeginOnMonday) {
  const Calendar week{.unit = CalendarUnit::kWeek};
  expect_window(week, 1'609'113'600, 1'609'718'400);  // 2020-W53: 28 December to 3 January
  expect_window(week, 1'701'648'000, 1'702'252'800);  // 2023-W49, from 4 December
  expect_window(week, -3 * 86'400, 4 * 86'400);       // 1970-01-01 was a Thursday
}

TEST(Calendar, OffsetsMoveTheBoundaries) {
  const auto day = [](int64_t minutes) { return Calendar{CalendarUnit::kDay, minutes}; };
  expect_window(day(0), 1'709'251'200, 1'709'337'600);
  expect_window(day(8 * 60), 1'709'222'400, 1'709'308'800);        // from 29 February 16:00 UTC
  expect_window(day(-3 * 60 - 30), 1'709'263'800, 1'709'350'200);  // from 1 March 03:30 UTC
  expect_window(day(-60), -82'800, 3'600);                         // begins before 1970
  expect_window({CalendarUnit::kMonth, 14 * 60}, 1'709'200'800, 1'709'200'800 + 31 * 86'400);
  expect_window({CalendarUnit::kHour, 5 * 60 + 30}, 1'709'199'000, 1'709'202'600);  // 09:30 UTC
  expect_window({CalendarUnit::kMinute, 7}, 1'709'199'000, 1'709'199'060);
}

TEST(Calendar, AgreesWithCounting) {
  Seeded seeded;
  for (int i = 0; i < 200'000; ++i) {
    Calendar calendar = any_calendar(seeded.rng);
    if (calendar.zone != nullptr) calendar.zone = test_zones().any(seeded.rng);
    const int64_t at_ns = seeded.rng.one_in(4) ? seeded.rng.any_magnitude(0, kInstantNsMax)
                                               : seeded.rng.between(0, kInstantNsMax);
    ASSERT_EQ(calendar_window(calendar, at_ns),
              naive_window(calendar, at_ns, test_zones().naive(calendar.zone)))
        << int64_t(calendar.unit) << " ON " << calendar.on_day << " " << calendar.offset_minutes
        << " " << (calendar.zone != nullptr ? calendar.zone->name() : "") << " " << at_ns;
  }
}

// 100 per month, offered a thousand times a day for four years of which one is a leap year.
TEST(Fixed, CountPerCalendarWindowOverYears) {
  const struct {
    CalendarUnit unit;
    int64_t windows;
  } cases[] = {{CalendarUnit::kMonth, 48}, {CalendarUnit::kDay, 1'461}};
  for (const auto& each : cases) {
    const Limit limit = make_limit(calendar_spec(100, {.unit = each.unit})).value();
    State state = fresh_state(limit, 0);
    int64_t taken = 0;
    const int64_t start_ns = 1'672'531'200 * kSecond;  // 2023-01-01
    for (int64_t i = 0; i < 1'461 * 1'000; ++i) {
      taken += decide(limit, state, {.now_ns = start_ns + i * (kNsPerDay / 1'000)}).allowed;
    }
    EXPECT_EQ(taken, each.windows * 100);
  }
}

TEST(Fixed, AClockSetBackKeepsTheWindow) {
  expect_table(three_per_ten_seconds(kAlignEpoch),
               {
                   {20 * kSecond, 3, {true, 3, 0, 0, 10 * kSecond, true}},
                   {5 * kSecond, 1, {false, 3, 0, 25 * kSecond, 25 * kSecond, false}},
                   {30 * kSecond, 1, {true, 3, 2, 0, 10 * kSecond, true}},
               });
}

// A start that no window has, as only damaged bytes could bring it, neither grants nor sticks.
TEST(Fixed, AForeignStartIsAWindowThatIsOver) {
  const Limit limit = three_per_ten_seconds(kAlignEpoch);
  State state{.words = {kStartNs + 1, 3}};
  EXPECT_TRUE(decide(limit, state, {.now_ns = kStartNs + 2, .cost = 3}).allowed);
  EXPECT_EQ(state.words[0], kStartNs);
}

int64_t carried(const Limit& from, const Limit& to, int64_t used, int64_t after_ns) {
  State state = fresh_state(from, kStartNs);
  decide(from, state, {.now_ns = kStartNs, .cost = used});
  const int64_t now_ns = kStartNs + after_ns;
  const State next = carry_over(from, to, state, CarryOver::kAsIs, now_ns);
  return peek(to, next, now_ns, 0).remaining;
}

TEST(Fixed, WhatIsUsedStaysUsed) {
  const auto daily = [](int64_t count) {
    return make_limit(calendar_spec(count, {.unit = CalendarUnit::kDay})).value();
  };
  EXPECT_EQ(carried(daily(100), daily(1'000), 90, kSecond), 910);
  EXPECT_EQ(carried(daily(100), daily(50), 90, kSecond), 0);
  EXPECT_EQ(carried(daily(100), daily(1'000), 90, kNsPerDay), 1'000);
  const Limit hourly = windowed(algorithm_fixed, 100, 3'600 * kSecond, {kAlignFirst, 0});
  const Limit minutely = windowed(algorithm_fixed, 100, 60 * kSecond, {kAlignFirst, 0});
  EXPECT_EQ(carried(hourly, minutely, 90, 1'800 * kSecond), 10);
  EXPECT_EQ(carried(hourly, minutely, 90, 60 * kSecond), 10);
  EXPECT_EQ(carried(minutely, hourly, 90, 59 * kSecond), 10);
  EXPECT_EQ(carried(minutely, hourly, 90, 60 * kSecond), 100);
  EXPECT_EQ(carried(hourly, daily(100), 90, 1'800 * kSecond), 10);
}

TEST(Fixed, WithEverythingGivenBackItIsAsNew) {
  const Limit limit = three_per_ten_seconds(kAlignFirst);
  State state;
  decide(limit, state, {.now_ns = kStartNs, .cost = 3});
  refund(limit, state, {.now_ns = kStartNs, .permits = 3});
  EXPECT_EQ(bytes_of(limit, state), bytes_of(limit, fresh_state(limit, kStartNs)));
}

TEST(Fixed, ALongerWindowKeepsItsStart) {
  const Limit from = windowed(algorithm_fixed, 3, 10 * kSecond, {kAlignFirst, 0});
  const Limit to = windowed(algorithm_fixed, 3, 20 * kSecond, {kAlignFirst, 0});
  State state = fresh_state(from, kStartNs);
  decide(from, state, {.now_ns = kStartNs, .cost = 3});
  const int64_t now_ns = kStartNs + 5 * kSecond;
  const State next = carry_over(from, to, state, CarryOver::kAsIs, now_ns);
  EXPECT_EQ(peek(to, next, now_ns, 1).retry_after_ns, 15 * kSecond);
}

TEST(Fixed, RefusalsNameTheOption) {
  LimitSpec spec{.algorithm = &algorithm_fixed, .count = 3, .period_ns = kSecond};
  spec.options = {9, 0};
  EXPECT_EQ(refusal(spec),
            "ALIGN must be FIRST, EPOCH, MINUTE, HOUR, DAY, WEEK, MONTH, QUARTER or YEAR, got '9'");
  spec.options = {kAlignEpoch, 60};
  EXPECT_EQ(refusal(spec), "OFFSET must be 0 without a calendar unit, got '60 minutes'");
  spec.options = {int64_t(CalendarUnit::kDay), 0};
  EXPECT_EQ(refusal(spec), "period must be 1d with this ALIGN, got '1s'");
  EXPECT_EQ(refusal(calendar_spec(3, {CalendarUnit::kDay, 1'440})),
            "OFFSET must be between -23:59 and +23:59, got '1440 minutes'");
  EXPECT_EQ(refusal(calendar_spec(0, {CalendarUnit::kDay, 0})),
            "count must be at least 1, got '0'");
  EXPECT_EQ(refusal(calendar_spec(kCapacityMax + 1, {CalendarUnit::kDay, 0})),
            "count must be between 1 and 1000000000000, got '1000000000001'");
  EXPECT_EQ(refusal(calendar_spec(kCapacityMax, {CalendarUnit::kDay, -1'439})), "");
}

}  // namespace
}  // namespace weir::algorithms::testing
