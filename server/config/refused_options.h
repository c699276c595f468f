// Options of Redis that would promise what weir does not do: replicas, a cluster, modules,
// threads, files of its own kind.
//
// They are refused with the reason, so that nobody believes to have what is not there. Where a
// value says the same as weir does (`tls-port 0`), a configuration file may have it.
#pragma once

#include <string_view>

namespace weir::server {

struct RefusedOption {
  std::string_view name;      // a '*' at the end stands for any rest
  std::string_view harmless;  // the value that is accepted; empty: none
  std::string_view why;  // goes on after "NAME is an option of Redis that weir does not have: "
};

// Finds one by name, in any case; null if there is none.
const RefusedOption* find_refused(std::string_view name);

// True if the option says with this value what is so in any case.
bool is_harmless(const RefusedOption& option, std::string_view value);

}  // namespace weir::server
