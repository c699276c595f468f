// Requests made of what rows and algorithms say of themselves: their usage and their grammar. A new
// command, option or algorithm has its requests by itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "algorithms/algorithm.h"
#include "algorithms/grammar.h"
#include "server/command/command.h"
#include "server/command/usage.h"
#include "server/commands/command_lists.h"

namespace weir::server {

using Words = std::vector<std::string>;

inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// What stands for an argument.
inline std::string example_word(const UsageArgument& argument) {
  const std::string& name = argument.name;
  if (argument.kind == UsageKind::kKey) return "k";
  if (argument.kind == UsageKind::kInteger || argument.kind == UsageKind::kDouble) return "1";
  if (argument.kind == UsageKind::kUnixTime) return "99999999999";
  if (name == "n" || name == "id" || name == "cost" || name.starts_with("count")) return "1";
  if (name == "time" || name == "d" || name == "w") return "1s";
  if (name == "mode") return "RESET";
  if (name == "limits") return "10/1h";
  return "x";
}

// The words of one argument, in each of the forms that it may have.
inline std::vector<Words> examples_of(const UsageArgument& argument);

// The arguments that must be there, then the same with each other one.
inline std::vector<Words> examples_of(const std::vector<UsageArgument>& arguments) {
  std::vector<Words> made(1);
  for (const UsageArgument& argument : arguments) {
    if (argument.optional) continue;
    std::vector<Words> longer;
    for (const Words& words : made) {
      for (const Words& more : examples_of(argument)) longer.push_back(words + more);
    }
    made = std::move(longer);
  }
  for (const UsageArgument& argument : arguments) {
    if (!argument.optional) continue;
    for (const Words& more : examples_of(argument)) made.push_back(made.front() + more);
  }
  return made;
}

inline std::vector<Words> examples_of(const UsageArgument& argument) {
  std::vector<Words> made;
  if (argument.kind == UsageKind::kPureToken) {
    made = {{}};
  } else if (argument.kind == UsageKind::kOneOf) {
    for (const UsageArgument& choice : argument.arguments) {
      for (Words& words : examples_of(choice)) made.push_back(std::move(words));
    }
  } else if (argument.kind == UsageKind::kBlock) {
    made = examples_of(argument.arguments);
  } else {
    made = {{example_word(argument)}};
  }
  if (argument.token.empty()) return made;
  for (Words& words : made) words.insert(words.begin(), argument.token);
  return made;
}

// Those that are no containers of subcommands.
inline std::vector<Command> runnable_commands() {
  std::vector<Command> commands;
  for (const Commands list : command_lists()) {
    for (const Command& command : list) {
      if (command.run != nullptr) commands.push_back(command);
    }
  }
  return commands;
}

// Requests of a command; each option is in one of them. What "limits" stands for is one plain
// limit.
inline std::vector<Words> example_requests(const Command& command) {
  std::string usage(command.usage);
  for (size_t at = 0; (at = usage.find("limits", at)) != usage.npos; ++at) {
    if (at + 6 == usage.size() || usage[at + 6] != ':') usage.insert(at + 6, ":string");
  }
  const std::string name(command.name);
  const size_t bar = name.find('|');
  const Words begin =
      bar == name.npos ? Words{name} : Words{name.substr(0, bar), name.substr(bar + 1)};
  std::vector<Words> requests;
  for (const Words& words : examples_of(parse_usage(usage))) requests.push_back(begin + words);
  return requests;
}

// An option of an algorithm.
inline std::string example_value(const algorithms::Option& option) {
  using Kind = algorithms::Option::Kind;
  switch (option.kind) {
    case Kind::kNumber:
      return "1";
    case Kind::kDuration:
    case Kind::kLease:
      return "1s";
    case Kind::kWord:
      return std::string(option.words.front());
    case Kind::kUtcOffset:
      return "+08:00";
    case Kind::kZone:
      return "UTC";
  }
  return {};
}

// Limits of an algorithm; each option, ADAPTIVE, BAN and AS are in one of them.
inline std::vector<Words> example_limits(const algorithms::Algorithm& algorithm) {
  const algorithms::Grammar& grammar = *algorithm.grammar;
  Words plain = {std::string(algorithm.name),
                 grammar.rate == algorithms::Grammar::Rate::kCount ? "10" : "10/1h"};
  std::vector<Words> options = {{},
                                {"ADAPTIVE", "1..100", "SLOW", "1s"},
                                {"BAN", "1s", "AFTER", "1", "WITHIN", "1s"},
                                {"AS", "x"}};
  for (const algorithms::Option& option : grammar.options) {
    const Words words = {std::string(option.name), example_value(option)};
    if (option.required) {
      plain = plain + words;
    } else {
      options.push_back(words);
    }
  }
  std::vector<Words> limits;
  for (const Words& words : options) limits.push_back(plain + words);
  return limits;
}

}  // namespace weir::server
