// A limiter in a dump. Redis has no such type, and refuses it: "Bad data format".
//
//     body    := 119 version(1) text(record) size list...
//     record  := as on disk, see algorithms/limiter_record.h
//     list    := size element...      first that of the bookings, then that of the holds, if there
//     are any, then those of
//                                     the limits that keep entries, in their order
//     element := order(u64) text(member) text(value)
//
// with sizes and texts as in rdb/value.h. Instants are those of the clock, so the time between dump
// and restore passes for a limiter, too. DO NOT CHANGE: clients keep these bytes.
#pragma once

#include <string>
#include <string_view>

#include "server/command/command.h"
#include "server/command/error_replied.h"

namespace weir::server {

bool is_limiter_body(std::string_view body);

// Appends a limiter. REQUIRES: the key holds a limiter.
Result<void, ErrorReplied> append_limiter(Call& call, const storage::Ref& ref, std::string* body);

// Restores a limiter. False, and nothing is changed, for bytes that are no limiter. REQUIRES:
// is_limiter_body(body).
bool restore_limiter(Call& call, std::string_view body, std::string_view key, int64_t expire_at_ms);

}  // namespace weir::server
