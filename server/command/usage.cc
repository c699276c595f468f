#include "server/command/usage.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"

namespace weir::server {
namespace {

using Arguments = std::vector<UsageArgument>;

constexpr std::string_view kKeys[] = {"key", "newkey", "source", "destination", "key1", "key2"};
constexpr std::string_view kIntegers[] = {"count",
                                          "cursor",
                                          "index",
                                          "seconds",
                                          "milliseconds",
                                          "increment",
                                          "decrement",
                                          "offset",
                                          "start",
                                          "end",
                                          "db",
                                          "numkeys",
                                          "quantity",
                                          "timeout",
                                          "protover",
                                          "index1",
                                          "index2",
                                          "period",
                                          "max_burst",
                                          "client-id",
                                          "count_per_period",
                                          "destination-db",
                                          "numreplicas",
                                          "samples",
                                          "version",
                                          "stop",
                                          "limit",
                                          "rank",
                                          "num-matches",
                                          "len",
                                          "ttl",
                                          "frequency",
                                          "weight"};

template <size_t size>
bool is_one_of(const std::string_view (&words)[size], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

struct SaidKind {
  std::string_view text;
  UsageKind kind;
};
constexpr SaidKind kSaidKinds[] = {{":double", UsageKind::kDouble},
                                   {":integer", UsageKind::kInteger},
                                   {":key", UsageKind::kKey},
                                   {":string", UsageKind::kString}};

UsageKind kind_of(std::string_view name) {
  if (is_one_of(kKeys, name)) return UsageKind::kKey;
  if (is_one_of(kIntegers, name)) return UsageKind::kInteger;
  if (name == "pattern") return UsageKind::kPattern;
  return name.starts_with("unix-time") ? UsageKind::kUnixTime : UsageKind::kString;
}

UsageArgument named(std::string_view word) {
  for (const SaidKind& said : kSaidKinds) {
    if (!word.ends_with(said.text)) continue;
    word.remove_suffix(said.text.size());
    return {.name = std::string(word), .kind = said.kind};
  }
  return {.name = std::string(word), .kind = kind_of(word)};
}

bool is_token(std::string_view word) {
  return std::any_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; }) &&
         std::none_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

// Cuts a text into words and the marks [ ] < > |, each by itself.
std::vector<std::string_view> cut(std::string_view usage) {
  constexpr std::string_view kMarks = "[]<>|";
  std::vector<std::string_view> words;
  size_t at = 0;
  while (at < usage.size()) {
    if (usage[at] == ' ') {
      ++at;
      continue;
    }
    const size_t end =
        kMarks.find(usage[at]) != kMarks.npos ? at + 1 : usage.find_first_of(" []<>|", at);
    words.push_back(usage.substr(at, std::min(end, usage.size()) - at));
    at = std::min(end, usage.size());
  }
  return words;
}

// What the word "limits" stands for: the first limit, and more of them. redis-cli takes a word off
// its hint for each that was typed, up to the first bracket, so no alternative has two.
constexpr std::string_view kLimits =
    "<count/period | algorithm | POLICY> [rate | policy] [option value ...] [limit:string ...]";

class Parser {
 public:
  explicit Parser(std::string_view usage) : words_(cut(usage)) {}

  // Reads up to the closing mark: "a b | c" is one argument of alternatives, "a b" is two.
  Arguments parse_alternatives() {
    std::vector<Arguments> alternatives(1);
    repeats_ = false;
    while (at_ < words_.size() && words_[at_] != "]" && words_[at_] != ">") {
      if (words_[at_] == "|") {
        ++at_;
        alternatives.emplace_back();
      } else {
        parse_element(&alternatives.back());
      }
    }
    if (at_ < words_.size()) ++at_;
    if (alternatives.size() == 1) return std::move(alternatives.front());
    UsageArgument choice{.kind = UsageKind::kOneOf};
    for (Arguments& alternative : alternatives) {
      if (!alternative.empty()) choice.arguments.push_back(as_one(std::move(alternative)));
    }
    for (const UsageArgument& argument : choice.arguments) {
      choice.name += (choice.name.empty() ? "" : "-or-") + argument.name;
    }
    return {std::move(choice)};
  }

