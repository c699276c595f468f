// postgres://[USER@]HOST[:PORT][,HOST[:PORT]...]/DATABASE[?OPTION=VALUE...]: libpq's own form of an
// address, which libpq takes apart.
//
// A password in it is refused, since the address stands in configuration files, in lists of
// processes and in logs. Nothing of an address that might hold one is repeated in an error.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace weir::storage::postgres {

struct Host {
  std::string name;     // as given; a socket's folder begins with / or @; empty: libpq's default
  std::string address;  // numeric, if it was given (hostaddr); else the name has to be resolved
  std::string port;     // empty: libpq's default
};

struct Address {
  std::vector<Host> hosts;  // at least one, in the order of the address
  std::vector<std::pair<std::string, std::string>> options;  // libpq's names, but for the hosts'
};

// Whether the text is meant as such an address.
bool is_postgres_address(std::string_view text);

// The error is one line.
Result<Address, std::string> parse_address(const std::string& text);

// A host's name that needs no look-up: a number, a socket's folder, libpq's default.
bool needs_no_look_up(const Host& host);

}  // namespace weir::storage::postgres
