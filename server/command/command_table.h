// All commands by name.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/command/command.h"

namespace weir::server {

class CommandTable {
 public:
  // Makes the table of the rows of all lists, which must outlive it.
  explicit CommandTable(std::span<const Commands> lists);

  // Finds a command by name in any case; for containers ("config") the container's own row. Null if
  // unknown.
  const Command* find(std::string_view name) const;
  // Finds "config" + "get". Null if unknown.
  const Command* find_subcommand(const Command& container, std::string_view name) const;
  // Finds "get" or "config|get", in any case. Null if unknown.
  const Command* find_by_full_name(std::string_view name) const;
  // Answers the row that a request means, subcommand resolved; null if unknown.
  const Command* resolve(Args args) const;
  // Answer the top-level rows in order of name, and a container's subcommands.
  const std::vector<const Command*>& all() const { return all_; }
  std::vector<const Command*> subcommands(const Command& container) const;
  // Answers a number below count() for every row, by which counters beside the table are kept.
  size_t index_of(const Command& command) const;
  size_t count() const { return rows_.size(); }
  const Command* row(size_t index) const { return rows_[index]; }

 private:
  std::vector<const Command*> rows_;
  std::vector<const Command*> all_;
  std::unordered_map<std::string_view, size_t> by_name_;
  std::unordered_map<const Command*, size_t> indexes_;
};

}  // namespace weir::server
