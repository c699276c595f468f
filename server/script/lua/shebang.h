// The first line of a script or a library that begins with "#!". It names a script's engine and
// flags, or a library's engine and name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace weir::server::script {

// What a script or a function says of itself. All flags but the first allow what is allowed here
// anyway.
enum ScriptFlag : uint32_t {
  kNoWrites = 1 << 0,
  kAllowOom = 1 << 1,
  kAllowStale = 1 << 2,
  kNoCluster = 1 << 3,
  kAllowCrossSlotKeys = 1 << 4,
};

// Answers the flags' names, that of the lowest bit first.
std::span<const std::string_view> script_flag_names();
// Answers the flag of a name; 0 if there is none.
uint32_t script_flag(std::string_view name);

struct Shebang {
  bool present = false;
  uint32_t flags = 0;
  size_t body_at = 0;  // at the line's end, so that the compiled text keeps its line numbers
};

// Reads the line. Fails with a whole error line when it is not one that weir knows.
Result<Shebang, std::string> parse_shebang(std::string_view script);

struct LibraryHead {
  std::string name;
  size_t body_at = 0;
};

// Reads a library's line in the same way.
Result<LibraryHead, std::string> parse_library_head(std::string_view code);

// Tells whether a text can name a library or a function: letters, digits and underscores.
bool is_name(std::string_view text);
inline constexpr std::string_view kNameError =
    "ERR Library names can only contain letters, numbers, or underscores(_) and must be at least "
    "one character long";

}  // namespace weir::server::script
