#include "server/tls/tls_context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "server/config/config_checks.h"
#include "server/config/config_words.h"

namespace weir::server {
namespace {

using Done = Result<void, std::string>;

// A session is resumed only where it began: OpenSSL wants a name for that if it asks for
// certificates.
constexpr std::string_view kSessionPlace = "weir";

std::string of_file(const char* option, const std::string& path) {
  return std::string(option) + ' ' + printable(path) + ": ";
}

// A pipe would hold the loop up until somebody writes it.
Done check_file(const char* option, const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return of_file(option, path) + std::strerror(errno);
  if (S_ISREG(status.st_mode)) return {};
  return of_file(option, path) + "it is not a plain file";
}

Done check_folder(const char* option, const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return of_file(option, path) + std::strerror(errno);
  if (S_ISDIR(status.st_mode)) return {};
  return of_file(option, path) + "it is not a directory";
}

Done use_certificate(SSL_CTX* context, const Config& config) {
  constexpr const char* kOption = "tls-cert-file";
  const std::string& path = config.tls_cert_file;
  if (path.empty()) return "tls-cert-file is not set: a server's side of TLS needs a certificate";
  if (auto checked = check_file(kOption, path); !checked) return checked;
  if (SSL_CTX_use_certificate_chain_file(context, path.c_str()) == 1) return {};
  return of_file(kOption, path) +
         "it is no certificate in PEM that can be used: " + take_openssl_error();
}

// What the key's file is read with; OpenSSL asks only if the file is encrypted.
struct Password {
  const std::string& text;
  bool asked = false;
};

int give_password(char* buffer, int size, int, void* closure) {
  auto* password = static_cast<Password*>(closure);
  password->asked = true;
  if (password->text.empty() || password->text.size() > static_cast<size_t>(size)) return -1;
  password->text.copy(buffer, password->text.size());
  return static_cast<int>(password->text.size());
}

Done use_key(SSL_CTX* context, const Config& config) {
  constexpr const char* kOption = "tls-key-file";
  const std::string& path = config.tls_key_file;
  if (path.empty()) return "tls-key-file is not set: a server's side of TLS needs its private key";
  if (auto checked = check_file(kOption, path); !checked) return checked;
  const BioPointer file(BIO_new_file(path.c_str(), "r"));
  if (file == nullptr) return of_file(kOption, path) + take_openssl_error();
  Password password = {.text = config.tls_key_file_pass};
  const KeyPointer key(PEM_read_bio_PrivateKey(file.get(), nullptr, give_password, &password));
  if (key == nullptr) {
    const std::string why = take_openssl_error();
    if (!password.asked) return of_file(kOption, path) + "it is no private key in PEM: " + why;
    if (password.text.empty())
      return of_file(kOption, path) + "it is encrypted, and tls-key-file-pass is not set";
    return of_file(kOption, path) + "tls-key-file-pass does not decrypt it: " + why;
  }
  if (X509_check_private_key(SSL_CTX_get0_certificate(context), key.get()) != 1) {
    ERR_clear_error();
    return of_file(kOption, path) + "it is not the key of tls-cert-file " +
           printable(config.tls_cert_file);
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) == 1) return {};
  return of_file(kOption, path) + take_openssl_error();
}

Done use_authorities(SSL_CTX* context, const Config& config) {
  if (config.tls_auth_clients == TlsAuthClients::kNo) return {};
  const std::string& file = config.tls_ca_cert_file;
  const std::string& folder = config.tls_ca_cert_dir;
  if (file.empty() && folder.empty()) {
    return "tls-ca-cert-file or tls-ca-cert-dir must be set: clients' certificates are asked for "
           "(tls-auth-clients), and nothing says whose are accepted";
  }
  if (!file.empty()) {
    if (auto checked = check_file("tls-ca-cert-file", file); !checked) return checked;
    if (SSL_CTX_load_verify_file(context, file.c_str()) != 1) {
      return of_file("tls-ca-cert-file", file) +
             "it has no certificate in PEM that can be used: " + take_openssl_error();
    }
  }
  if (!folder.empty()) {
    if (auto checked = check_folder("tls-ca-cert-dir", folder); !checked) return checked;
    if (SSL_CTX_load_verify_dir(context, folder.c_str()) != 1)
      return of_file("tls-ca-cert-dir", folder) + take_openssl_error();
  }
  const int must = config.tls_auth_clients == TlsAuthClients::kYes ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT
                                                                   : SSL_VERIFY_NONE;
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | must, nullptr);
  return {};
}

