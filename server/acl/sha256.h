// SHA-256 (FIPS 180-4), in which form passwords are kept.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::server::acl {

std::array<uint8_t, 32> sha256(std::string_view bytes);

// Answers 64 lower-case digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace weir::server::acl
