#include "storage/shared_logs/nats/encryption.h"

#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <chrono>

#include "storage/format/file.h"
#include "storage/shared_logs/nats/words.h"

namespace weir::storage::nats {
namespace {

using std::chrono::steady_clock;

constexpr int kHandshakeS = 1;

thread_local bool is_of_cnats = false;      // what this thread makes of OpenSSL
thread_local SSL_CTX* last_made = nullptr;  // by such a thread
thread_local steady_clock::time_point handshake_end;
thread_local bool has_asked_password = false;

// Called before each read of the socket. After the handshake other threads read, and cnats bounds
// their waits by itself.
long may_read(BIO* socket, int operation, const char*, size_t, int, long, int result, size_t*) {
  if (operation != BIO_CB_READ || !is_of_cnats) return result;
  const auto* const connection = reinterpret_cast<const SSL*>(BIO_get_callback_arg(socket));
  return SSL_in_init(connection) && steady_clock::now() >= handshake_end ? -1 : result;
}

// Called when a handshake begins. Each read of it gets a limit, for a server that is silent, and no
// read begins after the end, for one that sends byte by byte. Writes need none: what a handshake
// sends fits into the socket.
void bound(const SSL* connection, int where, int) {
  if ((where & SSL_CB_HANDSHAKE_START) == 0 || !is_of_cnats) return;
  const timeval silence{.tv_sec = kHandshakeS, .tv_usec = 0};
  ::setsockopt(SSL_get_fd(connection), SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof silence);
  handshake_end = steady_clock::now() + std::chrono::seconds(kHandshakeS);
  BIO* const socket = SSL_get_rbio(connection);
  BIO_set_callback_arg(socket, reinterpret_cast<char*>(const_cast<SSL*>(connection)));
  BIO_set_callback_ex(socket, may_read);
}

int give_no_password(char*, int, int, void*) {
  has_asked_password = true;
  return 0;
}

// OpenSSL tells of each context of the process as it is made.
void note_context(void* made, void*, CRYPTO_EX_DATA*, int, long, void*) {
  if (!is_of_cnats) return;
  last_made = static_cast<SSL_CTX*>(made);
  SSL_CTX_set_info_callback(last_made, bound);
  SSL_CTX_set_default_passwd_cb(last_made, give_no_password);
}

// The context that cnats makes for these options, which it does not tell; null if it makes none.
SSL_CTX* make_context(natsOptions* options) {
  last_made = nullptr;
  return natsOptions_SetSecure(options, true) == NATS_OK ? last_made : nullptr;
}

// That they can be read is looked at first, since OpenSSL's words for it are poor.
std::string take_files(natsOptions* options, SSL_CTX* context, const Address& address) {
  for (const auto* const path :
       {&address.authority_file, &address.certificate_file, &address.key_file}) {
    std::string bytes;
    if (path->empty()) continue;
    if (const Status status = read_file(*path, &bytes); !status.ok()) return status.message();
  }
  if (!address.authority_file.empty()) {
    SSL_CTX_set_cert_store(context, X509_STORE_new());  // without what the system trusts
    const natsStatus status =
        natsOptions_LoadCATrustedCertificates(options, address.authority_file.c_str());
    if (status != NATS_OK) return address.authority_file + ": " + words_of(status);
  }
  if (address.certificate_file.empty()) return "";
  has_asked_password = false;
  const natsStatus status = natsOptions_LoadCertificatesChain(
      options, address.certificate_file.c_str(), address.key_file.c_str());
  if (status == NATS_OK) return "";
  if (has_asked_password) return address.key_file + ": the key must not have a password";
  return address.certificate_file + ", " + address.key_file + ": " + words_of(status);
}

}  // namespace

std::string set_encryption(natsOptions* options, const Address& address, const std::string& host) {
  static const int index =
      CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL_CTX, 0, nullptr, note_context, nullptr, nullptr);
  if (index < 0) return "out of memory";
  is_of_cnats = true;
  if (!address.is_encrypted) return "";
  SSL_CTX* const context = make_context(options);
  if (context == nullptr) return "no encryption: cnats makes no context of OpenSSL";
  std::string name = host.substr(0, host.rfind(':'));
  if (name.starts_with('[')) name = name.substr(1, name.size() - 2);
  if (natsOptions_SetExpectedHostname(options, name.c_str()) != NATS_OK) return "out of memory";
  return take_files(options, context, address);
}

}  // namespace weir::storage::nats
