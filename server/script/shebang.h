// The first line of a script that begins with "#!": its engine and its flags; of a library: its
// engine and its name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weir::server::script {

// What a script or a function says of itself. But for the first they allow what is allowed here
// anyway.
enum ScriptFlag : uint32_t {
  kNoWrites = 1 << 0,
  kAllowOom = 1 << 1,
  kAllowStale = 1 << 2,
  kNoCluster = 1 << 3,
  kAllowCrossSlotKeys = 1 << 4,
};

// Their names, the first one's bit first.
std::span<const std::string_view> script_flag_names();
// 0: there is no such flag.
uint32_t script_flag(std::string_view name);

struct Shebang {
  bool present = false;
  uint32_t flags = 0;
  size_t body_at = 0;  // the line's end: what is compiled keeps its line numbers
};

// Nothing, and *error a whole error line, when the line is none of ours.
std::optional<Shebang> parse_shebang(std::string_view script, std::string* error);

struct LibraryHead {
  std::string name;
  size_t body_at = 0;
};

// The same for a library.
std::optional<LibraryHead> parse_library_head(std::string_view code, std::string* error);

// Of libraries and functions: letters, digits and underscores.
bool is_name(std::string_view text);
inline constexpr std::string_view kNameError =
    "ERR Library names can only contain letters, numbers, or underscores(_) and must be at least "
    "one character long";

}  // namespace weir::server::script
