// SHA-1 (FIPS 180-4), by which scripts are named. For names only: it protects nothing.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::server::script {

std::array<uint8_t, 20> sha1(std::string_view bytes);

// Answers 40 lower-case digits.
std::string sha1_hex(std::string_view bytes);

}  // namespace weir::server::script
