// The reply of a command that only succeeds or fails.
#pragma once

#include <string>

#include "base/result.h"
#include "server/command/command.h"

namespace weir::server {

// OK, or the error, which is a whole line.
inline void reply_done(Call& call, const Result<void, std::string>& done) {
  done ? call.reply.status("OK") : call.reply.error(done.error());
}

}  // namespace weir::server
