// A user: whether it may log in and with what, and its selectors.
//
// Invariants
// 1. Passwords are known by their SHA-256 only.
// 2. line() applied to a new user makes an equal one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/acl/rule_errors.h"
#include "server/acl/selector.h"

namespace weir::server::acl {

class User {
 public:
  // May not log in and may do nothing; a new selector's channels are as `all_channels` says.
  User(std::string name, const CommandTable* table, bool all_channels);

  // One rule, a selector in parentheses included.
  RuleError apply(std::string_view rule);

  // Of the selectors made from now on.
  void use_channels(bool all_channels) { all_channels_ = all_channels; }

  const std::string& name() const { return name_; }
  bool enabled() const { return enabled_; }
  bool needs_no_password() const { return needs_no_password_; }
  // Whether it may log in with it. How long that takes tells nothing about what is right.
  bool accepts(std::string_view password) const;

  // Nothing is refused to it: the test on the way of every command.
  bool unrestricted() const { return unrestricted_; }
  // By the first selector that allows it; if none does, why the one nearest to it does not.
  Verdict check(const Command& command, Args args) const;
  // Whether what it asks for is allowed by a selector that may read every key.
  bool reads_any_key(const Command& command, Args args) const;
  bool allows_channel(std::string_view channel, bool is_pattern) const;

  const Selector& root() const { return selectors_.front(); }
  const std::vector<Selector>& selectors() const { return selectors_; }  // the root first
  const std::vector<std::string>& passwords() const { return passwords_; }
  std::vector<std::string_view> flags() const;  // "on", "nopass" ...
  // "user alice on #... ~* resetchannels -@all +get"
  std::string line() const;

 private:
  enum class Payloads : uint8_t { kUnsaid, kChecked, kUnchecked };

  bool apply_word(std::string_view rule);
  RuleError apply_password(std::string_view rule);
  RuleError add_selector(std::string_view rules);
  void reset();

  std::string name_;
  const CommandTable* table_;
  bool all_channels_;  // of new selectors
  bool enabled_ = false;
  bool needs_no_password_ = false;
  Payloads payloads_ = Payloads::kUnsaid;
  bool unrestricted_ = false;
  std::vector<std::string> passwords_;
  std::vector<Selector> selectors_;
};

}  // namespace weir::server::acl
