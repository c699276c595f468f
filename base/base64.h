// Base64 (RFC 4648, 4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir {

// Answers nothing for a text that is not base64 with its padding, from the first letter to the
// last.
std::optional<std::string> decode_base64(std::string_view text);
// Answers the text of any bytes, with its padding.
std::string encode_base64(std::string_view bytes);

}  // namespace weir
