// What all connections over TLS share: the certificate and its key, whose certificates are
// accepted, which versions and ciphers, and the sessions that may be resumed. Made from the options
// tls-*.
//
// Invariants
// 1. It never changes. Other options or files make another one, and connections that began with
//    this one keep it until they end.
// 2. Making one asks nobody: a key whose password is missing is an error, not a prompt.
// 3. Renegotiation and compression are off, and without other options nothing older than TLS 1.2 is
//    spoken (Redis' defaults).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "server/config/config.h"
#include "server/tls/openssl.h"

namespace weir::server {

class TlsContext {
 public:
  // Reads the files. The error is one line that names the option, the file and what is wrong with
  // it; never a password.
  static Result<std::shared_ptr<const TlsContext>, std::string> make(const Config& config);

  // OpenSSL counts its users and locks it, so that it is no constant to it.
  SSL_CTX* handle() const { return handle_.get(); }
  // For the log: "CN=weir, valid until Jan  1 00:00:00 2027 GMT".
  std::string describe_certificate() const;
  // When the certificate ends, Unix time.
  int64_t not_after_s() const;

 private:
  explicit TlsContext(SslContextPointer handle) : handle_(std::move(handle)) {}

  SslContextPointer handle_;
};

// The connection speaks HTTP/2 alone, and says so to a client that asks (ALPN, RFC 7301); one that
// wants something else is refused. Others are told nothing, as if they had not asked. To be called
// before the handshake.
void speak_http2(SSL* connection);

}  // namespace weir::server
