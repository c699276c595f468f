#include "server/acl/users.h"

#include <algorithm>
#include <set>

#include "base/ascii.h"
#include "server/config/config_words.h"

namespace weir::server::acl {

bool is_user_name(std::string_view name) { return !name.empty() && fits_a_word(name); }

Result<std::vector<std::string>, std::string> merge_selectors(
    const std::vector<std::string>& words) {
  std::vector<std::string> merged;
  const std::string* opening = nullptr;
  for (const std::string& word : words) {
    if (opening != nullptr) {
      merged.back() += " " + word;
    } else {
      merged.push_back(word);
      if (word.starts_with('(')) opening = &word;
    }
    if (word.ends_with(')')) opening = nullptr;
  }
  if (opening != nullptr) return *opening;
  return merged;
}

Users::Users(const CommandTable* table, bool all_channels)
    : table_(table), all_channels_(all_channels) {
  default_user_ = std::make_shared<User>(std::string(kDefaultUser), table_, true);
  for (const std::string_view rule : {"on", "nopass", "allkeys", "allchannels", "allcommands"})
    (void)default_user_->apply(rule);
  users_.emplace(kDefaultUser, default_user_);
}

std::shared_ptr<User> Users::find(std::string_view name) const {
  const auto found = users_.find(name);
  return found == users_.end() ? nullptr : found->second;
}

Result<void, Refusal> Users::set(std::string_view name, const std::vector<std::string>& rules) {
  std::shared_ptr<User> user = find(name);
  User changed = user ? *user : User(std::string(name), table_, all_channels_);
  changed.use_channels(all_channels_);
  for (const std::string& rule : rules) {
    const Applied applied = changed.apply(rule);
    if (!applied) return Refusal{.rule = rule, .why = applied.error()};
  }
  if (user == nullptr) {
    users_.emplace(name, std::make_shared<User>(std::move(changed)));
  } else {
    *user = std::move(changed);
  }
  return {};
}

Result<void, Refusal> Users::add(std::string_view name, const std::vector<std::string>& rules) {
  if (const auto user = find(name)) *user = User(std::string(name), table_, all_channels_);
  return set(name, rules);
}

bool Users::remove(std::string_view name) {
  const auto found = users_.find(name);
  if (found == users_.end()) return false;
  users_.erase(found);
  return true;
}

void Users::set_default_password(std::string_view password) {
  (void)default_user_->apply("resetpass");
  (void)default_user_->apply(password.empty() ? "nopass" : ">" + std::string(password));
}

Result<void, std::string> Users::load(std::string_view text, const std::string& file) {
  std::string errors;
  std::set<std::string, std::less<>> loaded;
  int number = 0;
  while (!text.empty()) {
    const size_t size = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, size));
    text.remove_prefix(std::min(size + 1, text.size()));
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const auto words = split_blanks(line);
    const bool is_user = words.size() >= 2 && words[0] == "user";
    const bool is_new = !is_user || loaded.insert(words[1]).second;
    // As in Redis, nothing after a user that is there twice is looked at.
    if (!is_new) {
      return errors + "WARNING: Duplicate user '" + words[1] + "' found on line " +
             std::to_string(number) + ". ";
    }
    if (const auto read = load_line(line, file + ":" + std::to_string(number)); !read)
      errors += read.error();
  }
  if (!errors.empty()) return errors;
  return {};
}

Result<void, std::string> Users::load_line(std::string_view line, const std::string& place) {
  const auto words = split_blanks(line);
  if (words.size() < 2 || words[0] != "user")
    return place + " should start with user keyword followed by the username. ";
  if (!is_user_name(words[1]))
    return place + ": username '" + words[1] + "' contains invalid characters. ";
  const auto rules = merge_selectors({words.begin() + 2, words.end()});
  if (!rules)
    return place + ": Unmatched parentheses in acl selector starting at '" + rules.error() + "'. ";
  const auto added = add(words[1], *rules);
  if (added) return {};
  const Refusal& refusal = added.error();
  if (refusal.why == kUnknownName) {
    return place + ": Error in applying operation '" + refusal.rule +
           "': " + std::string(refusal.why) + ". ";
  }
  return place + ": " + std::string(refusal.why) + ". ";
}

std::string Users::text() const {
  std::string text;
  for (const auto& [name, user] : users_) text += user->line() + "\n";
  return text;
}

std::vector<std::shared_ptr<User>> Users::replace_with(Users next) {
  std::vector<std::shared_ptr<User>> gone;
  for (const auto& [name, user] : users_) {
    const auto found = next.users_.find(name);
    if (found == next.users_.end()) {
      gone.push_back(user);
    } else {
      *user = *found->second;
      found->second = user;
    }
  }
  users_ = std::move(next.users_);
  return gone;
}

}  // namespace weir::server::acl
