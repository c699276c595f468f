// What goes wrong under /v1/, as a problem of RFC 9457:
//
//     {"type": "about:blank", "title": "Bad Request", "status": 400, "detail": "cost must be ...",
//      "field": "cost", "error": "ERR cost must be ..."}
//
// `error` is the line of the Redis protocol, whose first word tells programs what it is; `field`
// is there where one member is to blame.
#pragma once

#include <string_view>

#include "server/http/format/json_value.h"
#include "server/http/format/message.h"

namespace weir::server::http {

inline constexpr std::string_view kProblemType = "application/problem+json";

// `field` may be empty.
Json problem_of(unsigned status, std::string_view error, std::string_view field = {});

// The answer to an error of a command, whose status it has.
Answer problem_answer(std::string_view error, std::string_view field = {});
// The same of another status, where there was no command.
Answer problem_answer(unsigned status, std::string_view what);

}  // namespace weir::server::http
