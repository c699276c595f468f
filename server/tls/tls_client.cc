#include "server/tls/tls_client.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <climits>

namespace weir::server {
namespace {

using Done = Result<void, std::string>;

bool is_address(const std::string& host) {
  unsigned char bytes[sizeof(in6_addr)];
  return ::inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

Done set_files(SSL_CTX* context, const TlsClientOptions& options) {
  ERR_clear_error();
  if (options.ca_cert_file.empty()) {
    SSL_CTX_set_default_verify_paths(context);
  } else if (SSL_CTX_load_verify_file(context, options.ca_cert_file.c_str()) != 1) {
    return "cannot use the authorities of " + options.ca_cert_file + ": " + take_openssl_error();
  }
  if (options.cert_file.empty()) return {};
  if (SSL_CTX_use_certificate_chain_file(context, options.cert_file.c_str()) != 1)
    return "cannot use the certificate " + options.cert_file + ": " + take_openssl_error();
  if (SSL_CTX_use_PrivateKey_file(context, options.key_file.c_str(), SSL_FILETYPE_PEM) != 1)
    return "cannot use the key " + options.key_file + ": " + take_openssl_error();
  return {};
}

Done name_host(SSL* ssl, const std::string& host) {
  if (is_address(host)) {
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1) return {};
  } else if (SSL_set_tlsext_host_name(ssl, host.c_str()) == 1 &&
             SSL_set1_host(ssl, host.c_str()) == 1) {
    return {};
  }
  return "cannot ask for the host " + host + ": " + take_openssl_error();
}

}  // namespace

Result<std::unique_ptr<TlsClient>, std::string> TlsClient::connect(
    int descriptor, const std::string& host, const TlsClientOptions& options) {
  SslContextPointer context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr) return take_openssl_error();
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_AUTO_RETRY);
  if (auto set = set_files(context.get(), options); !set) return set.error();
  SSL_CTX_set_verify(context.get(), options.accept_any ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                     nullptr);
  SslPointer ssl(SSL_new(context.get()));
  if (ssl == nullptr || SSL_set_fd(ssl.get(), descriptor) != 1) return take_openssl_error();
  if (auto named = name_host(ssl.get(), host); !named) return named.error();
  ERR_clear_error();
  if (SSL_connect(ssl.get()) == 1)
    return std::unique_ptr<TlsClient>(new TlsClient(std::move(context), std::move(ssl)));
  const long verified = SSL_get_verify_result(ssl.get());
  const std::string why = take_openssl_error();
  if (verified != X509_V_OK && !options.accept_any)
    return std::string("its certificate is not accepted: ") +
           X509_verify_cert_error_string(verified);
  return "the TLS handshake failed: " + why;
}

TlsClient::~TlsClient() {
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

long TlsClient::receive(char* buffer, size_t size) {
  ERR_clear_error();
  const int got = SSL_read(ssl_.get(), buffer, static_cast<int>(std::min<size_t>(size, INT_MAX)));
  if (got > 0) return got;
  return SSL_get_error(ssl_.get(), got) == SSL_ERROR_ZERO_RETURN ? 0 : -1;
}

long TlsClient::send(const char* bytes, size_t size) {
  ERR_clear_error();
  const int put = SSL_write(ssl_.get(), bytes, static_cast<int>(std::min<size_t>(size, INT_MAX)));
  return put > 0 ? put : -1;
}

}  // namespace weir::server
