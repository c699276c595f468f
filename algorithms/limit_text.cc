#include "algorithms/limit_text.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "algorithms/grammar.h"
#include "algorithms/limiter_record.h"
#include "algorithms/words.h"
#include "base/ascii.h"

namespace weir::algorithms {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

struct Unit {
  std::string_view name;
  int64_t ns;
};
constexpr Unit kUnits[] = {{"us", kNsPerUs},    {"ms", kNsPerMs},  {"s", kNsPerS},
                           {"m", kNsPerMinute}, {"h", kNsPerHour}, {"d", kNsPerDay},
                           {"w", 7 * kNsPerDay}};

// Reads digits without a superfluous leading zero; a number that is too large answers the largest.
std::optional<int64_t> parse_digits(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  if (!std::ranges::all_of(text, is_digit)) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? value : kLargest;
}

std::optional<int64_t> parse_number(std::string_view text) {
  if (!text.starts_with('-')) return parse_digits(text);
  const auto digits = parse_digits(text.substr(1));
  if (!digits || *digits == 0) return std::nullopt;
  return -*digits;
}

// Reads "+hh:mm" as minutes.
std::optional<int64_t> parse_utc_offset(std::string_view text) {
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return std::nullopt;
  int64_t digits = 0;
  for (const size_t at : {1u, 2u, 4u, 5u}) {
    if (text[at] < '0' || text[at] > '9') return std::nullopt;
    digits = digits * 10 + (text[at] - '0');
  }
  if (digits % 100 > 59) return std::nullopt;
  const int64_t minutes = digits / 100 * 60 + digits % 100;
  return text[0] == '-' ? -minutes : minutes;
}

std::optional<int64_t> parse_word(const Option& option, std::string_view text) {
  for (size_t i = 0; i < option.words.size(); ++i) {
    if (equals_ignoring_case(option.words[i], text)) return static_cast<int64_t>(i);
  }
  return std::nullopt;
}

std::optional<int64_t> parse_value(const Option& option, std::string_view text) {
  switch (option.kind) {
    case Option::Kind::kNumber:
      return parse_number(text);
    case Option::Kind::kDuration:
      return parse_duration(text);
    case Option::Kind::kWord:
      return parse_word(option, text);
    case Option::Kind::kUtcOffset:
      return parse_utc_offset(text);
  }
  return std::nullopt;
}

std::string form_of(const Option& option) {
  switch (option.kind) {
    case Option::Kind::kNumber:
      return "an integer";
    case Option::Kind::kDuration:
      return "an integer and a unit (us ms s m h d w)";
    case Option::Kind::kWord:
      return list_of(option.words);
    case Option::Kind::kUtcOffset:
      return "+hh:mm or -hh:mm";
  }
  return {};
}

constexpr std::string_view kRateForms[] = {
    "count/duration, for example 100/1m", "an integer",
    "count/duration, for example 100/1m, or an integer with ALIGN MINUTE to MONTH"};

Result<void, RangeError> parse_rate(const Grammar& grammar, std::string_view text,
                                    Written& written) {
  const std::string_view form = kRateForms[static_cast<size_t>(grammar.rate)];
  const RangeError wrong{"rate", shown(text), std::string(form)};
  const size_t slash = text.find('/');
  const bool has_period = slash != std::string_view::npos;
  if (grammar.rate == Grammar::Rate::kPerPeriod && !has_period) return wrong;
  if (grammar.rate == Grammar::Rate::kCount && has_period) return wrong;
  const auto count = parse_number(text.substr(0, slash));
  if (!count) return wrong;
  written.count = *count;
  if (!has_period) return {};
  std::string duration(text.substr(slash + 1));
  if (!duration.empty() && (duration[0] < '0' || duration[0] > '9')) duration.insert(0, "1");
  written.period_ns = parse_duration(duration);
  if (!written.period_ns) return wrong;
  if (*written.period_ns < kPeriodNsMin || *written.period_ns > kPeriodNsMax) {
    return RangeError{"period", shown(text.substr(slash + 1)),
                      between_durations(kPeriodNsMin, kPeriodNsMax)};
  }
  return {};
}

// Reads the words of one limit after its name.
class LimitReader {
 public:
  explicit LimitReader(const Algorithm& algorithm)
      : algorithm_(algorithm), grammar_(*algorithm.grammar) {}

