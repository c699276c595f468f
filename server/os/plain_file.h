// Reading a file that an operator has written.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace weir::server {

// Reads the whole of a plain file; nothing else is opened, because opening a pipe would wait for
// who writes it. An error is "cannot read PATH: why"; a file longer than `bytes_max` is one, in
// which `max_text` names that size. A byte order mark at its beginning is left out.
Result<void, std::string> read_plain_file(const std::string& path, size_t bytes_max,
                                          const std::string& max_text, std::string* text);

}  // namespace weir::server
