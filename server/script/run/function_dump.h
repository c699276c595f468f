// The payload of FUNCTION DUMP, in Redis' own form: libraries can move to Redis 7 and back.
//
//     body := ( 245 text )*      the text is a library's code; see rdb/value.h and rdb/envelope.h
//
// weir writes nothing compressed, but reads it. DO NOT CHANGE.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace weir::server::script {

std::string dump_libraries(const std::vector<std::string_view>& codes);

// Reads a payload. Fails with the error line when it is not whole, or holds something else.
// Libraries of any version are taken: their form has never changed.
Result<std::vector<std::string>, std::string> parse_dump(std::string_view payload);

}  // namespace weir::server::script
