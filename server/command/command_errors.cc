#include "server/command/command_errors.h"

#include "base/ascii.h"
#include "server/command/arguments.h"

namespace weir::server {

std::string unknown_command_error(const CommandTable& table, Args args) {
  constexpr size_t kShownMax = 128;
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
  return "ERR unknown command '" + std::string(shown_part(args[0]).substr(0, kShownMax)) +
         "', with args beginning with: " + shown;
}

bool is_cross_protocol_request(Args args) {
  return equals_ignoring_case(args[0], "post") || equals_ignoring_case(args[0], "host:");
}

std::string arity_error(const Command& command) {
  return "ERR wrong number of arguments for '" + std::string(command.name) + "' command";
}

}  // namespace weir::server
