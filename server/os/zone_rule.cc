#include "server/os/zone_rule.h"

#include <algorithm>
#include <chrono>

#include "base/ascii.h"

namespace weir::server {
namespace {

constexpr int64_t kSecondsOfDay = 86'400;

class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : rest_(text) {}

  std::optional<ZoneRule> read() {
    ZoneRule rule;
    name();
    rule.standard_s = -time(kOffsetHoursMax);
    if (rest_.empty()) return done(rule);
    rule.has_summer = true;
    name();
    const bool has_offset = !rest_.empty() && rest_[0] != ',';
    rule.summer_s = has_offset ? -time(kOffsetHoursMax) : rule.standard_s + 3'600;
    take(',');
    rule.begins = date();
    take(',');
    rule.ends = date();
    return done(rule);
  }

 private:
  static constexpr int kOffsetHoursMax = 24;
  static constexpr int kTimeHoursMax = 167;

  std::optional<ZoneRule> done(const ZoneRule& rule) const {
    return ok_ && rest_.empty() ? std::optional(rule) : std::nullopt;
  }

  bool next_is(char c) const { return !rest_.empty() && rest_[0] == c; }
  bool skip(char c) {
    if (!next_is(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void take(char c) { ok_ = skip(c) && ok_; }

  // Three letters or more, or anything in angle brackets.
  void name() {
    size_t size = 0;
    if (next_is('<')) {
      size = std::min(rest_.find('>'), rest_.size() - 1) + 1;
    } else {
      while (size < rest_.size() && is_letter(rest_[size])) ++size;
    }
    ok_ = ok_ && size >= 3;
    rest_.remove_prefix(size);
  }

  int number(int least, int most) {
    int value = 0;
    size_t digits = 0;
    for (; digits < rest_.size() && digits < 3 && is_digit(rest_[digits]); ++digits)
      value = value * 10 + (rest_[digits] - '0');
    rest_.remove_prefix(digits);
    ok_ = ok_ && digits > 0 && value >= least && value <= most;
    return value;
  }

  // [+-]hh[:mm[:ss]] in seconds.
  int64_t time(int hours_max) {
    const bool negative = skip('-');
    if (!negative) skip('+');
    int64_t seconds = number(0, hours_max) * int64_t{3'600};
    if (skip(':')) seconds += number(0, 59) * int64_t{60};
    if (skip(':')) seconds += number(0, 59);
    return negative ? -seconds : seconds;
  }

  ZoneRule::Date date() {
    ZoneRule::Date date;
    if (skip('M')) {
      date.month = number(1, 12);
      take('.');
      date.week = number(1, 5);
      take('.');
      date.day = number(0, 6);
    } else if (skip('J')) {
      date.kind = ZoneRule::Date::Kind::kDayNoLeap;
      date.day = number(1, 365);
    } else {
      date.kind = ZoneRule::Date::Kind::kDayFromZero;
      date.day = number(0, 365);
    }
    if (skip('/')) date.time_s = time(kTimeHoursMax);
    return date;
  }

  std::string_view rest_;
  bool ok_ = true;
};

// Answers the beginning of the date's day, in seconds since the epoch as if local time were UTC.
int64_t day_s(const ZoneRule::Date& date, int year) {
  using std::chrono::sys_days;
  const std::chrono::year in(year);
  const auto seconds = [](sys_days day) { return day.time_since_epoch().count() * kSecondsOfDay; };
  if (date.kind == ZoneRule::Date::Kind::kWeekday) {
    const auto month = in / std::chrono::month(static_cast<unsigned>(date.month));
    const std::chrono::weekday weekday(static_cast<unsigned>(date.day));
    if (date.week == 5) return seconds(month / weekday[std::chrono::last]);
    return seconds(month / weekday[static_cast<unsigned>(date.week)]);
  }
  const sys_days first = in / 1 / 1;
  if (date.kind == ZoneRule::Date::Kind::kDayFromZero)
    return seconds(first + std::chrono::days(date.day));
  const int leap_day = in.is_leap() && date.day >= 60 ? 1 : 0;
  return seconds(first + std::chrono::days(date.day - 1 + leap_day));
}

}  // namespace

std::optional<ZoneRule> parse_zone_rule(std::string_view text) { return RuleReader(text).read(); }

std::vector<algorithms::Zone::Range> changes_by(const ZoneRule& rule, int first, int last) {
  std::vector<algorithms::Zone::Range> changes;
  if (!rule.has_summer) return changes;
  for (int year = first; year <= last; ++year) {
    const auto at_s = [&](const ZoneRule::Date& date, int64_t offset_s) {
      return day_s(date, year) + date.time_s - offset_s;
    };
    changes.push_back({at_s(rule.begins, rule.standard_s), rule.summer_s});
    changes.push_back({at_s(rule.ends, rule.summer_s), rule.standard_s});
  }
  const auto earlier = [](const auto& a, const auto& b) { return a.from_s < b.from_s; };
  std::ranges::stable_sort(changes, earlier);
  return changes;
}

}  // namespace weir::server
