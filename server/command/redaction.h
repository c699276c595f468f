// Which part of a request may be shown to others: to monitors, in the slow log, in the audit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/command/command.h"

namespace weir::server {

inline constexpr std::string_view kRedacted = "(redacted)";

// Answers the arguments with the secret ones (passwords, users' rules) replaced by kRedacted.
std::vector<std::string_view> redacted(const Command& command, Args args);
// The same for the audit, which tells more of users' rules: those that are no passwords.
std::vector<std::string_view> audited(const Command& command, Args args);
// Answers a user's line with its passwords' hashes replaced.
std::string without_hashes(std::string_view line);

}  // namespace weir::server
