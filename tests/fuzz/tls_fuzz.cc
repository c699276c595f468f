// Whatever a peer sends before, in or after its handshake, a stream answers and leaves no error
// behind. An even first byte: the rest is what an unknown client sends. An odd one: a client of
// OpenSSL has shaken hands, and the rest is what comes on its wire then. Bytes arrive in portions
// whose size the second byte says.
#include <openssl/err.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "server/net/tls_stream.h"
#include "tests/server/tls/certificates.h"

namespace weir::server {
namespace {

using Progress = TlsStream::Progress;

struct Wire {
  std::string arriving;
  std::string sent;
  size_t portion = SIZE_MAX;
};

class WireStream final : public ByteStream {
 public:
  explicit WireStream(Wire* wire) : wire_(*wire) {}
  Transfer recv(std::span<char> buffer) override {
    const size_t size = std::min({buffer.size(), wire_.arriving.size(), wire_.portion});
    if (size == 0) return {.result = Transfer::Result::kWantsRead};
    wire_.arriving.copy(buffer.data(), size);
    wire_.arriving.erase(0, size);
    return {.result = Transfer::Result::kMoved, .bytes = size};
  }
  Transfer send(std::string_view bytes) override {
    wire_.sent.append(bytes);
    return {.result = Transfer::Result::kMoved, .bytes = bytes.size()};
  }
  bool holds_input() const override { return false; }
  int descriptor() const override { return -1; }
  size_t memory_bytes() const override { return sizeof(*this); }

 private:
  Wire& wire_;
};

std::shared_ptr<const TlsContext> make_context() {
  const Certificates files;
  Config config;
  config.tls_cert_file = files.path("server.pem");
  config.tls_key_file = files.path("server.key");
  config.tls_ca_cert_file = files.path("ca.pem");
  config.tls_auth_clients = TlsAuthClients::kOptional;
  const auto made = TlsContext::make(config);
  if (!made) std::abort();
  return *made;
}

// Both sides in turn, in memory.
void shake_hands(TlsStream* stream, Wire* wire) {
  static SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  const SslPointer client(SSL_new(context));
  BIO* in = BIO_new(BIO_s_mem());
  BIO* out = BIO_new(BIO_s_mem());
  SSL_set_bio(client.get(), in, out);
  SSL_set_connect_state(client.get());
  for (auto progress = Progress::kWantsRead; progress == Progress::kWantsRead;) {
    (void)SSL_do_handshake(client.get());
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(out, &bytes);
    wire->arriving.append(bytes, static_cast<size_t>(size));
    (void)BIO_reset(out);
    progress = stream->handshake();
    BIO_write(in, wire->sent.data(), static_cast<int>(wire->sent.size()));
    wire->sent.clear();
  }
  ERR_clear_error();
}

void check(bool holds) {
  if (!holds || ERR_peek_error() != 0) std::abort();
}

void run(std::string_view input) {
  static const std::shared_ptr<const TlsContext> context = make_context();
  Wire wire;
  TlsStream stream(std::make_unique<WireStream>(&wire), *context);
  const bool established = (input[0] & 1) != 0;
  if (established) shake_hands(&stream, &wire);
  wire.portion = static_cast<uint8_t>(input[1]) + 1u;
  wire.arriving.append(input.substr(2));
  char buffer[4096];
  // Each call takes a portion or waits for one, so there are no more calls than bytes.
  for (size_t calls = 0; established; ++calls) {
    check(calls <= input.size() + 2);
    const Transfer transfer = stream.recv(buffer);
    check(transfer.result != Transfer::Result::kMoved || transfer.bytes > 0);
    const bool goes_on = transfer.result == Transfer::Result::kMoved || !wire.arriving.empty();
    if (transfer.result == Transfer::Result::kBroken || !goes_on) return;
    if (transfer.result == Transfer::Result::kEnded) return;
    (void)stream.send("+OK\r\n");
    check(true);
  }
  for (size_t calls = 0;; ++calls) {
    check(calls <= input.size());
    const Progress progress = stream.handshake();
    check(progress != Progress::kDone || stream.peer_name().empty());
    if (progress != Progress::kWantsRead || wire.arriving.empty()) return;
  }
}

}  // namespace
}  // namespace weir::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  weir::server::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
