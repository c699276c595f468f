// TLS of a connection of cnats, which makes the handshake in a blocking socket and waits in it
// without an end. That is bounded here from inside of OpenSSL, which tells when a handshake begins
// and before it reads.
//
// Invariants
// 1. A connection to tls:// is encrypted or is none; one to nats:// is encrypted if the server
//    insists, as NATS' clients do it. A certificate is verified, and that it names the host.
// 2. The handshake is given up after a second, or two if the server then says nothing.
// 3. Nobody is asked for the password of a key: a key that has one is an error.
#pragma once

#include <nats/nats.h>

#include <string>

#include "storage/shared_logs/nats/address.h"

namespace weir::storage::nats {

// For a connection to `host`, which is HOST:PORT, that this thread will make. The thread must not
// use OpenSSL for anything else. The files are read anew by each call. Answers why it cannot be, in
// one line that names the file; "": the options are set.
std::string set_encryption(natsOptions* options, const Address& address, const std::string& host);

}  // namespace weir::storage::nats
