// Zones that nobody lives in, for the laws: tables drawn at random from a seed of their own, so
// that a name means the same in every run.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "algorithms/limit.h"
#include "algorithms/zone.h"
#include "tests/algorithms/naive_calendar.h"
#include "tests/algorithms/rng.h"

namespace weir::algorithms::testing {

// By how much the local time of a tame zone and its standard time differ at most.
inline constexpr int64_t kTameJumpNs = 2 * kNsPerHour;

class TestZones : public Zones {
 public:
  struct Made {
    Zone zone;
    std::vector<Zone::Range> ranges;
    std::unique_ptr<NaiveZone> naive;
  };

  TestZones() {
    for (int i = 0; i < kTame + kWild; ++i) {
      Rng rng(static_cast<uint64_t>(i) + 1);
      const int64_t standard_s = rng.between(-48, 56) * kQuarterS;
      auto ranges = i < kTame ? tame(rng, standard_s) : wild(rng);
      made_.push_back({Zone("Test/" + std::to_string(i), ranges, standard_s), ranges, nullptr});
    }
  }

  const Zone* find(std::string_view name) const override {
    for (const Made& made : made_) {
      if (made.zone.name() == name) return &made.zone;
    }
    return nullptr;
  }
  std::string accepted() const override { return "a zone of the tests"; }

  const Zone* any_tame(Rng& rng) const { return &made_[size_t(rng.between(0, kTame - 1))].zone; }
  const Zone* any(Rng& rng) const { return &made_[size_t(rng.between(0, kTame + kWild - 1))].zone; }
  // The zone by walking; made when it is first asked for.
  const NaiveZone* naive(const Zone* zone) {
    if (zone == nullptr) return nullptr;
    const auto is_it = [zone](const Made& made) { return made.zone.name() == zone->name(); };
    Made& made = *std::find_if(made_.begin(), made_.end(), is_it);
    if (made.naive == nullptr) {
      size_t at = 0;
      made.naive = std::make_unique<NaiveZone>([&made, &at](int64_t at_s) {
        while (at + 1 < made.ranges.size() && made.ranges[at + 1].from_s <= at_s) ++at;
        return made.ranges[at].offset_s;
      });
    }
    return made.naive.get();
  }

 private:
  static constexpr int kTame = 8, kWild = 4;
  static constexpr int64_t kQuarterS = 900, kDayS = 86'400;
  static constexpr int64_t kFromS = -500 * kDayS, kToS = 6'050'000'000;

  // As zones are: a jump of some quarters, often near midnight, weeks apart.
  static std::vector<Zone::Range> tame(Rng& rng, int64_t standard_s) {
    std::vector<Zone::Range> ranges = {{kFromS, standard_s}};
    while (ranges.back().from_s < kToS) {
      const int64_t days = ranges.back().from_s / kDayS + rng.between(20, 300);
      const int64_t near_s = rng.one_in(2) ? rng.between(-8, 8) : rng.between(0, 95);
      ranges.push_back({days * kDayS - standard_s + near_s * kQuarterS,
                        standard_s + rng.between(0, 8) * kQuarterS});
    }
    return ranges;
  }

  // As none is: days are left out and come twice, and jumps follow at once.
  static std::vector<Zone::Range> wild(Rng& rng) {
    std::vector<Zone::Range> ranges = {{kFromS, 0}};
    while (ranges.back().from_s < kToS) {
      const int64_t step_s = kQuarterS * rng.any_magnitude(1, 20'000);
      ranges.push_back({ranges.back().from_s + step_s, rng.between(-104, 104) * kQuarterS});
    }
    return ranges;
  }

  std::deque<Made> made_;
};

inline TestZones& test_zones() {
  static TestZones zones;
  return zones;
}

// Every unit, at an offset or in a tame zone; a month may begin on any day.
inline Calendar any_calendar(Rng& rng) {
  Calendar calendar{.unit = CalendarUnit(rng.between(2, 8))};
  if (calendar.unit == CalendarUnit::kMonth && rng.one_in(2))
    calendar.on_day = rng.one_in(2) ? rng.between(28, 31) : rng.between(1, 31);
  if (rng.one_in(2)) {
    calendar.zone = test_zones().any_tame(rng);
  } else {
    calendar.offset_minutes = rng.between(-1'439, 1'439);
  }
  return calendar;
}

// Answers how long a window of the unit is at least, in a tame zone or in none.
inline int64_t shortest_ns(const Calendar& calendar) {
  int64_t days = 0;
  if (calendar.unit == CalendarUnit::kMonth) days = 3;
  if (calendar.unit == CalendarUnit::kQuarter) days = 2;
  if (calendar.unit == CalendarUnit::kYear) days = 1;
  const bool jumps = calendar.zone != nullptr && calendar.unit >= CalendarUnit::kDay;
  return nominal_ns(calendar.unit) - days * kNsPerDay - (jumps ? kTameJumpNs : 0);
}

}  // namespace weir::algorithms::testing
