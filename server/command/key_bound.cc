#include "server/command/key_bound.h"

#include "server/command/command_facts.h"
#include "storage/format/name_bound.h"

namespace weir::server {

Result<void, std::string> check_keys_among(const Command& command, Args args, int64_t bytes_max) {
  const auto most = static_cast<size_t>(bytes_max);
  for (const KeyReference& key : find_keys(command, args)) {
    const size_t bytes = args[key.position].size();
    if (bytes > most) return storage::long_name_error("a key", bytes, most);
  }
  return {};
}

}  // namespace weir::server
