// What a member tells the others of its configuration and its users, so that people see where the
// members of a shard differ (WEIR CHECK).
#pragma once

#include <array>

#include "server/acl/users.h"
#include "server/config/config.h"

namespace weir::server {

struct NodeDigests {
  std::array<char, 32> configuration{};  // SHA-256
  std::array<char, 32> acl{};
};

// Options that say where a machine keeps its files, and where it is reached, do not count; nor do
// secrets, which are no matter for the others' eyes. Of users whose rules have more than 256 KB
// nothing is told.
NodeDigests node_digests(const Config& config, const acl::Users& users);

}  // namespace weir::server
