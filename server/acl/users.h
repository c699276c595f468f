// All users, by name, and the texts they are kept in.
//
// Invariants
// 1. There is always a user `default`, which is the user of sessions that have not logged in.
// 2. Rules are applied all or none: they are applied to a copy first.
// 3. A user keeps its identity while its rules change, because sessions hold a pointer to it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/acl/user.h"

namespace weir::server::acl {

inline constexpr std::string_view kDefaultUser = "default";

// A name is not empty and has no blanks and no NUL bytes: it must be a word of a line.
bool is_user_name(std::string_view name);

// Makes "(~a" "+get)" one word. If a parenthesis is not closed, the error is the word that opens
// it.
Result<std::vector<std::string>, std::string> merge_selectors(
    const std::vector<std::string>& words);

// Which rule was refused, and why.
struct Refusal {
  std::string rule;
  std::string_view why;
};

class Users {
 public:
  using Map = std::map<std::string, std::shared_ptr<User>, std::less<>>;

  // Begins with a `default` that may do everything and needs no password.
  Users(const CommandTable* table, bool all_channels);

  const Map& all() const { return users_; }
  // Finds a user; null if there is none.
  std::shared_ptr<User> find(std::string_view name) const;
  const std::shared_ptr<User>& default_user() const { return default_user_; }

  // Sets the rules of a user, and makes it if there is none. REQUIRES: is_user_name(name), and
  // merged rules.
  Result<void, Refusal> set(std::string_view name, const std::vector<std::string>& rules);
  // Does the same for a user that begins anew: its former rules do not matter.
  Result<void, Refusal> add(std::string_view name, const std::vector<std::string>& rules);
  // Removes a user; false if there is none. REQUIRES: not `default`.
  bool remove(std::string_view name);
  // Sets the password that `default` needs; "": none.
  void set_default_password(std::string_view password);
  // Sets the channels of users made from now on.
  void set_all_channels(bool all_channels) { all_channels_ = all_channels; }

  // Adds the users of a file, one "user name rule ..." a line. Fails with what is
  // wrong with it; some users may then have been added.
  Result<void, std::string> load(std::string_view text, const std::string& file);
  // Answers the users as the file has them.
  std::string text() const;

  // Takes over the users of `next`; users of the same name keep their identity. Answers those that
  // are gone.
  std::vector<std::shared_ptr<User>> replace_with(Users next);

 private:
  Result<void, std::string> load_line(std::string_view line, const std::string& place);

  const CommandTable* table_;
  bool all_channels_;
  Map users_;
  std::shared_ptr<User> default_user_;
};

}  // namespace weir::server::acl
