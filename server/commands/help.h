// The HELP of a container ("CLIENT HELP"), made from the rows of its subcommands.
#pragma once

#include "server/command/command.h"

namespace weir::server {

// Runs the row "<container>|help".
void container_help(Call& call);

// An entry of a HELP: "NAME arguments" and what it does. The entries follow the container's own
// line.
struct HelpEntry {
  std::string_view usage;
  std::string_view summary;
};
void reply_help(Call& call, std::string_view container, std::span<const HelpEntry> entries);

}  // namespace weir::server
