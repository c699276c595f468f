// CRC-64/XZ, the checksum that identifies a record of the shared log (replication/FORMAT.md).
#pragma once

#include <cstdint>
#include <string_view>

namespace weir::storage {

// Goes on from `crc`, the checksum of the bytes before these.
uint64_t crc64(std::string_view bytes, uint64_t crc = 0);

}  // namespace weir::storage
