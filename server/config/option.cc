#include "server/config/option.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/ascii.h"
#include "base/check.h"
#include "resp/numbers.h"
#include "server/config/config_words.h"

namespace weir::server {
namespace {

constexpr size_t kAddressesMax = 16;
constexpr size_t kWordsPerClass = 4;  // class, hard, soft, seconds

using Words = std::span<const std::string>;

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

std::string join(Words words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string join_names(std::span<const std::string_view> names) {
  std::string text;
  for (std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::string octal(int64_t value) {
  char text[24];
  return {text, std::to_chars(text, text + sizeof text, value, 8).ptr};
}

std::optional<int64_t> parse_octal(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string number_range(const Number& number) {
  std::string min = std::to_string(number.min), max = std::to_string(number.max);
  if (number.unit == Unit::kOctal) min = octal(number.min), max = octal(number.max);
  if (number.unit == Unit::kBytesOrPercent) return "a size, or a share such as 50%";
  if (number.unit != Unit::kBytes) return "between " + min + " and " + max;
  min = format_size(number.min);
  if (number.max == INT64_MAX) return "a size of " + min + " or more";
  return "a size between " + min + " and " + format_size(number.max);
}

std::string accepted(const Flag&) { return "yes or no"; }
std::string accepted(const Number& number) { return number_range(number); }
std::string accepted(const Text&) { return "text"; }
std::string accepted(const Choice& choice) { return "one of " + join_names(choice.names); }
std::string accepted(const Addresses&) {
  return "at most " + std::to_string(kAddressesMax) + " addresses, such as 127.0.0.1 -::1";
}
std::string accepted(const Percentiles&) { return "numbers from 0 to 100, such as 50 99 99.9"; }
std::string accepted(const BufferLimits&) {
  return "normal, replica or pubsub, then hard limit, soft limit and seconds";
}
std::string accepted(const Fixed& fixed) { return printable(fixed.value); }

// The plain words are the same for all kinds.
template <class Kind>
Refusal refuse(const Kind& kind, const std::string& value, std::string redis) {
  return {std::move(redis), "must be " + accepted(kind) + ", got " + printable(value)};
}

Result<void, Refusal> parse(const Flag& flag, const std::string& value, Config* config) {
  bool yes = equals_ignoring_case(value, "yes");
  if (!yes && !equals_ignoring_case(value, "no")) {
    return refuse(flag, value, "argument must be 'yes' or 'no'");
  }
  config->*flag.field = yes;
  return {};
}

std::optional<int64_t> parse_size_or_percent(std::string_view text) {
  if (!text.ends_with('%')) return parse_size(text);
  const auto percent = resp::parse_int64(text.substr(0, text.size() - 1));
  return percent && *percent >= 0 ? std::optional(-*percent) : std::nullopt;
}

std::optional<int64_t> parse_number(Unit unit, std::string_view text) {
  switch (unit) {
    case Unit::kBytes:
      return parse_size(text);
    case Unit::kBytesOrPercent:
      return parse_size_or_percent(text);
    case Unit::kOctal:
      return parse_octal(text);
    case Unit::kPlain:
      return resp::parse_int64(text);
  }
  WEIR_REQUIRE(false);
}

std::string_view not_a_number(Unit unit) {
  if (unit == Unit::kBytes) return "argument must be a memory value";
  if (unit == Unit::kBytesOrPercent) return "argument must be a memory or percent value";
  if (unit == Unit::kOctal) return "argument couldn't be parsed as an octal number";
  return "argument couldn't be parsed into an integer";
}

Result<void, Refusal> parse(const Number& number, const std::string& value, Config* config) {
  std::optional<int64_t> parsed = parse_number(number.unit, value);
  if (!parsed) return refuse(number, value, std::string(not_a_number(number.unit)));
  if (*parsed < number.min || *parsed > number.max) {
    bool is_octal = number.unit == Unit::kOctal;
    return refuse(number, value,
                  "argument must be between " +
                      (is_octal ? octal(number.min) : std::to_string(number.min)) + " and " +
                      (is_octal ? octal(number.max) : std::to_string(number.max)) + " inclusive");
  }
  config->*number.field = *parsed;
  return {};
}

Result<void, Refusal> parse(const Text& text, std::string value, Config* config) {
  if (text.accept != nullptr) {
    if (auto accepted = text.accept(&value); !accepted) return accepted;
  }
  config->*text.field = std::move(value);
  return {};
}

Result<void, Refusal> parse(const Choice& choice, const std::string& value, Config* config) {
  for (size_t i = 0; i < choice.names.size(); ++i) {
    if (!equals_ignoring_case(value, choice.names[i])) continue;
    choice.set(config, i);
    return {};
  }
  return refuse(choice, value,
                "argument(s) must be one of the following: " + join_names(choice.names));
}

Result<void, Refusal> parse(const Fixed& fixed, const std::string& value, Config*) {
  if (equals_ignoring_case(value, fixed.value)) return {};
  std::string must = "must be " + printable(fixed.value);
  std::string why = ": " + std::string(fixed.why);
  return Refusal{.redis = "argument " + must + why,
                 .plain = must + ", got " + printable(value) + why};
}

// Tells whether a text has only characters of IPv4, IPv6 with a zone, host names, and the two
// prefixes.
bool looks_like_address(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) ||
           std::string_view(".:%_-*").find(c) != std::string_view::npos;
  });
}

Result<void, Refusal> parse_many(const Addresses& addresses, Words words, Config* config) {
  if (words.size() == 1 && words[0].empty()) words = {};  // bind "": no address
  if (words.size() > kAddressesMax) {
    return refuse(addresses, join(words), "Too many bind addresses specified.");
  }
  for (const std::string& word : words) {
    if (!looks_like_address(word)) return refuse(addresses, word, "Invalid bind address");
  }
  (config->*addresses.field).assign(words.begin(), words.end());
  return {};
}

Result<void, Refusal> parse_many(const Percentiles& percentiles, Words words, Config* config) {
  constexpr size_t kPercentilesMax = 64;
  if (words.size() == 1 && words[0].empty()) words = {};
  std::vector<std::string> values;
  for (const std::string& word : words) {
    const auto percent = resp::parse_double(word);
    if (!percent || words.size() > kPercentilesMax)
      return refuse(percentiles, word, "Invalid latency-tracking-info-percentiles parameters");
    if (!(*percent >= 0 && *percent <= 100)) {
      return refuse(percentiles, word,
                    "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]");
    }
    char text[32];
    // 99.9 stays 99.9, and does not become the nearest double.
    std::snprintf(text, sizeof text, "%.15g", *percent);
    values.emplace_back(text);
  }
  config->*percentiles.field = std::move(values);
  return {};
}

OutputBufferLimit* limit_of_class(OutputBufferLimits* limits, std::string_view name) {
  if (equals_ignoring_case(name, "normal")) return &limits->normal;
  if (equals_ignoring_case(name, "pubsub")) return &limits->pubsub;
  bool is_replica = equals_ignoring_case(name, "replica") || equals_ignoring_case(name, "slave");
  return is_replica ? &limits->replica : nullptr;
}

Result<void, Refusal> parse_many(const BufferLimits& kind, Words words, Config* config) {
  const std::string suffix = " in buffer limit configuration.";
  if (words.empty() || words.size() % kWordsPerClass != 0) {
    return refuse(kind, join(words), "Wrong number of arguments" + suffix);
  }
  OutputBufferLimits limits = config->*kind.field;
  for (; !words.empty(); words = words.subspan(kWordsPerClass)) {
    OutputBufferLimit* limit = limit_of_class(&limits, words[0]);
    if (limit == nullptr) {
      return refuse(kind, join(words), "Invalid client class specified" + suffix);
    }
    auto hard = parse_size(words[1]), soft = parse_size(words[2]);
    auto seconds = resp::parse_int64(words[3]);
    if (!hard || !soft || !seconds || *seconds < 0 || *seconds > INT32_MAX) {
      return refuse(kind, join(words), "Error in hard, soft or soft_seconds setting" + suffix);
    }
    *limit = {*hard, *soft, *seconds};
  }
  config->*kind.field = limits;
  return {};
}

// Kinds that take one word are parsed by parse(), the others by parse_many().
template <class Kind>
constexpr bool kTakesMany = std::is_same_v<Kind, Addresses> || std::is_same_v<Kind, Percentiles> ||
                            std::is_same_v<Kind, BufferLimits>;

template <class Kind>
Result<void, Refusal> parse_kind(const Kind& kind, Words words, Config* config) {
  if constexpr (kTakesMany<Kind>) {
    return parse_many(kind, words, config);
  } else if constexpr (std::is_same_v<Kind, Fixed>) {
    return parse(kind, join(words), config);  // the error of "save 3600 1" tells why, not how many
  } else {
    // The words are not shown: one of them may be a password.
    if (words.size() == 1) return parse(kind, words[0], config);
    return Refusal{.redis = "wrong number of arguments",
                   .plain = "takes one value, got " + std::to_string(words.size())};
  }
}

std::string limits_text(const OutputBufferLimits& limits) {
  std::string text;
  auto add = [&text](const char* name, const OutputBufferLimit& limit) {
    text += (text.empty() ? "" : " ") + std::string(name) + ' ' + std::to_string(limit.hard_bytes) +
            ' ' + std::to_string(limit.soft_bytes) + ' ' + std::to_string(limit.soft_seconds);
  };
  add("normal", limits.normal);
  add("slave", limits.replica);
  add("pubsub", limits.pubsub);
  return text;
}

}  // namespace

Result<void, Refusal> parse_words(const Option& option, Words words, Config* config) {
  return std::visit([&](const auto& kind) { return parse_kind(kind, words, config); }, option.kind);
}

bool takes_many_words(const Option& option) {
  return std::visit([]<class Kind>(const Kind&) { return kTakesMany<Kind>; }, option.kind);
}

std::string number_text(Unit unit, int64_t value) {
  if (unit == Unit::kOctal) return octal(value);
  if (unit == Unit::kBytesOrPercent && value < 0) return std::to_string(-value) + "%";
  return std::to_string(value);
}

std::string value_text(const Option& option, const Config& config) {
  return std::visit(
      Overloaded{[&](const Flag& kind) { return std::string(config.*kind.field ? "yes" : "no"); },
                 [&](const Number& kind) { return number_text(kind.unit, config.*kind.field); },
                 [&](const Text& kind) { return config.*kind.field; },
                 [&](const Choice& kind) { return std::string(kind.names[kind.get(config)]); },
                 [&](const Addresses& kind) { return join(config.*kind.field); },
                 [&](const Percentiles& kind) { return join(config.*kind.field); },
                 [&](const BufferLimits& kind) { return limits_text(config.*kind.field); },
                 [&](const Fixed& kind) { return std::string(kind.value); }},
      option.kind);
}

std::string file_text(const Option& option, const Config& config) {
  const Number* number = std::get_if<Number>(&option.kind);
  const bool is_size =
      number != nullptr && (number->unit == Unit::kBytes ||
                            (number->unit == Unit::kBytesOrPercent && config.*number->field >= 0));
  if (is_size) return format_size(config.*number->field);
  std::string text = value_text(option, config);
  return takes_many_words(option) && !text.empty() ? text : quote_word(text);
}

std::string accepted_text(const Option& option) {
  return std::visit([](const auto& kind) { return accepted(kind); }, option.kind);
}

}  // namespace weir::server
