// The few socket calls that are made before the load begins.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "resp/value.h"

namespace weir::bench {

// Answers a connected blocking socket without Nagle's delay.
Result<int, std::string> connect_to(const std::string& host, int64_t port);

// One request and its reply. A broken or silent peer is an error value that says so.
resp::Value ask(int descriptor, const std::string& request);

}  // namespace weir::bench
