#include "server/peer/host_port.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"

namespace weir::server {
namespace {

constexpr int kHighestPort = 65535;

// What follows the host: nothing, or ':' and digits.
bool read_port(std::string_view text, int* port) {
  if (text.empty()) return true;
  if (text[0] != ':' || text.size() < 2 || !is_digit(text[1])) return false;
  text.remove_prefix(1);
  const auto read = std::from_chars(text.data(), text.data() + text.size(), *port);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && *port > 0 &&
         *port <= kHighestPort;
}

}  // namespace

bool read_host_and_port(std::string_view text, std::string* host, int* port) {
  std::string_view rest;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == text.npos) return false;
    *host = text.substr(1, end - 1);
    rest = text.substr(end + 1);
  } else {
    const size_t colon = std::min(text.find(':'), text.size());
    *host = text.substr(0, colon);
    rest = text.substr(colon);
  }
  return !host->empty() && read_port(rest, port);
}

std::string host_and_port(const std::string& host, int port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace weir::server
