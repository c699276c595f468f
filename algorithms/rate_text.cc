#include "algorithms/rate_text.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <string>

#include "algorithms/words.h"
#include "base/ascii.h"

namespace weir::algorithms {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

struct Unit {
  std::string_view name;
  int64_t ns;
};
constexpr Unit kLetters[] = {{"ns", 1},        {"us", kNsPerUs},    {"ms", kNsPerMs},
                             {"s", kNsPerS},   {"m", kNsPerMinute}, {"h", kNsPerHour},
                             {"d", kNsPerDay}, {"w", 7 * kNsPerDay}};
constexpr Unit kNames[] = {
    {"sec", kNsPerS},      {"second", kNsPerS},      {"seconds", kNsPerS},
    {"min", kNsPerMinute}, {"minute", kNsPerMinute}, {"minutes", kNsPerMinute},
    {"hour", kNsPerHour},  {"hours", kNsPerHour},    {"day", kNsPerDay},
    {"days", kNsPerDay},   {"week", 7 * kNsPerDay},  {"weeks", 7 * kNsPerDay}};
// What has no fixed length.
constexpr std::string_view kCalendarNames[] = {"mo", "month", "months", "y", "yr", "year", "years"};

// Reads digits without a superfluous leading zero; a number that is too large answers the largest.
std::optional<int64_t> parse_digits(std::string_view text) {
  if (text.empty() || text.size() > kNumberBytesMax) return std::nullopt;
  if (text.size() > 1 && text[0] == '0') return std::nullopt;
  if (!std::ranges::all_of(text, is_digit)) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? value : kLargest;
}

std::optional<int64_t> parse_unit(std::string_view text) {
  for (const Unit& unit : kLetters) {
    if (text == unit.name) return unit.ns;
  }
  for (const Unit& unit : kNames) {
    if (equals_ignoring_case(text, unit.name)) return unit.ns;
  }
  return std::nullopt;
}

// Cuts the digits, a point among them, from the front.
std::string_view cut_number(std::string_view* text) {
  const size_t end = std::min(text->find_first_not_of("0123456789."), text->size());
  const std::string_view number = text->substr(0, end);
  text->remove_prefix(end);
  return number;
}

// A rate as it was written, in one word or in three.
struct RateWords {
  std::string_view count;
  std::string_view period = {};  // a duration or a unit
  bool has_period = false;
  size_t words = 1;
};

// Where the slash of a rate is; npos in a word that has none as far as a rate may reach.
size_t slash_of(std::string_view word) { return word.substr(0, kNumberBytesMax + 1).find('/'); }

bool is_per(std::span<const std::string_view> words) {
  return words.size() > 1 && slash_of(words[0]) == words[0].npos &&
         equals_ignoring_case(words[1], "PER");
}

RateWords cut_rate(Grammar::Rate kind, std::span<const std::string_view> words) {
  RateWords rate{.count = words[0]};
  const size_t slash = slash_of(words[0]);
  if (slash != words[0].npos) {
    rate.count = words[0].substr(0, slash);
    rate.period = words[0].substr(slash + 1);
    rate.has_period = true;
  } else if (kind != Grammar::Rate::kCount && is_per(words)) {
    rate.has_period = true;
    rate.words = std::min<size_t>(words.size(), 3);
    if (words.size() > 2) rate.period = words[2];
  }
  return rate;
}

// A number with a decimal point, as digits / 10^scale.
struct Decimal {
  int64_t digits = 0;
  int64_t power = 1;
};

std::optional<Decimal> parse_decimal(std::string_view text) {
  if (text.size() > 12) return std::nullopt;
  const size_t point = text.find('.');
  if (point == text.npos) return std::nullopt;
  std::string digits(text);
  digits.erase(point, 1);
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  Decimal decimal;
  for (size_t i = point + 1; i < text.size(); ++i) decimal.power *= 10;
  const auto value = parse_digits(digits);
  if (!value || *value == 0) return std::nullopt;
  decimal.digits = *value;
  return decimal;
}

// Writes a rate with a decimal point in whole numbers: "1/2s" for 0.5/1s. Nothing if it is not
// wrong in this way.
std::string without_points(const RateWords& rate) {
  std::string_view unit = rate.period;
  const std::string_view number = cut_number(&unit);
  const auto unit_ns = parse_unit(unit);
  const auto periods = number.empty() ? std::optional<int64_t>(1) : parse_digits(number);
  if (const auto count = parse_decimal(rate.count); count && unit_ns && periods) {
    if (*periods > kPeriodNsMax / *unit_ns / count->power) return {};
    const int64_t common = std::gcd(count->digits, count->power);
    return std::to_string(count->digits / common) + "/" +
           format_duration(*periods * *unit_ns * (count->power / common));
  }
  const auto period = parse_decimal(number);
  if (!period || !unit_ns || !parse_digits(rate.count)) return {};
  if (period->digits > kPeriodNsMax / *unit_ns) return {};
  const int64_t product = period->digits * *unit_ns;
  if (product % period->power != 0 || product / period->power % kPeriodNsMin != 0) return {};
  return std::string(rate.count) + "/" + format_duration(product / period->power);
}

// Writes a count as digits alone: "10000" for 10k, "1000000" for 1_000_000 and 1,000,000. Nothing
// if it is not wrong in this way.
std::string without_marks(std::string_view count) {
  std::string digits;
  for (const char c : count) {
    if (c != '_' && c != ',') digits.push_back(c);
  }
  const char last = digits.empty() ? '0' : digits.back();
  const size_t zeros = last == 'k' || last == 'K' ? 3 : last == 'm' || last == 'M' ? 6 : 0;
  if (zeros > 0) digits.replace(digits.size() - 1, 1, std::string(zeros, '0'));
  return digits != count && parse_digits(digits) ? digits : std::string();
}

bool names_calendar(std::string_view period) {
  cut_number(&period);
  return std::ranges::any_of(
      kCalendarNames, [&](std::string_view name) { return equals_ignoring_case(name, period); });
}

// Says what would be right, as near as can be to what was written.
std::string rate_form(Grammar::Rate kind, const RateWords& rate) {
  if (kind == Grammar::Rate::kCount) return "an integer";
  const std::string units =
      " (" + std::string(kUnitNames) + ", in lower case, or second minute hour day week)";
  const bool is_readable =
      rate.count.size() <= kNumberBytesMax && rate.period.size() <= kNumberBytesMax;
  if (rate.has_period && is_readable) {
    if (names_calendar(rate.period)) {
      return "count/period with a unit of fixed length; months are counted by FIXED, for example "
             "FIXED 100 ALIGN MONTH";
    }
    if (const std::string whole = without_points(rate); !whole.empty()) {
      return "in whole numbers: " + whole;
    }
    if (const std::string digits = without_marks(rate.count); !digits.empty())
      return "count/period with a count of digits alone: " + digits + "/" + shown(rate.period);
    if (const auto count = parse_digits(rate.count); count && *count < kLargest) {
      const auto number = parse_digits(rate.period);
      const std::string period = number && *number < kLargest ? shown(rate.period) : "1";
      return "count/period with a unit" + units + ", for example " + std::to_string(*count) + "/" +
             period + (number ? "s" : "m");
    }
  }
  return kind == Grammar::Rate::kEither
             ? "count/period, for example 100/1m, or an integer with ALIGN MINUTE to MONTH"
             : "count/period, for example 100/1m";
}

}  // namespace

