// The envelope of what DUMP and FUNCTION DUMP answer, around a body:
//
//     payload := body version(u16) crc64(u64)      little-endian; the sum is of all before it
//
// weir writes version 10, that of Redis 7.0, and reads up to 11, that of 7.2. DO NOT CHANGE.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace weir::server::rdb {

inline constexpr int kVersionWritten = 10;
inline constexpr int kVersionMax = 11;

// Redis' words, sent to clients: DO NOT CHANGE.
inline constexpr std::string_view kNotWhole = "ERR DUMP payload version or checksum are wrong";

// Makes the body a payload.
void seal(std::string* body);

// Answers the body, as a view. Fails with the error line if the payload is not whole, or if its
// version is not known; the line then names both versions.
Result<std::string_view, std::string> open(std::string_view payload);
// Does the same for any version; nothing if the payload is not whole.
std::optional<std::string_view> open_any(std::string_view payload);

}  // namespace weir::server::rdb
