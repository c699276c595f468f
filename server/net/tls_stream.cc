#include "server/net/tls_stream.h"

#include <openssl/err.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace weir::server {

// The stream below, as OpenSSL wants it: a BIO whose functions find the stream in its data.
struct TlsWire {
  static constexpr char kHandshakeRecord = 22;  // the type of TLS' first record (RFC 8446, 5.1)

  static TlsStream& stream_of(BIO* bio) { return *static_cast<TlsStream*>(BIO_get_data(bio)); }

  static int read(BIO* bio, char* bytes, int size) {
    TlsStream& stream = stream_of(bio);
    BIO_clear_retry_flags(bio);
    if (size <= 0) return 0;
    if (!std::exchange(stream.may_take_, false)) {
      BIO_set_retry_read(bio);
      return -1;
    }
    const Transfer transfer = stream.below_->recv({bytes, static_cast<size_t>(size)});
    if (transfer.result == Transfer::Result::kMoved) {
      if (!std::exchange(stream.has_begun_, true))
        stream.begins_as_tls_ = bytes[0] == kHandshakeRecord;
      return static_cast<int>(transfer.bytes);
    }
    stream.has_ended_ = transfer.result == Transfer::Result::kEnded;
    if (stream.has_ended_) return 0;
    if (transfer.result != Transfer::Result::kBroken) BIO_set_retry_read(bio);
    return -1;
  }

  static int write(BIO* bio, const char* bytes, int size) {
    BIO_clear_retry_flags(bio);
    if (size <= 0) return 0;
    const Transfer transfer = stream_of(bio).below_->send({bytes, static_cast<size_t>(size)});
    if (transfer.result == Transfer::Result::kMoved) return static_cast<int>(transfer.bytes);
    if (transfer.result != Transfer::Result::kBroken) BIO_set_retry_write(bio);
    return -1;
  }

  static long control(BIO* bio, int command, long, void*) {
    if (command == BIO_CTRL_FLUSH) return 1;
    if (command == BIO_CTRL_EOF) return stream_of(bio).has_ended_ ? 1 : 0;
    return 0;
  }

  static const BIO_METHOD* method() {
    static BIO_METHOD* const made = [] {
      BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stream");
      BIO_meth_set_read(method, read);
      BIO_meth_set_write(method, write);
      BIO_meth_set_ctrl(method, control);
      return method;
    }();
    return made;
  }
};

TlsStream::TlsStream(std::unique_ptr<ByteStream> below, const TlsContext& context)
    : below_(std::move(below)), ssl_(SSL_new(context.handle())) {
  BIO* bio = BIO_new(TlsWire::method());
  WEIR_REQUIRE(ssl_ != nullptr && bio != nullptr);  // else memory is at its end
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);  // which takes it over
  SSL_set_accept_state(ssl_.get());
}

void TlsStream::ask_no_certificate() {
  constexpr std::string_view kPlace = "weir, nobody asked";
  SSL_set_verify(ssl_.get(), SSL_VERIFY_NONE, nullptr);
  const auto* place = reinterpret_cast<const unsigned char*>(kPlace.data());
  WEIR_REQUIRE(SSL_set_session_id_context(ssl_.get(), place, kPlace.size()) == 1);
}

TlsStream::~TlsStream() {
  if (is_established_ && !is_broken_) (void)SSL_shutdown(ssl_.get());
  ssl_.reset();
  ERR_clear_error();
}

Transfer::Result TlsStream::result_of(int answer) {
  const int error = SSL_get_error(ssl_.get(), answer);
  if (error == SSL_ERROR_WANT_READ) return Transfer::Result::kWantsRead;
  if (error == SSL_ERROR_WANT_WRITE) return Transfer::Result::kWantsWrite;
  if (error == SSL_ERROR_ZERO_RETURN) return Transfer::Result::kEnded;
  is_broken_ = true;
  return Transfer::Result::kBroken;
}

TlsStream::Progress TlsStream::fail() {
  const bool says_why = ERR_peek_error() != 0;
  const long verified = SSL_get_verify_result(ssl_.get());
  failure_ = says_why ? take_openssl_error() : "the client has closed the connection";
  if (says_why && verified != X509_V_OK)
    failure_ += std::string(": ") + X509_verify_cert_error_string(verified);
  is_broken_ = true;
  return Progress::kFailed;
}

TlsStream::Progress TlsStream::handshake() {
  WEIR_REQUIRE(!is_established_ && !is_broken_);
  ERR_clear_error();
  may_take_ = true;
  const int answer = SSL_do_handshake(ssl_.get());
  if (answer == 1) {
    is_established_ = true;
    holds_input_ = SSL_has_pending(ssl_.get()) == 1;
    ERR_clear_error();
    return Progress::kDone;
  }
  if (has_begun_ && !begins_as_tls_) {
    is_broken_ = true;
    ERR_clear_error();
    return Progress::kPlain;
  }
  const int error = SSL_get_error(ssl_.get(), answer);
  if (error == SSL_ERROR_WANT_READ) return Progress::kWantsRead;
  if (error == SSL_ERROR_WANT_WRITE) return Progress::kWantsWrite;
  return fail();
}

size_t TlsStream::memory_bytes() const {
  constexpr size_t kSslBytes = 32 << 10;  // an estimate, between two records
  return kSslBytes + below_->memory_bytes();
}

std::string TlsStream::peer_name() const {
  if (!is_established_ || SSL_get_verify_result(ssl_.get()) != X509_V_OK) return "";
  const X509* certificate = SSL_get0_peer_certificate(ssl_.get());
  return certificate == nullptr ? "" : common_name_of(*certificate);
}

// One call gives a record, so it goes on as long as there are records that have arrived.
Transfer TlsStream::recv(std::span<char> buffer) {
  if (is_broken_) return {.result = Transfer::Result::kBroken};
  ERR_clear_error();
  may_take_ = true;
  size_t moved = 0;
  auto result = Transfer::Result::kMoved;
  do {
    size_t size = 0;
    const int answer = SSL_read_ex(ssl_.get(), buffer.data() + moved, buffer.size() - moved, &size);
    if (answer != 1) result = result_of(answer);
    moved += size;
  } while (result == Transfer::Result::kMoved && moved < buffer.size() &&
           SSL_has_pending(ssl_.get()) == 1);
  ERR_clear_error();
  // What has ended or is broken says so the next time too.
  holds_input_ =
      moved > 0 && (result == Transfer::Result::kMoved ? SSL_has_pending(ssl_.get()) == 1
                                                       : result != Transfer::Result::kWantsRead);
  if (moved > 0) return {.result = Transfer::Result::kMoved, .bytes = moved};
  return {.result = result};
}

Transfer TlsStream::send(std::string_view bytes) {
  if (is_broken_) return {.result = Transfer::Result::kBroken};
  ERR_clear_error();
  size_t size = 0;
  const int answer = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &size);
  if (answer == 1) return {.result = Transfer::Result::kMoved, .bytes = size};
  const Transfer::Result result = result_of(answer);
  ERR_clear_error();
  // kEnded is an answer of recv() alone.
  return {.result = result == Transfer::Result::kEnded ? Transfer::Result::kBroken : result};
}

}  // namespace weir::server
