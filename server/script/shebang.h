// The first line of a script that begins with "#!": its engine and its flags.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir::server::script {

struct Shebang {
  bool present = false;
  bool no_writes = false;
  size_t body_at = 0;  // the line's end: what is compiled keeps its line numbers
};

// Nothing, and *error a whole error line, when the line is none of ours.
std::optional<Shebang> parse_shebang(std::string_view script, std::string* error);

}  // namespace weir::server::script
