// What goes around a body that DUMP and FUNCTION DUMP answer:
//
//     payload := body version(u16) crc64(u64)      little-endian; the sum is of all before it
//
// We write version 10, that of Redis 7.0, and read up to 11, that of 7.2. DO NOT CHANGE.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir::server::rdb {

inline constexpr int kVersionWritten = 10;
inline constexpr int kVersionMax = 11;

// Redis' words. On the wire: DO NOT CHANGE.
inline constexpr std::string_view kNotWhole = "ERR DUMP payload version or checksum are wrong";

// Makes the body a payload.
void seal(std::string* body);

// The body, as a view. Nothing where the payload is not whole or of a version that is not known;
// *error is then the error line, which names both versions where it is that.
std::optional<std::string_view> open(std::string_view payload, std::string* error);
// The same, of any version.
std::optional<std::string_view> open_any(std::string_view payload);

}  // namespace weir::server::rdb
