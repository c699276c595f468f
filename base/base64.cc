#include "base/base64.h"

#include <array>
#include <cstdint>

namespace weir {
namespace {

constexpr uint8_t kNone = 0xff;
constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr auto kValues = [] {
  std::array<uint8_t, 256> values{};
  for (uint8_t& value : values) value = kNone;
  for (size_t i = 0; i < kLetters.size(); ++i)
    values[static_cast<uint8_t>(kLetters[i])] = static_cast<uint8_t>(i);
  return values;
}();

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool is_padding = at >= text.size() - padding;
    const uint8_t value = is_padding ? 0 : kValues[static_cast<uint8_t>(text[at])];
    if (value == kNone) return std::nullopt;
    bits = bits << 6 | value;
    if (at % 4 != 3) continue;
    for (int shift = 16; shift >= 0; shift -= 8) bytes += static_cast<char>(bits >> shift);
    bits = 0;
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

std::string encode_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t bits = 0;
    for (size_t i = at; i < at + 3; ++i)
      bits = bits << 8 | (i < bytes.size() ? static_cast<uint8_t>(bytes[i]) : 0U);
    for (int shift = 18; shift >= 0; shift -= 6) text += kLetters[bits >> shift & 63];
    if (at + 2 >= bytes.size()) text[text.size() - 1] = '=';
    if (at + 1 >= bytes.size()) text[text.size() - 2] = '=';
  }
  return text;
}

}  // namespace weir
