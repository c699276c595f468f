// Replies of the Redis protocol, as they come to those who make answers of them.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "resp/value.h"

namespace weir::server::http {

// What one request is answered has no more: of a batch and of the page, what is past it are errors.
inline constexpr size_t kAnswerBytesMax = 8 << 20;

// Reads one reply. The error is a whole line, "ERR internal error ...".
Result<resp::Value, std::string_view> read_reply(std::string_view bytes);

}  // namespace weir::server::http
