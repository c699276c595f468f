#include "server/http/credentials.h"

#include "base/ascii.h"
#include "base/base64.h"

namespace weir::server::http {
namespace {

// Reads base64 with its padding or without.
std::optional<std::string> base64_decoded(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string padded(text);
  padded.append((4 - padded.size() % 4) % 4, '=');
  return decode_base64(padded);
}

}  // namespace

std::optional<Credentials> parse_credentials(std::string_view authorization) {
  const size_t blank = authorization.find(' ');
  if (blank == authorization.npos) return std::nullopt;
  const std::string_view scheme = authorization.substr(0, blank);
  if (!equals_ignoring_case(scheme, "basic") && !equals_ignoring_case(scheme, "bearer"))
    return std::nullopt;
  const auto pair = base64_decoded(trimmed(authorization.substr(blank)));
  const size_t colon = pair ? pair->find(':') : std::string::npos;
  if (colon == std::string::npos) return std::nullopt;
  return Credentials{.user = colon == 0 ? "default" : pair->substr(0, colon),
                     .password = pair->substr(colon + 1)};
}

}  // namespace weir::server::http
