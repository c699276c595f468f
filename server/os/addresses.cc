#include "server/os/addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits.h>
#include <netinet/in.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "base/ascii.h"

namespace weir::server {
namespace {

bool is_address(const sockaddr* address, const in_addr* four, const in6_addr* six) {
  if (address == nullptr) return false;
  if (address->sa_family == AF_INET && four != nullptr) {
    const auto* const own = reinterpret_cast<const sockaddr_in*>(address);
    return std::memcmp(&own->sin_addr, four, sizeof *four) == 0;
  }
  if (address->sa_family == AF_INET6 && six != nullptr) {
    const auto* const own = reinterpret_cast<const sockaddr_in6*>(address);
    return std::memcmp(&own->sin6_addr, six, sizeof *six) == 0;
  }
  return false;
}

}  // namespace

bool is_ip_address(std::string_view host) {
  const std::string text(host);
  in6_addr address{};
  return inet_pton(AF_INET, text.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

bool is_own_name(std::string_view host) {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return false;
  return equals_ignoring_case(host, name.data()) || equals_ignoring_case(host, "localhost");
}

OwnHosts::OwnHosts() : all_(nullptr, freeifaddrs) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) == 0) all_.reset(all);
}

bool OwnHosts::has(std::string_view host) const {
  const std::string text(host);
  in_addr four{};
  in6_addr six{};
  const bool is_four = inet_pton(AF_INET, text.c_str(), &four) == 1;
  const bool is_six = inet_pton(AF_INET6, text.c_str(), &six) == 1;
  if (!is_four && !is_six) return is_own_name(host);
  bool found = false;
  for (const ifaddrs* each = all_.get(); each != nullptr; each = each->ifa_next)
    found |= is_address(each->ifa_addr, is_four ? &four : nullptr, is_six ? &six : nullptr);
  return found;
}

}  // namespace weir::server
