// Usage texts become trees of arguments. A tree is written here as
//   name:kind(arguments){token}? for optional, * for multiple, + when the token comes again.
#include "server/command/usage.h"

#include <gtest/gtest.h>

#include "server/command/command_facts.h"
#include "server/command/command_table.h"
#include "server/commands/command_lists.h"

namespace weir::server {
namespace {

std::string show(const std::vector<UsageArgument>& arguments) {
  std::string text;
  for (const UsageArgument& argument : arguments) {
    if (!text.empty()) text += ' ';
    text += argument.name + ":" + std::string(usage_kind_name(argument.kind));
    if (!argument.arguments.empty()) text += "(" + show(argument.arguments) + ")";
    if (!argument.token.empty()) text += "{" + argument.token + "}";
    if (argument.optional) text += '?';
    if (argument.multiple) text += argument.multiple_token ? "+" : "*";
  }
  return text;
}

std::string parsed(std::string_view usage) { return show(parse_usage(usage)); }

TEST(Usage, Words) {
  EXPECT_EQ(parsed(""), "");
  EXPECT_EQ(parsed("key value"), "key:key value:string");
  EXPECT_EQ(parsed("pattern"), "pattern:pattern");
  EXPECT_EQ(parsed("key seconds unix-time-seconds"),
            "key:key seconds:integer unix-time-seconds:unix-time");
}

TEST(Usage, ArgumentsThatSayWhatTheyAre) {
  EXPECT_EQ(parsed("timeout:double dst:key [LIMIT start:string]"),
            "timeout:double dst:key start:string{LIMIT}?");
  EXPECT_EQ(usage_text("timeout:double <ip:port | LIMIT start:string>"),
            "timeout <ip:port | LIMIT start>");
}

TEST(Usage, LimitsAreTheirGrammar) {
  const std::string limits =
      "limits:oneof(count/period:string algorithm:string policy:pure-token{POLICY}) "
      "rate-or-policy:oneof(rate:string policy:string)? "
      "option-value:block(option:string value:string)?* limit:string?*";
  EXPECT_EQ(parsed("key limits"), "key:key " + limits);
  EXPECT_EQ(parsed("[limits]"), "limits-rate-or-policy-option-value-limit:block(" + limits + ")?");
  EXPECT_EQ(parsed("EACH limits").substr(0, 13), "limits:oneof(");
  EXPECT_NE(parsed("EACH limits").find("){EACH} rate-or-policy"), std::string::npos);
  EXPECT_EQ(usage_text("key limits"), "key limits");
}

TEST(Usage, Optional) {
  EXPECT_EQ(parsed("[message]"), "message:string?");
  EXPECT_EQ(parsed("[username] password"), "username:string? password:string");
  EXPECT_EQ(parsed("[value word]"), "value-word:block(value:string word:string)?");
}

TEST(Usage, Tokens) {
  EXPECT_EQ(parsed("[GET]"), "get:pure-token{GET}?");
  EXPECT_EQ(parsed("[MATCH pattern] [COUNT count]"),
            "pattern:pattern{MATCH}? count:integer{COUNT}?");
  EXPECT_EQ(parsed("[AUTH username password]"),
            "username-password:block(username:string password:string){AUTH}?");
  EXPECT_EQ(parsed("[TYPE <A|B>]"), "a-or-b:oneof(a:pure-token{A} b:pure-token{B}){TYPE}?");
}

TEST(Usage, Alternatives) {
  EXPECT_EQ(parsed("[NX | XX]"), "nx-or-xx:oneof(nx:pure-token{NX} xx:pure-token{XX})?");
  EXPECT_EQ(parsed("[NX|XX]"), parsed("[NX | XX]"));
  EXPECT_EQ(parsed("[EX seconds|KEEPTTL]"),
            "seconds-or-keepttl:oneof(seconds:integer{EX} keepttl:pure-token{KEEPTTL})?");
  EXPECT_EQ(parsed("<ON | OFF>"), "on-or-off:oneof(on:pure-token{ON} off:pure-token{OFF})");
}

TEST(Usage, Repetition) {
  EXPECT_EQ(parsed("key [key ...]"), "key:key*");
  EXPECT_EQ(parsed("key value [key value ...]"), "key-value:block(key:key value:string)*");
  EXPECT_EQ(parsed("command [argument ...]"), "command:string argument:string?*");
  EXPECT_EQ(parsed("[name [name ...]]"), "name:string?*");
  EXPECT_EQ(parsed("[PREFIX prefix [PREFIX prefix ...]]"), "prefix:string{PREFIX}?+");
  EXPECT_EQ(parsed("[ID client-id [client-id ...]]"), "client-id:integer{ID}?*");
}

TEST(Usage, Nested) {
  EXPECT_EQ(parsed("[protover [AUTH username password] [SETNAME clientname]]"),
            "protover-username-password-clientname:block(protover:integer "
            "username-password:block(username:string password:string){AUTH}? "
            "clientname:string{SETNAME}?)?");
}

TEST(Usage, BrokenTextsGiveSomething) {
  for (const char* usage :
       {"[", "]", "<", "|", "...", "[...]", "a ] b", "[a", "A <", "[|]", "A |"}) {
    (void)parse_usage(usage);
  }
}

// redis-cli takes a word off its hint for each that was typed, up to the first bracket. It does so
// right where no alternative before that bracket has two words.
TEST(Rows, HintsOfOurOwnCommandsGoOnWhereTheLineStands) {
  const auto is_a_word = [](const UsageArgument& one) {
    if (one.kind == UsageKind::kBlock) return one.arguments.at(1).optional;
    return one.token.empty() || one.kind == UsageKind::kPureToken;
  };
  const CommandTable table{command_lists()};
  for (size_t i = 0; i < table.count(); ++i) {
    const Command& row = *table.row(i);
    if (row.group != "ratelimit") continue;
    for (const UsageArgument& argument : parse_usage(row.usage)) {
      if (argument.optional || argument.multiple) break;
      for (const UsageArgument& one : argument.arguments) {
        EXPECT_TRUE(is_a_word(one)) << row.name << ": " << one.name;
      }
    }
  }
}

// What HELP and COMMAND DOCS show of every command is well formed.
TEST(Rows, UsageTextsFollowTheRules) {
  const CommandTable table{command_lists()};
  for (size_t i = 0; i < table.count(); ++i) {
    const Command& row = *table.row(i);
    int depth = 0;
    for (const char c : row.usage) {
      depth += (c == '[' || c == '<') - (c == ']' || c == '>');
      ASSERT_GE(depth, 0) << row.name;
    }
    EXPECT_EQ(depth, 0) << row.name;
    EXPECT_FALSE(row.summary.empty()) << row.name;
    EXPECT_TRUE(row.summary.ends_with('.')) << row.name;
    EXPECT_FALSE(row.since.empty()) << row.name;
    EXPECT_FALSE(row.group.empty()) << row.name;
    EXPECT_NE(row.arity, 0) << row.name;
    EXPECT_EQ(row.keys.first > 0, row.keys.step > 0) << row.name;
    const bool is_subcommand = row.name.find('|') != row.name.npos;
    EXPECT_TRUE(row.run != nullptr || row.has(kContainer)) << row.name;
    EXPECT_TRUE(!is_subcommand || table.find(row.name.substr(0, row.name.find('|')))) << row.name;
    EXPECT_FALSE(row.has(kWrites) && row.group == "ratelimit" && !has_keys(row) &&
                 !row.name.starts_with("rl.policy|"))
        << row.name;
  }
}

}  // namespace
}  // namespace weir::server
