#include "server/command/command_errors.h"

#include "base/ascii.h"
#include "server/command/arguments.h"
#include "server/command/usage.h"

namespace weir::server {

std::string unknown_command_error(const CommandTable& table, Args args) {
  constexpr size_t kShownMax = 128;  // as in Redis
  const Command* container = table.find(args[0]);
  if (container != nullptr && args.size() > 1) {
    return "ERR unknown subcommand '" + std::string(shown_part(args[1]).substr(0, kShownMax)) +
           "'. Try " + to_upper(container->name) + " HELP.";
  }
  std::string shown;
  for (size_t i = 1; i < args.size() && shown.size() < kShownMax; ++i) {
    const size_t room = kShownMax - shown.size();
    shown.append("'").append(shown_part(args[i]).substr(0, room)).append("' ");
  }
  const bool is_of_limiters = to_lower(args[0].substr(0, 3)) == "rl.";
  return "ERR unknown command '" + std::string(shown_part(args[0]).substr(0, kShownMax)) +
         "', with args beginning with: " + shown +
         (is_of_limiters ? "; RL.HELP lists the commands of limiters" : "");
}

bool is_cross_protocol_request(Args args) {
  return equals_ignoring_case(args[0], "post") || equals_ignoring_case(args[0], "host:");
}

// Redis' text, to which commands that Redis has not add how they are used.
std::string arity_error(const Command& command) {
  std::string text =
      "ERR wrong number of arguments for '" + std::string(command.name) + "' command";
  if (!command.name.starts_with("rl.")) return text;
  std::string name = to_upper(command.name);
  if (const size_t bar = name.find('|'); bar != name.npos) name[bar] = ' ';
  return text + "; usage: " + name + (command.usage.empty() ? "" : " ") + usage_text(command.usage);
}

}  // namespace weir::server