std::optional<int64_t> parse_number(std::string_view text) {
  if (!text.starts_with('-')) return parse_digits(text);
  const auto digits = parse_digits(text.substr(1));
  if (!digits || *digits == 0) return std::nullopt;
  return -*digits;
}

std::optional<int64_t> parse_duration(std::string_view text) {
  if (text.size() > kNumberBytesMax) return std::nullopt;
  const size_t digits = std::min(text.find_first_not_of(kDigits), text.size());
  const auto number = parse_digits(text.substr(0, digits));
  const auto unit_ns = parse_unit(text.substr(digits));
  if (!number || !unit_ns) return std::nullopt;
  return *number > kLargest / *unit_ns ? kLargest : *number * *unit_ns;
}

std::optional<int64_t> parse_time(std::string_view text) {
  if (const auto duration = parse_duration(text)) return duration;
  const auto ms = parse_digits(text);
  if (!ms) return std::nullopt;
  return *ms > kLargest / kNsPerMs ? kLargest : *ms * kNsPerMs;
}

bool begins_rate(std::span<const std::string_view> words) {
  if (words.empty() || words[0].empty() || !is_digit(words[0][0])) return false;
  return slash_of(words[0]) != words[0].npos || is_per(words);
}

Result<size_t, RangeError> parse_rate(Grammar::Rate kind, std::span<const std::string_view> words,
                                      Written& written) {
  if (words.empty()) return RangeError{"rate", "nothing", rate_form(kind, {})};
  const RateWords rate = cut_rate(kind, words);
  const auto wrong = [&] {
    return RangeError{"rate", shown_together(words.first(rate.words)), rate_form(kind, rate)};
  };
  if (kind == Grammar::Rate::kPerPeriod && !rate.has_period) return wrong();
  if (kind == Grammar::Rate::kCount && rate.has_period) return wrong();
  const auto count = parse_number(rate.count);
  if (!count) return wrong();
  written.count = *count;
  if (!rate.has_period) return rate.words;
  const auto unit_ns = parse_unit(rate.period);
  written.period_ns = unit_ns ? unit_ns : parse_duration(rate.period);
  if (!written.period_ns) return wrong();
  if (*written.period_ns < kPeriodNsMin || *written.period_ns > kPeriodNsMax) {
    return RangeError{"period", shown(rate.period), between_durations(kPeriodNsMin, kPeriodNsMax)};
  }
  return rate.words;
}

}  // namespace weir::algorithms
