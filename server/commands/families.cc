#include "server/commands/families.h"

#include <array>

namespace weir::server {

std::span<const Commands> command_families() {
  static const std::array kFamilies = {
      connection_commands(),   throttle_commands(), strings_commands(),      strings_set_commands(),
      strings_edit_commands(), keys_commands(),     keys_walk_commands(),    expiry_commands(),
      databases_commands(),    client_commands(),   command_info_commands(), config_commands(),
      debug_commands(),        info_commands(),     persistence_commands(),  server_commands(),
  };
  return kFamilies;
}

}  // namespace weir::server
