#include "server/command/command_table.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/check.h"

namespace weir::server {
namespace {

constexpr size_t kNameBytesMax = 64;

// A name in lower case in a buffer on the stack; no command has a name too long for it.
struct LowerName {
  char bytes[kNameBytesMax];
  size_t size = 0;

  bool append(std::string_view text) {
    if (text.size() > kNameBytesMax - size) return false;
    for (const char c : text) bytes[size++] = to_lower(c);
    return true;
  }
  std::string_view view() const { return {bytes, size}; }
};

}  // namespace

CommandTable::CommandTable(std::span<const Commands> lists) {
  for (const Commands list : lists) {
    for (const Command& command : list) {
      WEIR_CHECK(by_name_.emplace(command.name, rows_.size()).second);
      indexes_.emplace(&command, rows_.size());
      rows_.push_back(&command);
      if (!command.is_subcommand()) all_.push_back(&command);
    }
  }
  std::sort(all_.begin(), all_.end(),
            [](const Command* a, const Command* b) { return a->name < b->name; });
}

const Command* CommandTable::find(std::string_view name) const {
  LowerName lower;
  if (!lower.append(name)) return nullptr;
  const auto found = by_name_.find(lower.view());
  if (found == by_name_.end() || lower.view().find('|') != std::string_view::npos) return nullptr;
  return rows_[found->second];
}

const Command* CommandTable::find_subcommand(const Command& container,
                                             std::string_view name) const {
  LowerName lower;
  if (!lower.append(container.name) || !lower.append("|") || !lower.append(name)) return nullptr;
  const auto found = by_name_.find(lower.view());
  return found == by_name_.end() ? nullptr : rows_[found->second];
}

const Command* CommandTable::find_by_full_name(std::string_view name) const {
  const size_t bar = name.find('|');
  const Command* command = find(name.substr(0, bar));
  if (command == nullptr || bar == name.npos) return command;
  return find_subcommand(*command, name.substr(bar + 1));
}

const Command* CommandTable::resolve(Args args) const {
  const Command* command = args.empty() ? nullptr : find(args[0]);
  if (command == nullptr || !command->has(kContainer) || args.size() < 2) return command;
  return find_subcommand(*command, args[1]);
}

std::vector<const Command*> CommandTable::subcommands(const Command& container) const {
  std::vector<const Command*> found;
  const std::string prefix = std::string(container.name) + "|";
  for (const Command* row : rows_) {
    if (row->name.starts_with(prefix)) found.push_back(row);
  }
  return found;
}

size_t CommandTable::index_of(const Command& command) const {
  return indexes_.find(&command)->second;
}

}  // namespace weir::server
