// Who a request says that it comes from.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir::server::http {

struct Credentials {
  std::string user;
  std::string password;
};

// Reads "Basic TOKEN" or "Bearer TOKEN", TOKEN being user:password in base64 (RFC 7617); an empty
// user is `default`. Nothing: it is something else.
std::optional<Credentials> parse_credentials(std::string_view authorization);

}  // namespace weir::server::http
