// Look-ups of keys for commands: counted reads, and the check of what a key holds.
#pragma once

#include <string_view>

#include "server/command/command.h"
#include "server/command/error_replied.h"

namespace weir::server {

// Looks a key up as a read that the client sees: it counts as a hit or a miss in INFO. Writes look
// up with call.look_up, which counts nothing.
storage::Ref read_key(Call& call, std::string_view key);

// Checks that a key is absent or holds a string; any other is answered WRONGTYPE.
Result<void, ErrorReplied> check_string_or_absent(Call& call, const storage::Ref& ref);

// Answers the name that TYPE answers: "string", "limiter", "none".
std::string_view type_name(storage::Type type);

}  // namespace weir::server
