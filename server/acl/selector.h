// One set of rights: commands, the keys they may touch and how, the channels they may use.
//
// A request is allowed by a selector that allows the command, every key and every channel in it.
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
enum class Denial : uint8_t { kNone, kCommand, kKey, kChannel };

struct Verdict {
  Denial denial = Denial::kNone;
  size_t position = 0;  // of the key or channel, among the arguments
  bool allowed() const { return denial == Denial::kNone; }
};

class Selector {
 public:
  Selector(const CommandTable* table, bool all_channels)
      : commands_(table), all_channels_(all_channels) {}

  // Applies "+get", "~user:*", "%R~user:*", "&news", "allkeys" ...
  Applied apply(std::string_view rule);

  Verdict check(const Command& command, Args args) const;
  bool allows_everything() const { return commands_.all() && all_keys_ && all_channels_; }
  bool reads_any_key() const;
  bool allows_channel(std::string_view channel, bool is_pattern) const;

  std::string commands_text() const { return commands_.text(); }
  std::string keys_text() const;      // "~a %R~b"
  std::string channels_text() const;  // "&a &b"
  // Answers all three, as a line of the file has them.
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
  bool allows_key(std::string_view key, KeyUse use) const;
  std::vector<std::string> words() const;

  CommandRules commands_;
  std::vector<KeyPattern> keys_;
  std::vector<std::string> channels_;
  bool all_keys_ = false;
  bool all_channels_;
};

}  // namespace weir::server::acl
