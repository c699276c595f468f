// All users, by name, and the texts they are kept in.
//
// Invariants
// 1. There is always a user `default`: who has not logged in is it.
// 2. Rules are applied all or none.
// 3. A user keeps its identity while its rules change: sessions hold on to it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/acl/user.h"

namespace weir::server::acl {

inline constexpr std::string_view kDefaultUser = "default";

// Not empty, no blanks and no NUL bytes: it must be a word of a line.
bool is_user_name(std::string_view name);

// Rules as words, "(~a" "+get)" made one. Nothing, if a parenthesis is not closed; *unmatched is
// then the word that opens it.
std::optional<std::vector<std::string>> merge_selectors(const std::vector<std::string>& words,
                                                        std::string* unmatched);

// The rule that was refused, and why.
struct Refusal {
  std::string rule;
  std::string_view why;
};

class Users {
 public:
  using Map = std::map<std::string, std::shared_ptr<User>, std::less<>>;

  // With a `default` that may do everything and needs no password.
  Users(const CommandTable* table, bool all_channels);

  const Map& all() const { return users_; }
  // Null if there is none.
  std::shared_ptr<User> find(std::string_view name) const;
  const std::shared_ptr<User>& default_user() const { return default_user_; }

  // Makes the user if there is none. REQUIRES: is_user_name(name), and merged rules.
  std::optional<Refusal> set(std::string_view name, const std::vector<std::string>& rules);
  // The same for a user that begins anew: what it was does not matter.
  std::optional<Refusal> add(std::string_view name, const std::vector<std::string>& rules);
  // False if there is none. REQUIRES: not `default`.
  bool remove(std::string_view name);
  // What `default` asks for; "": nothing.
  void set_default_password(std::string_view password);
  // Of users made from now on.
  void set_all_channels(bool all_channels) { all_channels_ = all_channels; }

  // Adds what a file says, one "user name rule ..." a line. Answers what is wrong with it, "" if
  // nothing is; some of it may then have been added.
  std::string load(std::string_view text, const std::string& file);
  // As the file has them.
  std::string text() const;

  // Becomes what `next` is; users of the same name stay themselves. Answers those that are gone.
  std::vector<std::shared_ptr<User>> replace_with(Users next);

 private:
  std::string load_line(std::string_view line, const std::string& place);

  const CommandTable* table_;
  bool all_channels_;
  Map users_;
  std::shared_ptr<User> default_user_;
};

}  // namespace weir::server::acl
