// Which part of a request may be shown to others: to monitors and in the slow log.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/command/command.h"

namespace weir::server {

inline constexpr std::string_view kRedacted = "(redacted)";

// Answers the arguments with the secret ones (passwords, users' rules) replaced by kRedacted.
std::vector<std::string_view> redacted(const Command& command, Args args);

}  // namespace weir::server
