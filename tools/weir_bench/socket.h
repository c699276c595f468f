// The few socket calls that are made before the load begins.
#pragma once

#include <cstdint>
#include <string>

#include "resp/value.h"

namespace weir::bench {

// A connected blocking socket without Nagle's delay; -1 and the reason otherwise.
int connect_to(const std::string& host, int64_t port, std::string* error);

// One request and its reply. A broken or silent peer is an error value that says so.
resp::Value ask(int descriptor, const std::string& request);

}  // namespace weir::bench
