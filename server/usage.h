// A command's usage text as a tree of arguments, for COMMAND DOCS.
//
// The text is what HELP shows: words in lower case are arguments, words in UPPER case are written
// as they stand (and name the argument behind them, if one is), [ ] is optional, < > groups,
// | separates alternatives, "..." behind words inside brackets means that they may come again. What
// an argument is follows from its name, unless it says so itself: increment:double.
//
//   key value [NX | XX] [EX seconds | PX milliseconds]      key [key ...]
//   [TYPE <NORMAL | PUBSUB>]                                key value [key value ...]
//
// Pure functions. A text that breaks these rules gives a tree all the same, just not a useful one.
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
  std::string token = {};  // written in front, or all there is of a kPureToken
  bool optional = false;
  bool multiple = false;
  bool multiple_token = false;                // the token comes again as well
  std::vector<UsageArgument> arguments = {};  // of kOneOf and kBlock

  bool operator==(const UsageArgument&) const = default;
};

std::vector<UsageArgument> parse_usage(std::string_view usage);

// The text without the kinds that arguments say of themselves: for people.
std::string usage_text(std::string_view usage);

// Redis' word for it: "pure-token", "unix-time" ...
std::string_view usage_kind_name(UsageKind kind);

}  // namespace weir::server
