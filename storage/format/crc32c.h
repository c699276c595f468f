// CRC-32C, the checksum of RocksDB's write-ahead log and of the identity file. Source: G.
// Castagnoli et al., Optimization of Cyclic Redundancy-Check Codes with 24 and 32 Parity Bits,
// 1993.
#pragma once

#include <cstdint>
#include <string_view>

namespace weir::storage {

// Goes on from `crc`, the checksum of the bytes before these.
uint32_t crc32c(std::string_view bytes, uint32_t crc = 0);

}  // namespace weir::storage
