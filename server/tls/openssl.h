// What OpenSSL says and owns, in our words: objects that free themselves, errors as one line.
//
// OpenSSL keeps the errors of a thread in a queue, and a call that fails adds to what an earlier
// one has left. So whoever calls OpenSSL clears the queue before, or takes the error after.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace weir::server {

template <auto release>
struct OpensslFree {
  template <class T>
  void operator()(T* object) const {
    release(object);
  }
};
using SslContextPointer = std::unique_ptr<SSL_CTX, OpensslFree<SSL_CTX_free>>;
using SslPointer = std::unique_ptr<SSL, OpensslFree<SSL_free>>;
using BioPointer = std::unique_ptr<BIO, OpensslFree<BIO_free>>;
using KeyPointer = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;

// Answers why the last call failed, by the first error of the queue: "wrong version number". The
// queue is empty then. Without an error: "unknown error".
std::string take_openssl_error();

// Answers the common name (CN) of a certificate's subject; "" if there is none, if there are
// several, or if it has bytes that are no printable text: such a name must not be taken for
// another.
std::string common_name_of(const X509& certificate);

}  // namespace weir::server
