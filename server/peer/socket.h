// A connection to a server by its name, for clients that wait.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "storage/format/file.h"

namespace weir::server {

// Looks the host up and tries its addresses in turn; each step, also of what the caller does with
// the socket, ends after `patience_ms` of silence. `on_socket` sees each socket before it is
// connected, and -1 before one that could not be is closed; if it answers false, that was all. The
// error is a line without the host's name.
Result<storage::Descriptor, std::string> connect_socket(
    const std::string& host, int port, int64_t patience_ms,
    const std::function<bool(int descriptor)>& on_socket = {});

}  // namespace weir::server
