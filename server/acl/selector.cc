#include "server/acl/selector.h"

#include <algorithm>

#include "base/ascii.h"
#include "resp/glob.h"
#include "server/command/command_facts.h"
#include "server/config/config_words.h"

namespace weir::server::acl {
namespace {

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Inside parentheses, words are split as on a command line.
std::string protect(const std::string& word) {
  return word.find_first_of("\"'\\") == word.npos ? word : quote_word(word);
}

}  // namespace

bool is_about_limits(Denial denial) {
  return denial == Denial::kAdmin || denial == Denial::kInline || denial == Denial::kPolicy;
}

std::string_view limits_denied(Denial denial) {
  if (denial == Denial::kAdmin) return "take with FORCE or give back: it needs +@ratelimitadmin";
  return denial == Denial::kInline
             ? "write limits into a request (noinline): it may name a policy, "
               "for several keys by EACH POLICY"
             : "name this policy: no policy~ rule matches it";
}

std::string Selector::KeyPattern::rule() const {
  if (reads && writes) return "~" + text;
  return (reads ? "%R~" : "%W~") + text;
}

Applied Selector::apply(std::string_view rule) {
  if (rule.empty() || apply_word(rule)) return {};
  if (rule[0] == '~' || rule[0] == '%') return add_key_pattern(rule);
  constexpr std::string_view kPolicy = "policy~";
  if (equals_ignoring_case(rule.substr(0, kPolicy.size()), kPolicy))
    return add_policy_pattern(rule.substr(kPolicy.size()));
  if (rule[0] == '&') return add_channel_pattern(rule.substr(1));
  if (rule[0] == '+' || rule[0] == '-') return commands_.apply(rule);
  return kBadSyntax;
}

bool Selector::apply_word(std::string_view rule) {
  const auto is = [rule](std::string_view word) { return equals_ignoring_case(rule, word); };
  if (is("allkeys") || is("~*") || is("resetkeys")) {
    all_keys_ = !is("resetkeys");
    keys_.clear();
  } else if (is("allchannels") || is("&*") || is("resetchannels")) {
    all_channels_ = !is("resetchannels");
    channels_.clear();
  } else if (is("allcommands") || is("+@all")) {
    commands_.allow_all();
  } else if (is("nocommands") || is("-@all")) {
    commands_.deny_all();
  } else if (is("allpolicies") || is("policy~*") || is("resetpolicies")) {
    all_policies_ = !is("resetpolicies");
    policies_.clear();
  } else if (is("inline") || is("noinline")) {
    inline_limits_ = is("inline");
  } else {
    return false;
  }
  return true;
}

// Adds "~pattern", or "%R~pattern" with R, W or both.
Applied Selector::add_key_pattern(std::string_view rule) {
  if (all_keys_) return kAllKeysAlready;
  KeyPattern added;
  size_t at = 1;
  if (rule[0] == '~') added.reads = added.writes = true;
  for (; rule[0] == '%' && at < rule.size() && rule[at] != '~'; ++at) {
    bool* right = rule[at] == 'R' || rule[at] == 'r' ? &added.reads : &added.writes;
    const bool known = to_lower(rule[at]) == 'r' || to_lower(rule[at]) == 'w';
    if (!known || *right) return kBadSyntax;
    *right = true;
  }
  if (rule[0] == '%') at = std::min(at + 1, rule.size());
  added.text = rule.substr(at);
  if (!(added.reads || added.writes) || !fits_a_word(added.text)) return kBadSyntax;
  const auto known = std::find_if(keys_.begin(), keys_.end(), [&](const KeyPattern& pattern) {
    return pattern.text == added.text;
  });
  if (known == keys_.end()) {
    keys_.push_back(std::move(added));
  } else {
    known->reads |= added.reads;
    known->writes |= added.writes;
  }
  return {};
}

Applied Selector::add_channel_pattern(std::string_view pattern) {
  if (all_channels_) return kAllChannelsAlready;
  if (!fits_a_word(pattern)) return kBadSyntax;
  if (std::find(channels_.begin(), channels_.end(), pattern) == channels_.end())
    channels_.emplace_back(pattern);
  return {};
}

// The first pattern leaves no other policies.
Applied Selector::add_policy_pattern(std::string_view pattern) {
  if (pattern.empty() || !fits_a_word(pattern)) return kBadSyntax;
  all_policies_ = false;
  if (std::find(policies_.begin(), policies_.end(), pattern) == policies_.end())
    policies_.emplace_back(pattern);
  return {};
}

bool Selector::allows_key(std::string_view key, KeyUse use) const {
  const bool reads = needs_reading(use), writes = needs_writing(use);
  return std::any_of(keys_.begin(), keys_.end(), [&](const KeyPattern& pattern) {
    return (pattern.reads || !reads) && (pattern.writes || !writes) &&
           resp::glob_match(pattern.text, key);
  });
}

// A pattern to listen to must be literally one of the rules: what it matches is not compared.
bool Selector::allows_channel(std::string_view channel, bool is_pattern) const {
  return all_channels_ ||
         std::any_of(channels_.begin(), channels_.end(), [&](const std::string& allowed) {
           return is_pattern ? allowed == channel : resp::glob_match(allowed, channel);
         });
}

AccessDecision Selector::check_limits(const Command& command, Args args) const {
  LimitUse use;
  command.limit_use(args, &use);
  if (use.is_admins && !commands_.administers_limits()) return {.denial = Denial::kAdmin};
  if (use.is_inline && !inline_limits_) return {.denial = Denial::kInline};
  if (all_policies_) return {};
  for (const size_t position : use.policies) {
    const bool allowed = std::any_of(
        policies_.begin(), policies_.end(),
        [&](const std::string& pattern) { return resp::glob_match(pattern, args[position]); });
    if (!allowed) return {.denial = Denial::kPolicy, .position = position};
  }
  return {};
}

AccessDecision Selector::check(const Command& command, Args args) const {
  if (!commands_.allow(command, args)) return {.denial = Denial::kCommand};
  if (command.limit_use != nullptr) {
    if (const AccessDecision limits = check_limits(command, args); !limits.allowed()) return limits;
  }
  if (!all_keys_ && has_keys(command)) {
    for (const KeyReference& key : find_keys(command, args)) {
      if (!allows_key(args[key.position], key.use))
        return {.denial = Denial::kKey, .position = key.position};
    }
  }
  if (all_channels_ || command.channels == ChannelUse::kNone) return {};
  const bool only_first = command.channels == ChannelUse::kFirst;
  const size_t end = only_first ? std::min<size_t>(args.size(), 2) : args.size();
  for (size_t i = 1; i < end; ++i) {
    if (!allows_channel(args[i], command.channels == ChannelUse::kAllPatterns))
      return {.denial = Denial::kChannel, .position = i};
  }
  return {};
}

bool Selector::reads_any_key() const {
  return all_keys_ || std::any_of(keys_.begin(), keys_.end(), [](const KeyPattern& pattern) {
           return pattern.reads && pattern.text == "*";
         });
}

std::string Selector::keys_text() const {
  if (all_keys_) return "~*";
  std::vector<std::string> rules;
  for (const KeyPattern& pattern : keys_) rules.push_back(pattern.rule());
  return join(rules);
}

std::string Selector::channels_text() const {
  if (all_channels_) return "&*";
  std::vector<std::string> rules;
  for (const std::string& pattern : channels_) rules.push_back("&" + pattern);
  return join(rules);
}

std::string Selector::limits_text() const {
  std::vector<std::string> rules;
  if (!all_policies_ && policies_.empty()) rules.emplace_back("resetpolicies");
  for (const std::string& pattern : policies_) rules.push_back("policy~" + pattern);
  if (!inline_limits_) rules.emplace_back("noinline");
  return join(rules);
}

std::vector<std::string> Selector::words() const {
  std::vector<std::string> words;
  if (all_keys_) words.push_back("~*");
  for (const KeyPattern& pattern : keys_) words.push_back(pattern.rule());
  words.push_back(all_channels_ ? "&*" : "resetchannels");
  for (const std::string& pattern : channels_) words.push_back("&" + pattern);
  for (std::string& rule : split_blanks(limits_text())) words.push_back(std::move(rule));
  for (std::string& rule : split_blanks(commands_.text())) words.push_back(std::move(rule));
  return words;
}

std::string Selector::text() const { return join(words()); }

std::string Selector::parenthesised() const {
  std::vector<std::string> rules = words();
  for (std::string& rule : rules) rule = protect(rule);
  return "(" + join(rules) + ")";
}

}  // namespace weir::server::acl