  // Answers how many words were taken.
  Result<size_t, RangeError> read(std::span<const std::string_view> words) {
    if (words.empty()) return RangeError{"rate", "nothing", std::string(rate_form())};
    if (const auto rate = parse_rate(grammar_, words[0], written_); !rate) return rate.error();
    size_t at = 1;
    for (; at < words.size(); at += 2) {
      const size_t option = find(words[at]);
      if (option == grammar_.options.size()) break;
      const std::string_view value = at + 1 < words.size() ? words[at + 1] : std::string_view();
      if (const auto taken = set(option, value, at + 1 < words.size()); !taken)
        return taken.error();
    }
    return at;
  }

  Result<Limit, RangeError> finish() const {
    for (size_t i = 0; i < grammar_.options.size(); ++i) {
      if (!grammar_.options[i].required || written_.values[i]) continue;
      return RangeError{std::string(grammar_.options[i].name), "nothing",
                        "given: " + form_of(grammar_.options[i])};
    }
    LimitSpec spec{.algorithm = &algorithm_, .count = written_.count};
    if (const auto made = grammar_.to_spec(written_, spec); !made) return as_given(made.error());
    auto limit = make_limit(spec);
    if (!limit) return as_given(limit.error());
    return *limit;
  }

 private:
  std::string_view rate_form() const { return kRateForms[static_cast<size_t>(grammar_.rate)]; }

  size_t find(std::string_view word) const {
    size_t i = 0;
    while (i < grammar_.options.size() && !equals_ignoring_case(grammar_.options[i].name, word))
      ++i;
    return i;
  }

  Result<void, RangeError> set(size_t index, std::string_view text, bool there) {
    const Option& option = grammar_.options[index];
    const std::string name(option.name);
    if (!there) return RangeError{name, "nothing", form_of(option)};
    if (written_.values[index]) return RangeError{name, shown(text), "given once"};
    written_.values[index] = parse_value(option, text);
    given_[index] = text;
    if (!written_.values[index]) return RangeError{name, shown(text), form_of(option)};
    return {};
  }

  // Makes a range's error show the value as it was written, not as it was understood.
  RangeError as_given(RangeError error) const {
    for (size_t i = 0; i < grammar_.options.size(); ++i) {
      if (error.argument == grammar_.options[i].name && written_.values[i]) {
        error.given = shown(given_[i]);
      }
    }
    return error;
  }

  const Algorithm& algorithm_;
  const Grammar& grammar_;
  Written written_;
  std::array<std::string_view, kOptionsMax> given_;
};

std::string in_limit(size_t number, const Algorithm& algorithm, const RangeError& error) {
  return "limit " + std::to_string(number) + " (" + std::string(algorithm.name) +
         "): " + error.text();
}

std::string format_value(const Option& option, int64_t value) {
  switch (option.kind) {
    case Option::Kind::kNumber:
      return std::to_string(value);
    case Option::Kind::kDuration:
      return format_duration(value);
    case Option::Kind::kWord:
      return std::string(option.words[static_cast<size_t>(value)]);
    case Option::Kind::kUtcOffset:
      break;
  }
  const auto two_digits = [](int64_t number) {
    return std::string{static_cast<char>('0' + number / 10), static_cast<char>('0' + number % 10)};
  };
  const int64_t minutes = value < 0 ? -value : value;
  return (value < 0 ? "-" : "+") + two_digits(minutes / 60) + ":" + two_digits(minutes % 60);
}

std::string form_of_value(const Option& option) {
  switch (option.kind) {
    case Option::Kind::kNumber:
      return "n";
    case Option::Kind::kDuration:
      return "duration";
    case Option::Kind::kUtcOffset:
      return "+hh:mm";
    case Option::Kind::kWord:
      break;
  }
  std::string text;
  for (const std::string_view word : option.words) {
    if (!text.empty()) text += '|';
    text += word;
  }
  return text;
}

// Finds the option without which limits of this algorithm may take no bookings: " with REFILL
// GREEDY". Empty if no word of any option decides it.
std::string option_that_books(const Algorithm& algorithm) {
  for (const Option& option : algorithm.grammar->options) {
    for (const std::string_view value : option.words) {
      const std::string_view words[] = {algorithm.name, "1/1s", option.name, value};
      const auto parsed = parse_limits(words);
      if (!parsed || parsed->limits.size() != 1 || !can_reserve(parsed->limits[0])) continue;
      return " with " + std::string(option.name) + " " + std::string(value);
    }
  }
  return {};
}

}  // namespace

