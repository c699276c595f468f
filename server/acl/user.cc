#include "server/acl/user.h"

#include <algorithm>

#include "base/ascii.h"
#include "server/acl/sha256.h"
#include "server/config/config_checks.h"
#include "server/config/config_words.h"

namespace weir::server::acl {
namespace {

constexpr size_t kHashDigits = 64;

bool is_hash(std::string_view text) {
  return text.size() == kHashDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return hex_value(c) >= 0 && to_lower(c) == c;
         });
}

// Compares every byte, wherever the hashes differ, so that the time tells nothing. REQUIRES: both
// are hashes.
bool equal_hashes(std::string_view first, std::string_view second) {
  uint8_t difference = 0;
  for (size_t i = 0; i < kHashDigits; ++i) difference |= static_cast<uint8_t>(first[i] ^ second[i]);
  return difference == 0;
}

}  // namespace

User::User(std::string name, const CommandTable* table, bool all_channels)
    : name_(std::move(name)),
      table_(table),
      all_channels_(all_channels),
      selectors_(1, Selector(table, all_channels)) {}

Applied User::apply(std::string_view rule) {
  Applied applied;
  if (rule.empty() || apply_word(rule)) {
    // Done.
  } else if (std::string_view("><#!").find(rule[0]) != std::string_view::npos) {
    applied = apply_password(rule);
  } else if (rule[0] == '(' && rule.back() == ')') {
    applied = add_selector(rule.substr(1, rule.size() - 2));
  } else {
    applied = selectors_.front().apply(rule);
  }
  unrestricted_ = std::any_of(selectors_.begin(), selectors_.end(),
                              [](const Selector& one) { return one.allows_everything(); });
  return applied;
}

bool User::apply_word(std::string_view rule) {
  const auto is = [rule](std::string_view word) { return equals_ignoring_case(rule, word); };
  if (is("on") || is("off")) {
    enabled_ = is("on");
  } else if (is("nopass") || is("resetpass")) {
    needs_no_password_ = is("nopass");
    passwords_.clear();
  } else if (is("sanitize-payload")) {
    payloads_ = Payloads::kChecked;
  } else if (is("skip-sanitize-payload")) {
    payloads_ = Payloads::kUnchecked;
  } else if (is("clearselectors")) {
    selectors_.erase(selectors_.begin() + 1, selectors_.end());
  } else if (is("reset")) {
    reset();
  } else {
    return false;
  }
  return true;
}

void User::reset() {
  *this = User(name_, table_, all_channels_);
  payloads_ = Payloads::kChecked;
}

// Adds ">password" and "#hash", takes "<password" and "!hash" away.
Applied User::apply_password(std::string_view rule) {
  const bool is_plain = rule[0] == '>' || rule[0] == '<';
  const bool adds = rule[0] == '>' || rule[0] == '#';
  const std::string_view text = rule.substr(1);
  if (!is_plain && !is_hash(text)) return kBadHash;
  if (adds && text.size() > kPasswordBytesMax) return kLongPassword;
  const std::string hash = is_plain ? sha256_hex(text) : std::string(text);
  const auto known = std::find(passwords_.begin(), passwords_.end(), hash);
  if (!adds && known == passwords_.end()) return kNoSuchPassword;
  if (!adds) {
    passwords_.erase(known);
    return {};
  }
  if (known == passwords_.end()) passwords_.push_back(hash);
  needs_no_password_ = false;
  return {};
}

Applied User::add_selector(std::string_view rules) {
  const auto words = split_words(rules);
  if (!words) return kBadSyntax;
  Selector added(table_, all_channels_);
  for (const std::string& word : *words) {
    // Where the selector is read again, such a word would be its end.
    if (word.ends_with(')')) return kBadSyntax;
    if (const Applied applied = added.apply(word); !applied) return applied;
  }
  selectors_.push_back(std::move(added));
  return {};
}

bool User::accepts_hash(std::string_view password_hash) const {
  if (!enabled_) return false;
  if (needs_no_password_) return true;
  bool accepted = false;
  for (const std::string& known : passwords_) accepted |= equal_hashes(known, password_hash);
  return accepted;
}

AccessDecision User::check(const Command& command, Args args) const {
  if (unrestricted_) return {};
  AccessDecision nearest{.denial = Denial::kCommand};
  for (const Selector& selector : selectors_) {
    const AccessDecision decision = selector.check(command, args);
    if (decision.allowed()) return decision;
    const bool is_nearer = decision.denial == nearest.denial ? decision.position > nearest.position
                                                             : decision.denial > nearest.denial;
    if (is_nearer) nearest = decision;
  }
  return nearest;
}

bool User::reads_any_key(const Command& command, Args args) const {
  return std::any_of(selectors_.begin(), selectors_.end(), [&](const Selector& selector) {
    return selector.reads_any_key() && selector.check(command, args).allowed();
  });
}

bool User::allows_channel(std::string_view channel, bool is_pattern) const {
  return std::any_of(selectors_.begin(), selectors_.end(), [&](const Selector& selector) {
    return selector.allows_channel(channel, is_pattern);
  });
}

std::vector<std::string_view> User::flags() const {
  std::vector<std::string_view> flags = {enabled_ ? "on" : "off"};
  if (needs_no_password_) flags.push_back("nopass");
  if (payloads_ == Payloads::kUnchecked) flags.push_back("skip-sanitize-payload");
  if (payloads_ == Payloads::kChecked) flags.push_back("sanitize-payload");
  return flags;
}

std::string User::line() const {
  std::string line = "user " + name_;
  for (const std::string_view flag : flags()) line.append(" ").append(flag);
  for (const std::string& hash : passwords_) line += " #" + hash;
  line += " " + root().text();
  for (size_t i = 1; i < selectors_.size(); ++i) line += " " + selectors_[i].parenthesised();
  return line;
}

}  // namespace weir::server::acl
