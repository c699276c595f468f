// Which shard a record is of. DO NOT CHANGE: FORMAT.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/crc64.h"

namespace weir::storage::replication {

// The checksum that every record of a shard carries: of the cluster's id and the shard's name.
inline uint64_t shard_checksum(const std::array<char, 16>& cluster, std::string_view name) {
  return crc64_xz(std::string(cluster.data(), cluster.size()).append(name));
}

}  // namespace weir::storage::replication
