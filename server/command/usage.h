// A command's usage text as a tree of arguments, for COMMAND DOCS.
//
// The text is what HELP shows. Words in lower case are arguments. Words in UPPER case are written
// as they are (and name the argument after them, if there is one). [ ] is optional, < > groups, |
// separates alternatives, and "..." after words inside brackets means that they may be repeated.
// What an argument is follows from its name, unless it says so itself: increment:double.
//
//   key value [NX | XX] [EX seconds | PX milliseconds]      key [key ...]
//   [TYPE <NORMAL | PUBSUB>]                                key value [key value ...]
//
// The word "limits" stands for the limits of RL.* commands; in the tree it is their grammar.
//
// Pure functions. A text that breaks these rules also gives a tree, but not a useful one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir::server {

enum class UsageKind {
  kString,
  kInteger,
  kDouble,
  kUnixTime,
  kPattern,
  kKey,
  kPureToken,
  kOneOf,
  kBlock
};

struct UsageArgument {
  std::string name = {};
  UsageKind kind = UsageKind::kString;
  std::string token = {};  // written first; a kPureToken has nothing else
  bool optional = false;
  bool multiple = false;
  bool multiple_token = false;                // the token is repeated as well
  std::vector<UsageArgument> arguments = {};  // of kOneOf and kBlock

  bool operator==(const UsageArgument&) const = default;
};

std::vector<UsageArgument> parse_usage(std::string_view usage);

// Answers the text for people: without the kinds that arguments say of themselves.
std::string usage_text(std::string_view usage);

// Answers Redis' word for a kind: "pure-token", "unix-time" ...
std::string_view usage_kind_name(UsageKind kind);

}  // namespace weir::server
