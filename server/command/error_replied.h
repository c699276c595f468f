// The one way to say that a function could not go on and that its client knows why: the error line
// is in the reply already, and the caller returns without a word.
//
//     Result<Limiter, ErrorReplied> limiter = resolve(call, key, request);
//     if (!limiter) return;
//
// A record or a list that could not be read is such an error, too: the keyspace keeps the failure,
// and the executor puts the error line in the place of whatever the command has replied.
//
// A function that only finds out what is wrong answers Result<T, std::string> instead, and replies
// nothing.
#pragma once

#include <string_view>

#include "base/result.h"
#include "server/command/command.h"

namespace weir::server {

struct [[nodiscard]] ErrorReplied {};

// Replies an error line, "ERR ...".
inline ErrorReplied reply_error(Call& call, std::string_view line) {
  call.reply.error(line);
  return {};
}

// Says that a reading has failed. REQUIRES: the keyspace has kept the failure.
inline ErrorReplied reading_failed() { return {}; }

}  // namespace weir::server
