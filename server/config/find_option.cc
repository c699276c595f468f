// Options by their names.
#include <algorithm>

#include "base/ascii.h"
#include "server/config/config_options.h"

namespace weir::server {

const Option* find_option(std::string_view name) {
  for (const Option& option : config_options()) {
    if (equals_ignoring_case(name, option.name)) return &option;
    if (!option.alias.empty() && equals_ignoring_case(name, option.alias)) return &option;
  }
  return nullptr;
}

bool is_secret_option(std::string_view name) {
  constexpr std::string_view kSecret[] = {
      "requirepass",    "masterauth", "masteruser", "tls-key-file-pass", "tls-client-key-file-pass",
      "member-password"};
  return std::any_of(std::begin(kSecret), std::end(kSecret), [name](std::string_view secret) {
    return equals_ignoring_case(name, secret);
  });
}

}  // namespace weir::server
