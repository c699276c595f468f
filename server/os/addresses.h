// What this machine is called and reached by.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct ifaddrs;

namespace weir::server {

// Tells whether `host` is an address, of IPv4 or IPv6, as text without a zone.
bool is_ip_address(std::string_view host);
// Tells whether `host` is what this machine calls itself, or localhost.
bool is_own_name(std::string_view host);

// The addresses that the machine's interfaces have when this is made.
class OwnHosts {
 public:
  OwnHosts();

  // Tells whether `host` is one of them, as text without a zone, or the machine's own name.
  bool has(std::string_view host) const;

 private:
  std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all_;
};

}  // namespace weir::server
