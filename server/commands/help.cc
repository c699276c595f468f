#include "server/commands/help.h"

#include <string>
#include <vector>

#include "base/ascii.h"
#include "server/command/usage.h"
#include "server/core/run/server.h"

namespace weir::server {

void reply_help(Call& call, std::string_view container, std::span<const HelpEntry> entries) {
  call.reply.array(static_cast<int64_t>(1 + 2 * entries.size()));
  call.reply.status(to_upper(container) + " <subcommand> [<argument> ...]. Subcommands are:");
  for (const HelpEntry& entry : entries) {
    call.reply.status(entry.usage);
    call.reply.status("    " + std::string(entry.summary));
  }
}

void container_help(Call& call) {
  const std::string_view name = call.command.name;
  const std::string_view container = name.substr(0, name.find('|'));
  const CommandTable& table = server_of(call).executor().table();
  std::vector<std::string> usages;
  std::vector<const Command*> rows = table.subcommands(*table.find(container));
  for (const Command* row : rows) {
    usages.push_back(to_upper(row->name.substr(container.size() + 1)));
    if (!row->usage.empty()) usages.back().append(" ").append(usage_text(row->usage));
  }
  std::vector<HelpEntry> entries;
  for (size_t i = 0; i < rows.size(); ++i) {
    entries.push_back({.usage = usages[i], .summary = rows[i]->summary});
  }
  reply_help(call, container, entries);
}

}  // namespace weir::server