Done set_versions(SSL_CTX* context, const Config& config) {
  const TlsVersions wanted = tls_versions(config.tls_protocols);
  const std::pair<bool, uint64_t> versions[] = {{wanted.v1_0, SSL_OP_NO_TLSv1},
                                                {wanted.v1_1, SSL_OP_NO_TLSv1_1},
                                                {wanted.v1_2, SSL_OP_NO_TLSv1_2},
                                                {wanted.v1_3, SSL_OP_NO_TLSv1_3}};
  for (const auto& [is_wanted, without] : versions) {
    if (!is_wanted) SSL_CTX_set_options(context, without);
  }
  // The system's own configuration may have another lowest version.
  if (SSL_CTX_set_min_proto_version(context, TLS1_VERSION) == 1) return {};
  return "tls-protocols: " + take_openssl_error();
}

Done set_ciphers(SSL_CTX* context, const Config& config) {
  if (!config.tls_ciphers.empty() &&
      SSL_CTX_set_cipher_list(context, config.tls_ciphers.c_str()) != 1) {
    return "tls-ciphers " + printable(config.tls_ciphers) + ": " + take_openssl_error();
  }
  if (!config.tls_ciphersuites.empty() &&
      SSL_CTX_set_ciphersuites(context, config.tls_ciphersuites.c_str()) != 1) {
    return "tls-ciphersuites " + printable(config.tls_ciphersuites) + ": " + take_openssl_error();
  }
  if (config.tls_prefer_server_ciphers)
    SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE);
  return {};
}

void set_session_caching(SSL_CTX* context, const Config& config) {
  const auto* place = reinterpret_cast<const unsigned char*>(kSessionPlace.data());
  SSL_CTX_set_session_id_context(context, place, kSessionPlace.size());
  if (config.tls_session_caching) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_SERVER);
    SSL_CTX_sess_set_cache_size(context, config.tls_session_cache_size);
    SSL_CTX_set_timeout(context, config.tls_session_cache_timeout);
    return;
  }
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
}

// That a connection is to speak HTTP/2 is its application data (speak_http2).
int choose_protocol(SSL* connection, const unsigned char** chosen, unsigned char* chosen_size,
                    const unsigned char* offered, unsigned offered_size, void*) {
  static constexpr unsigned char kHttp2[] = {2, 'h', '2'};
  if (SSL_get_app_data(connection) == nullptr) return SSL_TLSEXT_ERR_NOACK;
  unsigned char* found = nullptr;
  const int selected =
      SSL_select_next_proto(&found, chosen_size, kHttp2, sizeof kHttp2, offered, offered_size);
  *chosen = found;
  return selected == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

// How the streams use it (net/tls_stream.h): a send packs what fits a record; a peer that ends
// without a close_notify has ended; an idle connection keeps no buffers.
void set_ways(SSL_CTX* context) {
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                   SSL_OP_SINGLE_DH_USE | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
}

// Curves alone: a client chooses the group, and one step in the largest finite field that OpenSSL
// offers by itself (ffdhe8192) takes a fifth of a second, before anybody has logged in.
Done set_groups(SSL_CTX* context, const Config&) {
  if (SSL_CTX_set1_groups_list(context, "X25519:P-256:X448:P-384:P-521") == 1) return {};
  return "TLS cannot be used: " + take_openssl_error();
}

std::string show(const ASN1_TIME* time) {
  const BioPointer text(BIO_new(BIO_s_mem()));
  if (ASN1_TIME_print(text.get(), time) != 1) return "an unknown time";
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(text.get(), &bytes);
  return {bytes, static_cast<size_t>(size)};
}

}  // namespace

Result<std::shared_ptr<const TlsContext>, std::string> TlsContext::make(const Config& config) {
  ERR_clear_error();
  SslContextPointer made(SSL_CTX_new(TLS_server_method()));
  if (made == nullptr) return "TLS cannot be used: " + take_openssl_error();
  SSL_CTX* context = made.get();
  set_ways(context);
  set_session_caching(context, config);
  for (Done (*step)(SSL_CTX*, const Config&) :
       {set_groups, set_versions, set_ciphers, use_certificate, use_key, use_authorities}) {
    if (auto done = step(context, config); !done) return done.error();
  }
  ERR_clear_error();
  return std::shared_ptr<const TlsContext>(new TlsContext(std::move(made)));
}

int64_t TlsContext::not_after_s() const {
  std::tm parts{};
  ASN1_TIME_to_tm(X509_get0_notAfter(SSL_CTX_get0_certificate(handle_.get())), &parts);
  return ::timegm(&parts);
}

void speak_http2(SSL* connection) {
  static char mark = 0;
  (void)SSL_set_app_data(connection, &mark);
}

std::string TlsContext::describe_certificate() const {
  const X509* certificate = SSL_CTX_get0_certificate(handle_.get());
  const std::string name = common_name_of(*certificate);
  const ASN1_TIME* end = X509_get0_notAfter(certificate);
  const bool over = X509_cmp_current_time(end) < 0;
  return "CN=" + name + (over ? ", NOT VALID since " : ", valid until ") + show(end);
}

}  // namespace weir::server
