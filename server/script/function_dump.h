// The payload of FUNCTION DUMP, in Redis' own form: libraries go from here to Redis 7 and back.
//
//     payload := ( 245 size code )* version(u16) crc64(u64)       little-endian; the CRC is of all
//     before it
//
// with sizes as Redis writes them: 6 bits behind 00, 14 behind 01, 32 (big-endian) behind 0x80, 64
// behind 0x81; or 0xc3 size size bytes for text that is compressed (LZF). We write nothing
// compressed, and read it. DO NOT CHANGE.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::server::script {

std::string dump_libraries(const std::vector<std::string_view>& codes);

// Nothing when the payload is not whole, or holds something else; *error is then the error line.
std::optional<std::vector<std::string>> parse_dump(std::string_view payload, std::string* error);

}  // namespace weir::server::script
