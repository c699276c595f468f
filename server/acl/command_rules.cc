#include "server/acl/command_rules.h"

#include <algorithm>

#include "base/ascii.h"
#include "server/command/command_facts.h"

namespace weir::server::acl {
namespace {

constexpr std::string_view kLimitAdmins = "ratelimitadmin";

}  // namespace

void CommandRules::allow_all() {
  std::fill(allowed_.begin(), allowed_.end(), true);
  first_words_.clear();
  rules_.clear();
  all_ = allows_others_ = administers_limits_ = true;
}

void CommandRules::deny_all() {
  std::fill(allowed_.begin(), allowed_.end(), false);
  first_words_.clear();
  rules_.clear();
  all_ = allows_others_ = administers_limits_ = false;
}

Applied CommandRules::apply(std::string_view rule) {
  const bool allowed = rule[0] == '+';
  const std::string_view name = rule.substr(1);
  if (name.starts_with('@')) return apply_category(name.substr(1), allowed);
  const bool has_bar = name.find('|') != name.npos;
  const Command* command = find(name);
  if (command == nullptr && has_bar && allowed) return allow_first_argument(name);
  if (command == nullptr) return kUnknownName;
  change(*command, allowed);
  note(allowed, name);
  return {};
}

Applied CommandRules::apply_category(std::string_view name, bool allowed) {
  if (equals_ignoring_case(name, "all")) {
    allowed ? allow_all() : deny_all();
    return {};
  }
  const auto known = all_acl_categories();
  const std::string category = to_lower(name);
  if (std::find(known.begin(), known.end(), category) == known.end()) return kUnknownName;
  for (size_t i = 0; i < table_->count(); ++i) {
    const auto categories = acl_categories(*table_->row(i));
    if (std::find(categories.begin(), categories.end(), category) != categories.end())
      change(*table_->row(i), allowed);
  }
  if (category == kLimitAdmins) {
    administers_limits_ = allowed;
    if (!allowed) all_ = false;
  }
  note(allowed, "@" + category);
  return {};
}

// Allows a first argument. `rule` is "select|0"; a container's subcommands are commands of their
// own.
Applied CommandRules::allow_first_argument(std::string_view rule) {
  const size_t bar = rule.rfind('|');
  const std::string_view word = rule.substr(bar + 1);
  const Command* command = find(rule.substr(0, bar));
  if (command == nullptr) return kUnknownName;
  if (command->is_subcommand()) return kFirstArgOfSubcommand;
  if (word.empty() || !fits_a_word(word)) return kBadSyntax;
  if (command->has(kContainer)) return kUnknownName;
  auto& words = first_words_[table_->index_of(*command)];
  const bool is_new = std::none_of(words.begin(), words.end(), [&](const std::string& known) {
    return equals_ignoring_case(known, word);
  });
  if (is_new) words.emplace_back(word);
  note(true, rule);
  return {};
}

void CommandRules::change(const Command& command, bool allowed) {
  const size_t index = table_->index_of(command);
  allowed_[index] = allowed;
  first_words_.erase(index);
  if (!allowed) all_ = false;
  if (!command.has(kContainer)) return;
  for (const Command* row : table_->subcommands(command)) change(*row, allowed);
}

// Notes a rule, which replaces older rules about the same commands, or about some of them.
void CommandRules::note(bool allowed, std::string_view name) {
  const std::string rule = to_lower(name);
  std::erase_if(rules_, [&](const std::string& known) {
    const std::string_view about = std::string_view(known).substr(1);
    return about.starts_with(rule) && (about.size() == rule.size() || about[rule.size()] == '|');
  });
  rules_.push_back((allowed ? "+" : "-") + rule);
}

const Command* CommandRules::find(std::string_view name) const {
  const size_t bar = name.find('|');
  const Command* command = table_->find(name.substr(0, bar));
  if (command == nullptr || bar == name.npos) return command;
  return command->has(kContainer) ? table_->find_subcommand(*command, name.substr(bar + 1))
                                  : nullptr;
}

bool CommandRules::allow(const Command& command, Args args) const {
  if (all_ || command.has(kNoAuth)) return true;
  const size_t index = table_->index_of(command);
  if (allowed_[index]) return true;
  const auto words = first_words_.find(index);
  if (words == first_words_.end() || args.size() < 2) return false;
  return std::any_of(words->second.begin(), words->second.end(),
                     [&](const std::string& word) { return equals_ignoring_case(word, args[1]); });
}

std::string CommandRules::text() const {
  std::string text = allows_others_ ? "+@all" : "-@all";
  for (const std::string& rule : rules_) text += " " + rule;
  return text;
}

}  // namespace weir::server::acl
