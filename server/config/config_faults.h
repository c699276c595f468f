// What is wrong with options that are each right by themselves.
#pragma once

#include <string>
#include <vector>

#include "server/config/config.h"

namespace weir::server {

// Answers a line for each fault that can be told without starting: no port at all, two of the same
// number at one address, more maxmemory than the `memory_bytes` that the process may have.
std::vector<std::string> config_faults(const Config& config, int64_t memory_bytes);

}  // namespace weir::server