std::optional<int64_t> parse_duration(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of(kDigits), text.size());
  const auto number = parse_digits(text.substr(0, digits));
  if (!number) return std::nullopt;
  for (const Unit& unit : kUnits) {
    if (text.substr(digits) != unit.name) continue;
    return *number > kLargest / unit.ns ? kLargest : *number * unit.ns;
  }
  return std::nullopt;
}

Result<ParsedLimits, std::string> parse_limits(std::span<const std::string_view> words) {
  ParsedLimits parsed;
  while (parsed.words < words.size()) {
    const Algorithm* algorithm = find_algorithm(words[parsed.words]);
    if (algorithm == nullptr) break;
    const size_t number = parsed.limits.size();
    if (number == kLimitsMax) return "at most " + std::to_string(kLimitsMax) + " limits";
    LimitReader reader(*algorithm);
    const auto taken = reader.read(words.subspan(parsed.words + 1));
    if (!taken) return in_limit(number, *algorithm, taken.error());
    const auto limit = reader.finish();
    if (!limit) return in_limit(number, *algorithm, limit.error());
    parsed.limits.push_back(*limit);
    parsed.words += 1 + *taken;
  }
  return parsed;
}

std::string format_limit(const Limit& limit) {
  const Grammar& grammar = *limit.algorithm->grammar;
  const Written written = grammar.to_written(limit);
  std::string text = std::string(limit.algorithm->name) + " " + std::to_string(written.count);
  if (written.period_ns) text += "/" + format_duration(*written.period_ns);
  for (size_t i = 0; i < grammar.options.size(); ++i) {
    if (!written.values[i]) continue;
    text.append(" ").append(grammar.options[i].name).append(" ");
    text += format_value(grammar.options[i], *written.values[i]);
  }
  return text;
}

std::string format_limits(std::span<const Limit> limits) {
  std::string text;
  for (const Limit& limit : limits) {
    if (!text.empty()) text += ' ';
    text += format_limit(limit);
  }
  return text;
}

std::string algorithm_names() {
  std::vector<std::string_view> names;
  for (const Algorithm* algorithm : all_algorithms()) names.push_back(algorithm->name);
  return list_of(names);
}

std::string option_names(const Algorithm& algorithm) {
  std::vector<std::string_view> names;
  for (const Option& option : algorithm.grammar->options) names.push_back(option.name);
  return list_of(names);
}

std::string grammar_text(const Algorithm& algorithm) {
  const Grammar& grammar = *algorithm.grammar;
  std::string text(algorithm.name);
  text += grammar.rate == Grammar::Rate::kPerPeriod ? " count/period"
          : grammar.rate == Grammar::Rate::kEither  ? " count[/period]"
                                                    : " count";
  for (const Option& option : grammar.options) {
    const std::string words = std::string(option.name) + " " + form_of_value(option);
    text += option.required ? " " + words : " [" + words + "]";
  }
  return text;
}

std::string bookable_names() {
  std::vector<std::string> names;
  for (const Algorithm* algorithm : all_algorithms()) {
    if (algorithm->reserve == nullptr) continue;
    names.push_back(std::string(algorithm->name));
    if (algorithm->reserves != nullptr) names.back() += option_that_books(*algorithm);
  }
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 < names.size() ? ", " : " and ";
    text += names[i];
  }
  return text;
}

}  // namespace weir::algorithms
