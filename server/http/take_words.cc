#include "server/http/take_words.h"

#include <algorithm>
#include <string_view>

#include "algorithms/words.h"
#include "base/ascii.h"

namespace weir::server::http {
namespace {

bool is_named(const Parameter& parameter, std::string_view name) {
  return equals_ignoring_case(parameter.name, name);
}

const Parameter* find_twice(const Parameters& parameters) {
  for (auto next = parameters.begin(); next != parameters.end(); ++next) {
    const bool is_twice = std::any_of(parameters.begin(), next, [next](const Parameter& earlier) {
      return is_named(earlier, next->name);
    });
    if (is_twice) return &*next;
  }
  return nullptr;
}

// What comes before all options, and is answered in any case.
bool is_option(const Parameter& parameter) {
  constexpr std::string_view kOthers[] = {"key", "policy", "limits", "full", "headers"};
  return std::none_of(std::begin(kOthers), std::end(kOthers),
                      [&](std::string_view other) { return is_named(parameter, other); });
}

}  // namespace

std::optional<std::string> fault_of_names(const Parameters& parameters) {
  if (parameters.size() > kParametersMax)
    return "ERR more than " + std::to_string(kParametersMax) + " names are given";
  if (const Parameter* twice = find_twice(parameters))
    return "ERR " + algorithms::shown(twice->name) + " is given twice";
  return std::nullopt;
}

Result<std::vector<std::string>, std::string> take_words(const Parameters& parameters) {
  if (auto fault = fault_of_names(parameters)) return std::move(*fault);
  std::vector<std::string> words = {"RL.TAKE", ""};
  bool has_key = false;
  for (const Parameter& parameter : parameters) {
    const std::string value = parameter.value.value_or("");
    if (is_named(parameter, "key")) {
      has_key = true;
      words[1] = value;
    } else if (is_named(parameter, "policy")) {
      words.insert(words.end(), {"POLICY", value});
    } else if (is_named(parameter, "limits")) {
      for (const std::string_view word : split_at_spaces(value)) words.emplace_back(word);
    }
  }
  if (!has_key) return std::string("ERR key must be given");
  if (words.size() == 2) return std::string("ERR policy or limits must be given");
  for (const Parameter& parameter : parameters) {
    if (!is_option(parameter)) continue;
    words.push_back(to_upper(parameter.name));
    if (parameter.value) words.push_back(*parameter.value);
  }
  words.emplace_back("HEADERS");
  return words;
}

}  // namespace weir::server::http
