#include "server/http/gate_keys.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "algorithms/limiter_record.h"
#include "algorithms/words.h"
#include "base/ascii.h"
#include "resp/numbers.h"
#include "server/http/client_address.h"

namespace weir::server::http {
namespace {

constexpr std::string_view kHeaderSuffix = "-header";
constexpr size_t kKeysMax = algorithms::kLimitsMax;  // of RL.MTAKE

// A name without its number: key.2 is key of the second key.
struct NumberedName {
  std::string base;  // in lower case
  size_t number = 1;

  std::string text() const { return number == 1 ? base : base + "." + std::to_string(number); }
};

Result<NumberedName, std::string> numbered_name(std::string_view name) {
  const size_t dot = name.rfind('.');
  const std::string_view digits = dot == name.npos ? "" : name.substr(dot + 1);
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit))
    return NumberedName{.base = to_lower(name)};
  const auto number = resp::parse_int64(digits);
  if (!number || *number < 2 || *number > static_cast<int64_t>(kKeysMax) || digits[0] == '0') {
    return "ERR a name ends with the number of its key, .2 to ." + std::to_string(kKeysMax) +
           ", got '" + algorithms::shown(name) + "'";
  }
  return NumberedName{.base = to_lower(name.substr(0, dot)),
                      .number = static_cast<size_t>(*number)};
}

// What is said of one key before its field is read.
struct KeySource {
  std::string beginning;
  std::optional<std::string> field;
  std::optional<int> ipv4;
  std::optional<int> ipv6;
};
using KeySources = std::map<size_t, KeySource>;

Result<int, std::string> bits_of(const NumberedName& name, std::string_view text) {
  const int64_t most = name.base == "key-ipv4" ? 32 : 128;
  const auto bits = resp::parse_int64(text);
  if (bits && *bits >= 1 && *bits <= most) return static_cast<int>(*bits);
  return "ERR " + name.text() + " must be how many bits of an address are kept, 1 to " +
         std::to_string(most) + ", got '" + algorithms::shown(text) + "'";
}

// Tells whether the parameter belongs to a key's source, which it is put into then.
Result<bool, std::string> take_source(const NumberedName& name, const std::string& value,
                                      KeySources* sources) {
  if (name.base == "key") {
    (*sources)[name.number].beginning = value;
  } else if (name.base == "key-header") {
    (*sources)[name.number].field = value;
  } else if (name.base == "key-ipv4" || name.base == "key-ipv6") {
    const auto bits = bits_of(name, value);
    if (!bits) return bits.error();
    KeySource& source = (*sources)[name.number];
    (name.base == "key-ipv4" ? source.ipv4 : source.ipv6) = *bits;
  } else {
    return false;
  }
  return true;
}

// Tells whether the two keys may come to be the same, whatever the values of their fields.
bool begin_alike(const KeySource& one, const KeySource& other) {
  return one.beginning == other.beginning ||
         (one.field && other.beginning.starts_with(one.beginning)) ||
         (other.field && one.beginning.starts_with(other.beginning));
}

Result<void, std::string> check_sources(const KeySources& sources) {
  for (auto each = sources.begin(); each != sources.end(); ++each) {
    const auto& [number, source] = *each;
    if ((source.ipv4 || source.ipv6) && !source.field) {
      const NumberedName name{.base = source.ipv6 ? "key-ipv6" : "key-ipv4", .number = number};
      const NumberedName field{.base = "key-header", .number = number};
      return "ERR " + name.text() + " is about the address in a field: " + field.text() +
             " must be given";
    }
    const auto other = std::find_if(sources.begin(), each, [each](const auto& before) {
      return begin_alike(before.second, each->second);
    });
    if (other == each) continue;
    const NumberedName first{.base = "key", .number = other->first};
    const NumberedName second{.base = "key", .number = number};
    return "ERR " + first.text() + " and " + second.text() +
           " begin alike: each key needs a beginning of its own, such as ip: and net:";
  }
  return {};
}

std::string key_from(const KeySource& source, Fields fields) {
  if (!source.field) return source.beginning;
  const std::string value = combined(fields, *source.field).value_or("");
  if (!source.ipv4 && !source.ipv6) return source.beginning + value;
  const AddressBits whole;
  return source.beginning + client_address(value, {.ipv4 = source.ipv4.value_or(whole.ipv4),
                                                   .ipv6 = source.ipv6.value_or(whole.ipv6)});
}

