// One set of rights: commands, the keys they may touch and how, the channels they may use, the
// limits they may name.
//
// A request is allowed by a selector that allows the command, every key, every channel and every
// limit in it. Without a rule about them all limits are: those written into the request, and any
// policy. FORCE and giving back want the category @ratelimitadmin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/acl/command_rules.h"
#include "server/acl/rule_errors.h"
#include "server/command/command.h"

namespace weir::server::acl {

// Why a request is not allowed; a later reason is nearer to being allowed.
enum class Denial : uint8_t { kNone, kCommand, kAdmin, kInline, kPolicy, kKey, kChannel };

struct AccessDecision {
  Denial denial = Denial::kNone;
  size_t position = 0;  // of the key, channel or policy, among the arguments
  bool allowed() const { return denial == Denial::kNone; }
};

bool is_about_limits(Denial denial);
// Answers what a user may not do: "name that policy (policy~)".
std::string_view limits_denied(Denial denial);

class Selector {
 public:
  Selector(const CommandTable* table, bool all_channels)
      : commands_(table), all_channels_(all_channels) {}

  // Applies "+get", "~user:*", "%R~user:*", "&news", "allkeys", "policy~free*", "noinline" ...
  Applied apply(std::string_view rule);

  AccessDecision check(const Command& command, Args args) const;
  bool allows_everything() const {
    return commands_.all() && all_keys_ && all_channels_ && all_policies_ && inline_limits_;
  }
  bool reads_any_key() const;
  bool allows_channel(std::string_view channel, bool is_pattern) const;

  std::string commands_text() const { return commands_.text(); }
  std::string keys_text() const;      // "~a %R~b"
  std::string channels_text() const;  // "&a &b"
  std::string limits_text() const;    // "policy~a noinline"; "" without a rule about them
  // Answers all four, as a line of the file has them.
  std::string text() const;
  // Answers the rules that make a selector in parentheses, each a word.
  std::string parenthesised() const;

 private:
  struct KeyPattern {
    std::string text;
    bool reads = false;
    bool writes = false;
    std::string rule() const;
  };

  bool apply_word(std::string_view rule);
  Applied add_key_pattern(std::string_view rule);
  Applied add_channel_pattern(std::string_view pattern);
  Applied add_policy_pattern(std::string_view pattern);
  AccessDecision check_limits(const Command& command, Args args) const;
  bool allows_key(std::string_view key, KeyUse use) const;
  std::vector<std::string> words() const;

  CommandRules commands_;
  std::vector<KeyPattern> keys_;
  std::vector<std::string> channels_;
  std::vector<std::string> policies_;
  bool all_keys_ = false;
  bool all_channels_;
  bool all_policies_ = true;
  bool inline_limits_ = true;
};

}  // namespace weir::server::acl
