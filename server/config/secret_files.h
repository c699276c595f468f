// Files with passwords, their hashes or private keys, which not every user of a machine should
// read.
#pragma once

#include <string>
#include <vector>

#include "server/config/config.h"

namespace weir::server {

// Answers a line for each file with a secret that others than its owner and its group may read or
// write. A file that is not there is nobody's.
std::vector<std::string> open_secrets(const Config& config);

}  // namespace weir::server
