// TLS, the client's side, on a socket that waits: for what weir-server asks of other servers
// (--import). The server's own side is net/tls_stream.h.
//
// Invariant: the peer's certificate is checked, and its name is that of the host that was asked
// for, unless the caller says that it need not be.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"
#include "server/tls/openssl.h"

namespace weir::server {

struct TlsClientOptions {
  std::string ca_cert_file;  // "": the system's authorities
  std::string cert_file;     // "": none is shown
  std::string key_file;
  bool accept_any = false;  // whatever certificate the server has
};

class TlsClient {
 public:
  // Makes the handshake on a connected socket, which stays the caller's. The error is one line.
  static Result<std::unique_ptr<TlsClient>, std::string> connect(int descriptor,
                                                                 const std::string& host,
                                                                 const TlsClientOptions& options);
  ~TlsClient();

  // As recv() and send() answer: how many bytes, 0 at the end, -1 for a failure.
  long receive(char* buffer, size_t size);
  long send(const char* bytes, size_t size);

 private:
  TlsClient(SslContextPointer context, SslPointer ssl)
      : context_(std::move(context)), ssl_(std::move(ssl)) {}

  SslContextPointer context_;
  SslPointer ssl_;
};

}  // namespace weir::server
