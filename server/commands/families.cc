#include "server/commands/families.h"

#include <array>

namespace weir::server {

std::span<const Commands> command_families() {
  static const std::array kFamilies = {
      connection_commands(),
      throttle_commands(),
  };
  return kFamilies;
}

}  // namespace weir::server
