#include "algorithms/limit_text.h"

#include <algorithm>

#include "algorithms/adaptive.h"
#include "algorithms/ban.h"
#include "algorithms/gcra.h"
#include "algorithms/grammar.h"
#include "algorithms/limiter_record.h"
#include "algorithms/rate_text.h"
#include "algorithms/words.h"
#include "base/ascii.h"

namespace weir::algorithms {
namespace {

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

std::optional<int64_t> parse_value(const Option& option, BareTimes bare_times,
                                   std::string_view text) {
  switch (option.kind) {
    case Option::Kind::kNumber:
      return parse_number(text);
    case Option::Kind::kDuration:
      return parse_duration(text);
    case Option::Kind::kLease:
      return bare_times == BareTimes::kRefused ? parse_duration(text) : parse_time(text);
    case Option::Kind::kWord:
      return parse_word(option, text);
    case Option::Kind::kUtcOffset:
      return parse_utc_offset(text);
    case Option::Kind::kZone:
      break;  // LimitReader::set_zone()
  }
  return std::nullopt;
}

std::string form_of(const Option& option) {
  switch (option.kind) {
    case Option::Kind::kNumber:
      return "an integer";
    case Option::Kind::kDuration:
    case Option::Kind::kLease:
      return std::string(kDurationForm);
    case Option::Kind::kWord:
      return list_of(option.words);
    case Option::Kind::kUtcOffset:
      return "+hh:mm or -hh:mm";
    case Option::Kind::kZone:
      return "the name of a time zone";
  }
  return {};
}

// Reads the words of one limit after its name.
class LimitReader {
 public:
  LimitReader(const Algorithm& algorithm, const Zones* zones, BareTimes bare_times)
      : algorithm_(algorithm),
        grammar_(*algorithm.grammar),
        zones_(zones),
        bare_times_(bare_times) {}

  // Answers how many words were taken.
  Result<size_t, RangeError> read(std::span<const std::string_view> words) {
    const auto rate = parse_rate(grammar_.rate, words, written_);
    if (!rate) return rate.error();
    size_t at = *rate;
    for (; at < words.size(); at += 2) {
      if (begins_ban(words.subspan(at))) {
        if (ban_.is_set()) return RangeError{"BAN", shown(words[at]), "given once"};
        const auto ban = parse_ban(words.subspan(at));
        if (!ban) return ban.error();
        ban_ = *ban;
        at += kBanWords - 2;
        continue;
      }
      if (takes_adaptive(words.subspan(at))) {
        if (adaptive_.is_set()) return RangeError{"ADAPTIVE", shown(words[at]), "given once"};
        const auto taken = parse_adaptive(words.subspan(at), adaptive_);
        if (!taken) return taken.error();
        at += *taken - 2;
        continue;
      }
      const size_t option = find(words[at]);
      if (option == grammar_.options.size()) break;
      const std::string_view value = at + 1 < words.size() ? words[at + 1] : std::string_view();
      if (const auto taken = set(option, value, at + 1 < words.size()); !taken)
        return taken.error();
    }
    if (at < words.size()) follows_ = words[at];
    return read_name(words, at);
  }

  const std::string& name() const { return name_; }

  Result<Limit, RangeError> finish() const {
    for (size_t i = 0; i < grammar_.options.size(); ++i) {
      if (!grammar_.options[i].required || written_.values[i]) continue;
      return RangeError{std::string(grammar_.options[i].name),
                        follows_.empty() ? "nothing" : shown(follows_),
                        "given: " + form_of(grammar_.options[i])};
    }
    LimitSpec spec{.algorithm = &algorithm_, .count = written_.count};
    if (const auto made = grammar_.to_spec(written_, spec); !made) return as_given(made.error());
    auto limit = make_limit(spec);
    if (!limit) return as_given(limit.error());
    if (adaptive_.is_set()) limit = make_adaptive(*limit, adaptive_);
    if (!limit) return limit.error();
    limit->ban = ban_;
    return *limit;
  }

 private:
  // Answers how many words were taken with the name's, if there is one.
  Result<size_t, RangeError> read_name(std::span<const std::string_view> words, size_t at) {
    if (at == words.size() || !equals_ignoring_case(words[at], "AS")) return at;
    const std::string_view name = at + 1 < words.size() ? words[at + 1] : std::string_view();
    if (!is_name(name)) {
      return RangeError{"AS", at + 1 < words.size() ? shown(name) : "nothing",
                        "followed by a name of 1 to " + std::to_string(kLimitNameBytesMax) +
                            " letters, digits, _ . or -"};
    }
    name_ = name;
    at += 2;
    if (at < words.size() &&
        (find(words[at]) < grammar_.options.size() || equals_ignoring_case(words[at], "AS") ||
         begins_ban(words.subspan(at)) || takes_adaptive(words.subspan(at)))) {
      return RangeError{"AS", shown(words[at]) + "' after AS '" + name_,
                        "the last option of its limit, and given once"};
    }
    return at;
  }

  bool takes_adaptive(std::span<const std::string_view> words) const {
    return algorithm_.resized != nullptr && begins_adaptive(words);
  }

