// CRC-32C (Castagnoli), the checksum of RocksDB's write-ahead log and of the identity file.
#pragma once

#include <cstdint>
#include <string_view>

namespace weir::storage {

// Goes on from `crc`, the checksum of the bytes before these.
uint32_t crc32c(std::string_view bytes, uint32_t crc = 0);

}  // namespace weir::storage
