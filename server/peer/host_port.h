// host:port as addresses have it; an IPv6 address stands in [].
#pragma once

#include <string>
#include <string_view>

namespace weir::server {

// Reads host[:port]; without a port `port` stays. False: it is none, or the port is not 1 to 65535.
bool read_host_and_port(std::string_view text, std::string* host, int* port);
std::string host_and_port(const std::string& host, int port);

}  // namespace weir::server
