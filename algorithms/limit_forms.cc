// What error messages, hints and docs say of algorithms and of the forms of their limits.
#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/grammar.h"
#include "algorithms/limit_text.h"
#include "algorithms/words.h"
#include "base/ascii.h"

namespace weir::algorithms {
namespace {

std::string form_of_value(const Option& option) {
  switch (option.kind) {
    case Option::Kind::kNumber:
      return "n";
    case Option::Kind::kDuration:
    case Option::Kind::kLease:
      return "duration";
    case Option::Kind::kUtcOffset:
      return "+hh:mm";
    case Option::Kind::kZone:
      return "name";
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

std::string algorithm_names() {
  std::vector<std::string_view> names;
  for (const Algorithm* algorithm : all_algorithms()) names.push_back(algorithm->name);
  return list_of(names);
}

std::string option_names(const Algorithm& algorithm) {
  std::vector<std::string_view> names;
  for (const Option& option : algorithm.grammar->options) names.push_back(option.name);
  if (algorithm.resized != nullptr) names.push_back("ADAPTIVE");
  names.push_back("BAN");
  names.push_back("AS");
  return list_of(names);
}

std::string names_with_option(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Algorithm* algorithm : all_algorithms()) {
    const auto& options = algorithm->grammar->options;
    const bool adapts = algorithm->resized != nullptr && equals_ignoring_case("ADAPTIVE", name);
    if (adapts || std::ranges::any_of(options, [&](const Option& option) {
          return equals_ignoring_case(option.name, name);
        })) {
      names.push_back(algorithm->name);
    }
  }
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
  if (algorithm.resized != nullptr) text += " [ADAPTIVE min..max [SLOW time]]";
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
