// A client's side of TLS on a descriptor, as OpenSSL has it; no call waits.
#pragma once

#include <gtest/gtest.h>
#include <openssl/err.h>

#include <string>
#include <utility>

#include "tests/server/tls/certificates.h"

namespace weir::server {

class TlsPeer {
 public:
  explicit TlsPeer(const Certificate* certificate = nullptr, int version = 0)
      : context_(SSL_CTX_new(TLS_client_method())) {
    if (version != 0) SSL_CTX_set_max_proto_version(context_.get(), version);
    if (certificate != nullptr) {
      SSL_CTX_use_certificate(context_.get(), certificate->x509.get());
      SSL_CTX_use_PrivateKey(context_.get(), certificate->key.get());
    }
  }

  // Takes a descriptor that does not block; it stays the caller's.
  void attach(int descriptor) {
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), descriptor);
    SSL_set_connect_state(ssl_.get());
  }
  // Answers whether its part of the handshake is over.
  bool handshake() {
    ERR_clear_error();
    return SSL_do_handshake(ssl_.get()) == 1;
  }
  bool write(const std::string& bytes) {
    ERR_clear_error();
    return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) ==
           static_cast<int>(bytes.size());
  }
  // What has come so far, at most `most`.
  std::string read(size_t most = 1 << 20) {
    std::string all(most, '\0');
    size_t came = 0;
    size_t size = 0;
    ERR_clear_error();
    while (came < most && SSL_read_ex(ssl_.get(), all.data() + came, most - came, &size) == 1)
      came += size;
    all.resize(came);
    return all;
  }
  bool has_close_notify() const {
    return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }
  SSL* ssl() const { return ssl_.get(); }

 private:
  SslContextPointer context_;
  SslPointer ssl_;
};

}  // namespace weir::server
