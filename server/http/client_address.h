// The address of a caller in a field that a proxy has written, as a part of a key.
//
//     2001:db8:1:2:3::4, [2001:db8::1]:443, 192.0.2.1:50412, ::ffff:192.0.2.1, fe80::1%eth0
//     198.51.100.7, 203.0.113.9           a list, of which the last is taken
//     for="[2001:db8::1]:443";proto=https  of Forwarded (RFC 7239), likewise
//
// The last of a list is what the proxy that asks has seen itself; whatever stands before it, the
// caller may have sent. A comma or a semicolon in a quoted string separates nothing: a proxy quotes
// there what the caller has sent, such as a host.
//
// Whoever has one address of IPv6 has 2^64 of them at least, since no network is smaller than a
// /64. So a limit for each address limits nobody, and addresses are cut to their network.
#pragma once

#include <string>
#include <string_view>

namespace weir::server::http {

// How many bits of an address are kept.
struct AddressBits {
  int ipv4 = 32;
  int ipv6 = 128;
};

// Answers the address in its canonical text (RFC 5952), without port, brackets, quotes and zone,
// one that is mapped from IPv4 as that; one that is cut as a network, "2001:db8:1:2::/64". What is
// no address stays as it is, but of a list the last alone, and of Forwarded what `for` names
// ("unknown", "_hidden"), without a port.
std::string client_address(std::string_view field, const AddressBits& bits);

}  // namespace weir::server::http