  static bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= kLimitNameBytesMax &&
           std::ranges::all_of(text, [](char c) {
             return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '-';
           });
  }

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
    given_[index] = text;
    if (option.kind == Option::Kind::kZone) return set_zone(index, text);
    written_.values[index] = parse_value(option, bare_times_, text);
    if (!written_.values[index]) return RangeError{name, shown(text), form_of(option)};
    return {};
  }

  Result<void, RangeError> set_zone(size_t index, std::string_view name) {
    if (zones_ != nullptr) written_.zone = zones_->find(name);
    if (written_.zone == nullptr) {
      return RangeError{std::string(grammar_.options[index].name), shown(name),
                        zones_ == nullptr ? "left out here" : zones_->accepted()};
    }
    written_.values[index] = 0;
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
  const Zones* zones_;
  BareTimes bare_times_;
  Written written_;
  std::array<std::string_view, kOptionsMax> given_;
  std::string_view follows_;  // the options
  Ban ban_;
  Adaptive adaptive_;
  std::string name_;
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
    case Option::Kind::kLease:
      return format_duration(value);
    case Option::Kind::kWord:
      return std::string(option.words[static_cast<size_t>(value)]);
    case Option::Kind::kUtcOffset:
    case Option::Kind::kZone:
      break;
  }
  const auto two_digits = [](int64_t number) {
    return std::string{static_cast<char>('0' + number / 10), static_cast<char>('0' + number % 10)};
  };
  const int64_t minutes = value < 0 ? -value : value;
  return (value < 0 ? "-" : "+") + two_digits(minutes / 60) + ":" + two_digits(minutes % 60);
}

}  // namespace

Result<ParsedLimits, std::string> parse_limits(std::span<const std::string_view> words,
                                               size_t before, const Zones* zones,
                                               BareTimes bare_times) {
  ParsedLimits parsed;
  while (parsed.words < words.size()) {
    const auto rest = words.subspan(parsed.words);
    const Algorithm* named = find_algorithm(rest[0]);
    const Algorithm* algorithm = named == nullptr && begins_rate(rest) ? &algorithm_gcra : named;
    if (algorithm == nullptr) break;
    const size_t name_words = named == nullptr ? 0 : 1;
    const size_t number = before + parsed.limits.size();
    if (number == kLimitsMax) return "at most " + std::to_string(kLimitsMax) + " limits";
    LimitReader reader(*algorithm, zones, bare_times);
    const auto taken = reader.read(rest.subspan(name_words));
    if (!taken) return in_limit(number, *algorithm, taken.error());
    const auto limit = reader.finish();
    if (!limit) return in_limit(number, *algorithm, limit.error());
    parsed.limits.push_back(*limit);
    parsed.words += name_words + *taken;
    if (!reader.name().empty()) {
      parsed.names.resize(parsed.limits.size());
      parsed.names.back() = reader.name();
    }
  }
  if (!parsed.names.empty()) parsed.names.resize(parsed.limits.size());
  return parsed;
}

bool begins_limit(std::span<const std::string_view> words) {
  return !words.empty() && (find_algorithm(words[0]) != nullptr || begins_rate(words));
}

std::string format_limit(const Limit& limit, LimitStyle style) {
  const Grammar& grammar = *limit.algorithm->grammar;
  const Written written = grammar.to_written(as_written(limit));
  std::string text = std::string(limit.algorithm->name) + " " + std::to_string(written.count);
  if (written.period_ns) text += "/" + format_duration(*written.period_ns);
  for (size_t i = 0; i < grammar.options.size(); ++i) {
    if (!written.values[i] || (written.implied[i] && style == LimitStyle::kShort)) continue;
    text.append(" ").append(grammar.options[i].name).append(" ");
    const bool zone = grammar.options[i].kind == Option::Kind::kZone;
    text += zone ? written.zone->name() : format_value(grammar.options[i], *written.values[i]);
  }
  if (limit.adaptive.is_set()) text += " " + format_adaptive(limit.adaptive);
  return text;
}

std::string format_with_ban(const Limit& limit, LimitStyle style) {
  std::string text = format_limit(limit, style);
  if (limit.ban.is_set()) text += " " + format_ban(limit.ban);
  return text;
}

std::string format_limits(std::span<const Limit> limits, std::span<const std::string> names,
                          LimitStyle style) {
  std::string text;
  for (size_t i = 0; i < limits.size(); ++i) {
    if (i > 0) text += ' ';
    text += format_with_ban(limits[i], style);
    if (!names.empty() && !names[i].empty()) text += " AS " + names[i];
  }
  return text;
}

std::string limit_name(std::span<const std::string> names, const Limit& limit, size_t number) {
  if (number < names.size() && !names[number].empty()) return names[number];
  return to_lower(limit.algorithm->name) + std::to_string(number);
}

Result<void, std::string> check_names(std::span<const std::string> names,
                                      std::span<const Limit> limits) {
  if (names.empty()) return {};
  for (size_t i = 0; i < limits.size(); ++i) {
    const std::string name = limit_name(names, limits[i], i);
    for (size_t j = 0; j < i; ++j) {
      if (limit_name(names, limits[j], j) != name) continue;
      return "limit " + std::to_string(j) + " and limit " + std::to_string(i) +
             " are both called '" + name + "'";
    }
  }
  return {};
}

}  // namespace weir::algorithms
