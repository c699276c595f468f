// Keys as commands find them: counted reads, and the check of what a key holds.
#pragma once

#include <string_view>

#include "server/command.h"

namespace weir::server {

// A look-up that the client sees as a read: it counts as a hit or a miss in INFO. Writes look up
// with call.look_up, which counts nothing.
storage::Ref read_key(Call& call, std::string_view key);

// Whether a key is absent or holds a string; else WRONGTYPE has been replied.
bool is_string_or_absent(Call& call, const storage::Ref& ref);

// As TYPE answers it: "string", "limiter", "none".
std::string_view type_name(storage::Type type);

}  // namespace weir::server
