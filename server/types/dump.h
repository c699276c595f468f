// A value as bytes that outlive the server: what DUMP answers and RESTORE takes. It is weir's own
// form, not Redis'. DO NOT CHANGE: these bytes lie with clients.
//
//     dump     = "weir" version type content crc
//     version  = u8, 1
//     type     = u8, a storage::Type: string, hash, set or sorted set
//     content  = the string's bytes, or form varint n, then n times: order value member
//     form     = u8, a server::Form
//     order    = u64, big-endian, and value and member are byte strings with a varint size before
//     crc      = CRC-32C of all before, as u64, little-endian
//
// A checksum is no signature: whatever comes back is checked as any argument is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/command.h"

namespace weir::server {

// REQUIRES: can_dump(ref.type()). Nothing where reading failed.
std::optional<std::string> dump(Call& call, const storage::Ref& ref);
bool can_dump(storage::Type type);

// Whether bytes are whole and of a version that is known.
bool is_dump(std::string_view bytes);
// Puts the value at a key, in place of whatever was there; false, and nothing is changed, for bytes
// that mean no value. REQUIRES: is_dump(bytes).
bool restore(Call& call, std::string_view bytes, std::string_view key, int64_t expire_at_ms);

}  // namespace weir::server
