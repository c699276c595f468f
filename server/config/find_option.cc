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
  constexpr std::string_view kOfRedisAlone[] = {"masterauth", "masteruser",
                                                "tls-client-key-file-pass"};
  if (const Option* option = find_option(name)) return option->secret;
  return std::ranges::any_of(kOfRedisAlone, [name](std::string_view secret) {
    return equals_ignoring_case(name, secret);
  });
}

}  // namespace weir::server
