#include "algorithms/fixed_grammar.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "algorithms/words.h"

namespace weir::algorithms {
namespace {

bool has_calendar(int64_t align) { return align > kAlignEpoch; }

int64_t align_of(const Limit& limit) { return limit.options[0] % kOnDayUnit; }
int64_t on_day_of(const Limit& limit) {
  return std::max<int64_t>(1, limit.options[0] / kOnDayUnit);
}

constexpr std::string_view kAligns[] = {"FIRST", "EPOCH", "MINUTE",  "HOUR", "DAY",
                                        "WEEK",  "MONTH", "QUARTER", "YEAR"};
constexpr std::string_view kNoCalendar = "left out, unless ALIGN names a calendar unit";

RangeError zone_error(const Limit& limit, std::string accepted) {
  return {"ZONE", limit.zone == nullptr ? "nothing" : limit.zone->name(), std::move(accepted)};
}

Result<void, RangeError> check_align(const Limit& limit) {
  const int64_t align = align_of(limit), on_day = limit.options[0] / kOnDayUnit;
  if (limit.options[0] < 0 || align >= std::ssize(kAligns)) {
    return RangeError{"ALIGN", std::to_string(limit.options[0]), list_of(kAligns)};
  }
  if (on_day == 0) return {};
  if (align != int64_t(CalendarUnit::kMonth))
    return RangeError{"ON", std::to_string(on_day), "left out, unless ALIGN is MONTH"};
  if (on_day > 1 && on_day <= kOnDayMax) return {};
  return RangeError{"ON", std::to_string(on_day), between(1, kOnDayMax)};
}

Result<void, RangeError> check_period(const Limit& limit) {
  const int64_t nominal = nominal_ns(CalendarUnit(align_of(limit)));
  if (limit.period_ns == nominal) return {};
  return RangeError{"period", format_duration(limit.period_ns),
                    format_duration(nominal) + " with this ALIGN"};
}

// FIXED count/period [ALIGN FIRST|EPOCH]
// FIXED count ALIGN MINUTE|HOUR|DAY|WEEK|MONTH|QUARTER|YEAR [ON n] [OFFSET o|ZONE z]
enum FixedOption : uint8_t { kAlign, kOn, kOffset, kZone };
constexpr Option kFixedOptions[] = {
    {.name = "ALIGN", .kind = Option::Kind::kWord, .words = kAligns, .left_out = "FIRST"},
    {.name = "ON", .kind = Option::Kind::kNumber, .left_out = "1"},
    {.name = "OFFSET", .kind = Option::Kind::kUtcOffset, .left_out = "+00:00"},
    {.name = "ZONE", .kind = Option::Kind::kZone, .left_out = "none: OFFSET counts"}};

// What only the words can tell.
Result<void, RangeError> check_words(const Written& written, int64_t align) {
  const bool calendar = has_calendar(align);
  if (calendar == written.period_ns.has_value()) {
    return RangeError{
        "rate",
        std::to_string(written.count) +
            (calendar ? "/" + format_duration(*written.period_ns) : std::string()),
        calendar ? "a count alone: ALIGN " + std::string(kAligns[align]) + " says the period"
                 : std::string("count/period, unless ALIGN names a calendar unit")};
  }
  const auto on_day = written.values[kOn];
  if (on_day && align != int64_t(CalendarUnit::kMonth))
    return RangeError{"ON", std::to_string(*on_day), "left out, unless ALIGN is MONTH"};
  if (on_day && (*on_day < 1 || *on_day > kOnDayMax))
    return RangeError{"ON", std::to_string(*on_day), between(1, kOnDayMax)};
  for (const FixedOption option : {kOffset, kZone}) {
    const std::string name(kFixedOptions[option].name);
    if (written.values[option] && !calendar)
      return RangeError{name, name, std::string(kNoCalendar)};
  }
  if (written.values[kZone] && written.values[kOffset])
    return RangeError{"ZONE", written.zone->name(), "given without OFFSET"};
  return {};
}

Result<void, RangeError> fixed_spec(const Written& written, LimitSpec& spec) {
  const int64_t align = written.values[kAlign].value_or(kAlignFirst);
  if (auto fits = check_words(written, align); !fits) return fits;
  if (has_calendar(align)) {
    set_calendar(written.count,
                 {.unit = static_cast<CalendarUnit>(align),
                  .offset_minutes = written.values[kOffset].value_or(0),
                  .on_day = written.values[kOn].value_or(1),
                  .zone = written.zone},
                 spec);
    return {};
  }
  set_rate(written, spec);
  spec.options = {align, 0};
  return {};
}
Written fixed_written(const Limit& limit) {
  Written written = rate_of(limit);
  written.set(kAlign, align_of(limit), kAlignFirst);
  if (!has_calendar(align_of(limit))) return written;
  written.period_ns.reset();
  if (on_day_of(limit) > 1) written.set(kOn, on_day_of(limit));  // ON 1 is what a month is
  if (limit.zone != nullptr) {
    written.set(kZone, 0);
    written.zone = limit.zone;
  } else {
    written.set(kOffset, limit.options[1], 0);
  }
  return written;
}

}  // namespace

constinit const Grammar fixed_grammar = {Grammar::Rate::kEither, kFixedOptions, fixed_spec,
                                         fixed_written};

Result<void, RangeError> check_fixed(const Limit& limit) {
  if (auto fits = check_count(limit, kCapacityMax); !fits) return fits;
  if (auto fits = check_align(limit); !fits) return fits;
  const int64_t align = align_of(limit), offset = limit.options[1];
  if (!has_calendar(align)) {
    if (limit.zone != nullptr) return zone_error(limit, "left out without a calendar unit");
    if (offset == 0) return {};
    return RangeError{"OFFSET", std::to_string(offset) + " minutes", "0 without a calendar unit"};
  }
  const bool in_zone = offset == kInZone;
  if (in_zone != (limit.zone != nullptr)) {
    return zone_error(limit, in_zone ? "given" : "given without OFFSET");
  }
  if (in_zone) return check_period(limit);
  if (offset < -kOffsetMinutesMax || offset > kOffsetMinutesMax) {
    return RangeError{"OFFSET", std::to_string(offset) + " minutes", "between -23:59 and +23:59"};
  }
  return check_period(limit);
}

bool has_zone(const std::array<int64_t, 2>& options) { return options[1] == kInZone; }

Calendar calendar_of(const Limit& limit) {
  return {.unit = CalendarUnit(align_of(limit)),
          .offset_minutes = limit.zone == nullptr ? limit.options[1] : 0,
          .on_day = on_day_of(limit),
          .zone = limit.zone};
}

void set_calendar(int64_t count, const Calendar& calendar, LimitSpec& spec) {
  const int64_t on_day = calendar.on_day == 1 ? 0 : calendar.on_day;
  spec.count = count;
  spec.period_ns = nominal_ns(calendar.unit);
  spec.capacity = count;
  spec.options = {int64_t(calendar.unit) + kOnDayUnit * on_day,
                  calendar.zone == nullptr ? calendar.offset_minutes : kInZone};
  spec.zone = calendar.zone;
}

}  // namespace weir::algorithms
