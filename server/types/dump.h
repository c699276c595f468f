// A value as bytes that outlive the server or go to another one: what DUMP answers and RESTORE
// takes.
//
// Strings, hashes, lists, sets and sorted sets are in Redis' own form (server/rdb/), so that they
// move both ways. Limiters have a form of their own in the same envelope (types/dump_limiter.h),
// under a type that Redis refuses. What is given up is what only weir knows of a collection,
// compression, and streaming: a value is in memory twice while it moves.
//
// A checksum is no signature: a payload is checked as any argument is. It is decoded whole and
// checked before anything is written, because a command that fails inside a script is not taken
// back.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "server/command/command.h"
#include "server/command/error_replied.h"

namespace weir::server {

// Answers the payload.
Result<std::string, ErrorReplied> dump(Call& call, const storage::Ref& ref);

// Puts the value at a key, in place of whatever was there. Fails with the error line if the bytes
// mean no value: then nothing is changed.
Result<void, std::string> restore(Call& call, std::string_view payload, std::string_view key,
                                  int64_t expire_at_ms);

}  // namespace weir::server
