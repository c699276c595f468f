// nats://[USER@]HOST[:PORT][,HOST[:PORT]...]: the servers of a NATS cluster, one of which a client
// talks to. A number of IPv6 stands in brackets. The scheme may stand before each host.
//
// tls:// in the place of nats:// encrypts the connection, and after the hosts there may stand
// ?tlsca=FILE (whose certificates are trusted for the servers; without it those that the system
// trusts) and tlscert=FILE&tlskey=FILE (the client's own), with & between them. A FILE begins with
// /.
//
// A password in it is refused, since the address stands in configuration files, in lists of
// processes and in logs. Nothing of an address that might hold one is repeated in an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace weir::storage::nats {

struct Address {
  std::string user;                // empty: none
  std::vector<std::string> hosts;  // HOST:PORT, at least one, in the order of the address
  bool is_encrypted = false;
  // Of a connection that is encrypted, in PEM; "": none.
  std::string authority_file;
  std::string certificate_file;  // and key_file, or neither
  std::string key_file;
};

// Whether the text is meant as such an address.
bool is_nats_address(std::string_view text);

// The error is one line.
Result<Address, std::string> parse_address(std::string_view text);

}  // namespace weir::storage::nats
