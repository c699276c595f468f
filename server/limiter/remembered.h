// Granted requests that carried an ID, so that a retry gets the first answer and takes nothing.
//
// Each is one record in a database that no client can select, so that DEL and FLUSHALL leave it and
// time removes it:
//
//     key   := database(varint) size(varint) key token
//     value := digest of the arguments (u64 le) reply       a reply as RESP2 bytes. DO NOT CHANGE
//
// The reply must consist of integers, arrays and nulls only.
#pragma once

#include <string>
#include <string_view>

#include "base/time_units.h"
#include "server/command/command.h"

namespace weir::server {

inline constexpr int64_t kRememberedMs = kMsPerMinute;

// Tells whether the token, which may be empty for none, was used for this key before. Then it has
// given the same reply again, or an error because the arguments differ.
[[nodiscard]] bool recalled(Call& call, std::string_view key, std::string_view token);
// Keeps the reply, which begins at `reply_begin` of the writer's buffer. REQUIRES: a token that is
// not empty.
void remember(Call& call, std::string_view key, std::string_view token, size_t reply_begin);

}  // namespace weir::server
