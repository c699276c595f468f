// The names of shards and directories, as files have them (hexadecimal) and as records have them.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "storage/format/shard_identity.h"
#include "storage/replication/record.h"

namespace weir::server {

// 32 lower-case digits.
std::string hex_of_id(const std::array<char, 16>& id);
// Digits that are none count as 0. REQUIRES: 32 of them.
std::array<char, 16> id_of_hex(std::string_view digits);

// What the directory of a member says of the shard that begins so.
storage::ShardIdentity shard_of(const storage::replication::Genesis& genesis);

}  // namespace weir::server
