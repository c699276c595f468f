// What this server is, and which Redis it resembles.
#pragma once

#include <string_view>

namespace weir::server {

// The Redis whose surface is served; clients choose their commands by it.
inline constexpr std::string_view kRedisVersion = "7.2.0";

// The version of weir: that of the project, with the commit where it was set.
std::string_view weir_version();
// REQUIRES: the text lives as long as the process, and no other thread runs yet.
void set_weir_version(std::string_view version);

// The version with the commit from which the program was built. weir-server alone has it, in a file
// that tools/built_version.cmake writes: nothing else has to be linked anew for each commit.
std::string_view built_version();

}  // namespace weir::server
