// A user: whether it may log in and with what, and its selectors.
//
// Invariants
// 1. Passwords are known by their SHA-256 only.
// 2. line() applied to a new user makes an equal user.
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
  // Makes a user that may not log in and may do nothing; the channels of its new selectors are as
  // `all_channels` says.
  User(std::string name, const CommandTable* table, bool all_channels);

  // Applies one rule, which may be a selector in parentheses.
  Applied apply(std::string_view rule);

  // Sets the channels of the selectors made from now on.
  void use_channels(bool all_channels) { all_channels_ = all_channels; }

  const std::string& name() const { return name_; }
  bool enabled() const { return enabled_; }
  bool needs_no_password() const { return needs_no_password_; }
  // Tells whether the user may log in with a password that has this SHA-256. How long that takes
  // tells nothing about the right one.
  bool accepts_hash(std::string_view password_hash) const;

  // True if nothing is refused to the user: the test that every command makes.
  bool unrestricted() const { return unrestricted_; }
  // Asks the selectors in order. If none allows the request, answers why the nearest one does not.
  AccessDecision check(const Command& command, Args args) const;
  // Tells whether a selector that may read every key allows the request.
  bool reads_any_key(const Command& command, Args args) const;
  bool allows_channel(std::string_view channel, bool is_pattern) const;

  const Selector& root() const { return selectors_.front(); }
  const std::vector<Selector>& selectors() const { return selectors_; }  // the root first
  const std::vector<std::string>& passwords() const { return passwords_; }
  std::vector<std::string_view> flags() const;  // "on", "nopass" ...
  // For example "user alice on #... ~* resetchannels -@all +get".
  std::string line() const;

 private:
  enum class Payloads : uint8_t { kUnsaid, kChecked, kUnchecked };

  bool apply_word(std::string_view rule);
  Applied apply_password(std::string_view rule);
  Applied add_selector(std::string_view rules);
  void reset();

  std::string name_;
  const CommandTable* table_;
  bool all_channels_;  // the channels of new selectors
  bool enabled_ = false;
  bool needs_no_password_ = false;
  Payloads payloads_ = Payloads::kUnsaid;
  bool unrestricted_ = false;
  std::vector<std::string> passwords_;
  std::vector<Selector> selectors_;
};

}  // namespace weir::server::acl