// A key with the words of its limits.
struct AskedKey {
  std::optional<std::string> key;
  std::vector<std::string> limits;
};

using AskedKeys = std::map<size_t, AskedKey>;

Result<void, std::string> check_given(const AskedKeys& keys) {
  for (const auto& [number, asked] : keys) {
    const auto named = [number = number](const char* base) {
      return NumberedName{.base = base, .number = number}.text();
    };
    if (!asked.key) return "ERR " + named("key") + " must be given";
    if (asked.limits.empty())
      return "ERR " + named("policy") + " or " + named("limits") + " must be given";
  }
  return {};
}

// Answers the words of RL.TAKE or RL.MTAKE up to its options.
std::vector<std::string> words_before_options(const AskedKeys& keys) {
  const bool are_several = keys.rbegin()->first > 1;
  std::vector<std::string> words = {"RL.TAKE"};
  if (are_several) words = {"RL.MTAKE", std::to_string(keys.size())};
  for (const auto& [number, asked] : keys) words.push_back(*asked.key);
  for (const auto& [number, asked] : keys) {
    if (are_several) words.emplace_back("EACH");
    words.insert(words.end(), asked.limits.begin(), asked.limits.end());
  }
  return words;
}

const Parameter* find_twice(const Parameters& parameters) {
  for (auto next = parameters.begin(); next != parameters.end(); ++next) {
    const bool is_twice = std::any_of(parameters.begin(), next, [next](const Parameter& earlier) {
      return equals_ignoring_case(earlier.name, next->name);
    });
    if (is_twice) return &*next;
  }
  return nullptr;
}

}  // namespace

std::optional<std::string> fault_of_names(const Parameters& parameters) {
  if (parameters.size() > kParametersMax)
    return "ERR more than " + std::to_string(kParametersMax) + " names are given";
  if (const Parameter* twice = find_twice(parameters))
    return "ERR " + algorithms::shown(twice->name) + " is given twice";
  return std::nullopt;
}

Result<Parameters, std::string> with_values_of_fields(const Parameters& given, Fields fields) {
  Parameters parameters;
  KeySources sources;
  for (const Parameter& parameter : given) {
    const auto name = numbered_name(parameter.name);
    if (!name) return name.error();
    const std::string value = parameter.value.value_or("");
    const auto is_of_key = take_source(*name, value, &sources);
    if (!is_of_key) return is_of_key.error();
    if (*is_of_key) continue;
    if (!name->base.ends_with(kHeaderSuffix)) {
      parameters.push_back({.name = name->text(), .value = parameter.value});
    } else if (auto of_field = combined(fields, value)) {
      NumberedName of = *name;
      of.base.resize(of.base.size() - kHeaderSuffix.size());
      parameters.push_back({.name = of.text(), .value = std::move(of_field)});
    }
  }
  if (const auto checked = check_sources(sources); !checked) return checked.error();
  for (const auto& [number, source] : sources) {
    parameters.push_back({.name = NumberedName{.base = "key", .number = number}.text(),
                          .value = key_from(source, fields)});
  }
  return parameters;
}

Result<std::vector<std::string>, std::string> words_of_keys(const Parameters& parameters) {
  // A value and the field that is to have it may both be given: cost and cost-header.
  if (auto fault = fault_of_names(parameters)) return std::move(*fault);
  AskedKeys keys;
  std::vector<std::string> options;
  for (const Parameter& parameter : parameters) {
    const auto name = numbered_name(parameter.name);
    if (!name) return name.error();
    const std::string value = parameter.value.value_or("");
    if (name->base == "key") {
      keys[name->number].key = value;
    } else if (name->base == "policy") {
      std::vector<std::string>& limits = keys[name->number].limits;
      limits.insert(limits.end(), {"POLICY", value});
    } else if (name->base == "limits") {
      std::vector<std::string>& limits = keys[name->number].limits;
      for (const std::string_view word : split_at_spaces(value)) limits.emplace_back(word);
    } else if (name->number != 1) {
      return "ERR only key, policy, limits and what tells of a key have a number, got '" +
             algorithms::shown(parameter.name) + "'";
    } else if (name->base != "full" && name->base != "headers") {
      options.push_back(to_upper(name->base));
      if (parameter.value) options.push_back(value);
    }
  }
  if (keys.empty()) keys[1] = {};
  if (const auto given = check_given(keys); !given) return given.error();
  std::vector<std::string> words = words_before_options(keys);
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("HEADERS");
  return words;
}

}  // namespace weir::server::http
