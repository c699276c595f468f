#include "server/http/credentials.h"

#include <cstdint>

#include "base/ascii.h"

namespace weir::server::http {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Reads base64 (RFC 4648, 4), with its padding or without.
std::optional<std::string> decoded(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const size_t value = kAlphabet.find(c);
    if (value == kAlphabet.npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<char>(bits >> held & 0xff));
  }
  return bytes;
}

}  // namespace

std::optional<Credentials> parse_credentials(std::string_view authorization) {
  const size_t blank = authorization.find(' ');
  if (blank == authorization.npos) return std::nullopt;
  const std::string_view scheme = authorization.substr(0, blank);
  if (!equals_ignoring_case(scheme, "basic") && !equals_ignoring_case(scheme, "bearer"))
    return std::nullopt;
  const auto pair = decoded(trimmed(authorization.substr(blank)));
  const size_t colon = pair ? pair->find(':') : std::string::npos;
  if (colon == std::string::npos) return std::nullopt;
  return Credentials{.user = colon == 0 ? "default" : pair->substr(0, colon),
                     .password = pair->substr(colon + 1)};
}

}  // namespace weir::server::http
