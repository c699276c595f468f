// What this server is, and which Redis it resembles.
#pragma once

#include <string_view>

namespace weir::server {

// The Redis whose surface is served; clients choose their commands by it.
inline constexpr std::string_view kRedisVersion = "7.2.0";
inline constexpr std::string_view kWeirVersion = WEIR_VERSION;

}  // namespace weir::server
