// JSON (RFC 8259): what a request asks for, and what it is answered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "resp/value.h"
#include "server/http/take_words.h"

namespace weir::server::http {

// Reads an object whose members are strings, integers, true (the name alone), false and null (as if
// it were not there), or arrays of strings and integers: the words of `limits`, the numbers of
// others with commas between. The error is a whole line, "ERR ...".
Result<Parameters, std::string> parameters_of_json(std::string_view text);

// Reads {"commands": [[word, ...], ...]}, a word being a string, an integer, or {"hex": "..."}. The
// error is a whole line, "ERR ...".
Result<std::vector<std::vector<std::string>>, std::string> commands_of_json(std::string_view text);

// Writes a reply as JSON and a line's end: maps are objects, and `allowed`, `shadow` and `banned`
// are true or false.
std::string json_of(const resp::Value& reply);
// The same without the line's end, but that text that is no UTF-8 is {"hex": "..."}, and an error
// {"error": "..."}.
std::string page_json_of(const resp::Value& reply);
// {"error": "..."}
std::string json_of_error(std::string_view error);

}  // namespace weir::server::http
