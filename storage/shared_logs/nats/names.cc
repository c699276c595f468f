#include "storage/shared_logs/nats/names.h"

#include <charconv>

namespace weir::storage::nats {
namespace {

constexpr const char* kDigits = "0123456789abcdef";
constexpr size_t kHexDigits = 16;

bool is_plain(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '-' || character == '_';
}

}  // namespace

std::string token_of(std::string_view name) {
  std::string token;
  for (const char character : name) {
    if (is_plain(character)) {
      token += character;
      continue;
    }
    const auto byte = static_cast<uint8_t>(character);
    token += '=';
    token += kDigits[byte >> 4];
    token += kDigits[byte & 15];
  }
  return token;
}

std::string name_of(std::string_view token) {
  std::string name;
  for (size_t at = 0; at < token.size(); ++at) {
    uint8_t byte = 0;
    const char* const digits = token.data() + at + 1;
    const bool is_written = token[at] == '=' && at + 2 < token.size() &&
                            std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    name += is_written ? static_cast<char>(byte) : token[at];
    if (is_written) at += 2;
  }
  return name;
}

std::string hex_of(uint64_t number) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[number >> shift & 15];
  return text;
}

bool parse_hex(std::string_view text, uint64_t* number) {
  if (text.size() != kHexDigits) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + kHexDigits, *number, 16);
  return error == std::errc() && end == text.data() + kHexDigits;
}

}  // namespace weir::storage::nats