 private:
  static void add_limits(Arguments* siblings) {
    Arguments limits = Parser(kLimits).parse_alternatives();
    limits.front().name = "limits";
    siblings->insert(siblings->end(), limits.begin(), limits.end());
  }

  static UsageArgument as_one(Arguments arguments) {
    if (arguments.size() == 1) return std::move(arguments.front());
    UsageArgument block{.kind = UsageKind::kBlock};
    for (const UsageArgument& argument : arguments) {
      block.name += (block.name.empty() ? "" : "-") + argument.name;
    }
    // A token before a block belongs to the block: "AUTH username password".
    const UsageArgument& first = arguments.front();
    if (!first.token.empty() && first.kind != UsageKind::kPureToken && !first.optional) {
      block.token = std::exchange(arguments.front().token, {});
    }
    block.arguments = std::move(arguments);
    return block;
  }

  void parse_element(Arguments* siblings) {
    const std::string_view word = words_[at_++];
    if (word == "...") {
      repeats_ = true;
    } else if (word == "[") {
      Arguments inner = parse_alternatives();
      const bool repeats = std::exchange(repeats_, false);
      add_optional(siblings, std::move(inner), repeats);
    } else if (word == "<") {
      Arguments inner = parse_alternatives();
      repeats_ = false;
      if (!inner.empty()) siblings->push_back(as_one(std::move(inner)));
    } else if (is_token(word)) {
      add_token(siblings, word);
    } else if (word == "limits") {
      add_limits(siblings);
    } else {
      siblings->push_back(named(word));
    }
  }

  void add_token(Arguments* siblings, std::string_view token) {
    const bool names_next =
        at_ < words_.size() &&
        (words_[at_] == "<" || (words_[at_].front() >= 'a' && words_[at_].front() <= 'z'));
    if (!names_next) {
      return siblings->push_back(
          {.name = to_lower(token), .kind = UsageKind::kPureToken, .token = std::string(token)});
    }
    const size_t before = siblings->size();
    parse_element(siblings);
    if (siblings->size() > before) (*siblings)[before].token = std::string(token);
  }

  // "key [key ...]" is one key that may be repeated; "[key ...]" alone is optional as well. In "ID
  // id [id ...]" the token is not repeated, in "ID id [ID id ...]" it is.
  static void add_optional(Arguments* siblings, Arguments inner, bool repeats) {
    if (inner.empty()) return;
    UsageArgument argument = as_one(Arguments(inner));
    if (repeats) {
      argument.multiple = true;
      argument.multiple_token = !argument.token.empty();
    }
    argument.optional = true;
    if (repeats && siblings->size() >= inner.size()) {
      const auto last = siblings->end() - static_cast<std::ptrdiff_t>(inner.size());
      const std::string token = last->token;
      if (inner.front().token.empty()) inner.front().token = token;
      if (std::equal(inner.begin(), inner.end(), last)) {
        siblings->erase(last, siblings->end());
        argument.token = token;
        argument.optional = false;
      }
    }
    siblings->push_back(std::move(argument));
  }

  std::vector<std::string_view> words_;
  size_t at_ = 0;
  bool repeats_ = false;  // "..." ended the brackets just parsed
};

}  // namespace

std::vector<UsageArgument> parse_usage(std::string_view usage) {
  return Parser(usage).parse_alternatives();
}

std::string usage_text(std::string_view usage) {
  std::string text(usage);
  for (const SaidKind& said : kSaidKinds) {
    for (size_t at = 0; (at = text.find(said.text, at)) != text.npos;)
      text.erase(at, said.text.size());
  }
  return text;
}

std::string_view usage_kind_name(UsageKind kind) {
  constexpr std::array<std::string_view, 9> kNames = {
      "string", "integer", "double", "unix-time", "pattern", "key", "pure-token", "oneof", "block"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace weir::server
