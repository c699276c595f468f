// Which commands a selector allows: one bit per row of the command table, and the rules that made
// them, in their order, for showing. They are kept as they were given, so `+@hash` that one version
// has saved covers the hash commands of the next. What is given up is Redis 7.0's shortest
// description of the bits.
//
// Invariants
// 1. Applying text() to new rules gives the same rights. This also holds with the command table of
//    another version, as far as it knows the names.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server/acl/rule_errors.h"
#include "server/command/command_table.h"

namespace weir::server::acl {

class CommandRules {
 public:
  explicit CommandRules(const CommandTable* table) : table_(table), allowed_(table->count()) {}

  void allow_all();
  void deny_all();
  // Applies "+get", "-config|set", "+@read", "+select|0" (SELECT with 0 as first argument).
  Applied apply(std::string_view rule);

  bool allow(const Command& command, Args args) const;
  // True if every command that there is or will be is allowed, none of which was taken away since.
  bool all() const { return all_; }
  // True if FORCE and giving back are allowed: the last rule about @ratelimitadmin or @all says so.
  bool administers_limits() const { return administers_limits_; }
  // For example "-@all +get +@hash".
  std::string text() const;

 private:
  Applied apply_category(std::string_view name, bool allowed);
  Applied allow_first_argument(std::string_view rule);
  void change(const Command& command, bool allowed);
  void note(bool allowed, std::string_view name);
  const Command* find(std::string_view name) const;

  const CommandTable* table_;
  std::vector<bool> allowed_;                               // by CommandTable::index_of
  std::map<size_t, std::vector<std::string>> first_words_;  // by commands whose bit is not set
  std::vector<std::string> rules_;  // since the last allow_all or deny_all; lower case
  bool all_ = false;
  bool administers_limits_ = false;
  bool allows_others_ = false;  // whether commands that no rule names are allowed
};

}  // namespace weir::server::acl
