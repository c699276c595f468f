// The checksum at the end of what DUMP and FUNCTION DUMP answer: Jones' polynomial, bits mirrored,
// beginning at zero. The bytes "123456789" have e9c6d914c4b8d9ca. DO NOT CHANGE.
#pragma once

#include <cstdint>
#include <string_view>

namespace weir::server::rdb {

uint64_t crc64(std::string_view bytes);

}  // namespace weir::server::rdb
