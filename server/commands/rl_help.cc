// RL.HELP: the commands RL.*, and how limits are written.
#include <string>
#include <vector>

#include "algorithms/algorithm.h"
#include "algorithms/limit_text.h"
#include "base/ascii.h"
#include "server/command/usage.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

constexpr std::string_view kLanguage[] = {
    "limits: limit [limit ...], with POLICY name in the place of one of them. A limit is",
    "    count/period [option value ...] [ban] [AS name]       100/1m, 100/minute, 100 PER minute",
    "    ALGORITHM rate [option value ...] [ban] [AS name]",
    "ADAPTIVE min..max lets RL.REPORT move the count; a report slower than SLOW is a failure.",
    "A ban is BAN duration AFTER n WITHIN duration: so many denials ban the key for a while.",
    "Units: us ms s m h d w, or second minute hour day week. The algorithms:",
};

void add_command(const Command& row, std::vector<std::string>* lines) {
  std::string name = to_upper(row.name);
  if (const size_t bar = name.find('|'); bar != name.npos) name[bar] = ' ';
  lines->push_back(name + (row.usage.empty() ? "" : " ") + usage_text(row.usage));
  lines->push_back("    " + std::string(row.summary));
}

void rl_help(Call& call) {
  const CommandTable& table = server_of(call).executor().table();
  std::vector<std::string> lines(std::begin(kLanguage), std::end(kLanguage));
  for (const algorithms::Algorithm* algorithm : algorithms::all_algorithms()) {
    lines.push_back("    " + algorithms::grammar_text(*algorithm));
  }
  lines.push_back("Commands:");
  for (const Command* row : table.all()) {
    if (!row->name.starts_with("rl.")) continue;
    if (!row->has(kContainer)) add_command(*row, &lines);
    for (const Command* inner : table.subcommands(*row)) add_command(*inner, &lines);
  }
  call.reply.array(static_cast<int64_t>(lines.size()));
  for (const std::string& line : lines) call.reply.status(line);
}

constexpr Command kRlHelpCommands[] = {
    {.name = "rl.help",
     .arity = 1,
     .flags = kLoading,
     .group = "ratelimit",
     .summary = "Answers what the RL commands do and how limits are written.",
     .since = "weir 0.1",
     .run = rl_help},
};

}  // namespace

Commands rl_help_commands() { return kRlHelpCommands; }

}  // namespace weir::server
