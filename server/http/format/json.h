// What JSON (RFC 8259) asks for, and replies as JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "resp/value.h"
#include "server/http/format/json_value.h"

namespace weir::server::http {

struct JsonBounds {
  size_t depth_max = 8;
  size_t members_max = 64;  // of an object
};

// What is wrong with a body, and where.
struct Fault {
  std::string at = {};  // "cost", "requests[3].take.cost"; empty: all of it
  std::string what;     // "is given twice"

  // A whole line: "ERR cost is given twice".
  std::string line() const { return "ERR " + (at.empty() ? "the body" : at) + " " + what; }
};

// Reads one value, which is all that the text holds. It refuses what readers understand in several
// ways: names that an object has twice, and text that is no UTF-8.
Result<Json, Fault> parse_json(std::string_view text, const JsonBounds& bounds = {});

// Reads {"commands": [[word, ...], ...]}, a word being a string, an integer, or {"hex": "..."}. The
// error is a whole line, "ERR ...".
Result<std::vector<std::vector<std::string>>, std::string> commands_of_json(std::string_view text);

// The text of a string or of an integer.
std::optional<std::string> plain_text(const Json& value);
// The bytes of {"hex": "..."}.
std::optional<std::string> bytes_of_json(const Json& value);

// A reply: maps are objects, `allowed`, `shadow` and `banned` are true or false, and text that is
// no UTF-8 is {"hex": "..."}.
Json json_of(const resp::Value& reply);
// The same as text, an error being {"error": "..."}.
std::string page_json_of(const resp::Value& reply);
// {"error": "..."} and a line's end.
std::string json_of_error(std::string_view error);

}  // namespace weir::server::http
