// TLS, the server's side, on top of another stream.
//
// Invariants
// 1. It is recv() and send() only when handshake() has answered kDone.
// 2. A call takes at most one portion from the stream below, so that a peer whose records hold no
//    bytes for us (key updates, empty records) cannot keep it busy. What is left there makes the
//    descriptor readable again.
// 3. holds_input() says that the next recv() can go on without the descriptor. Once that recv() has
//    found only a part of a record, it is false: nothing is asked for in a loop.
// 4. Whatever arrives, a call answers; and OpenSSL's queue of errors is empty afterwards.
// 5. Its destructor tells the peer that no more comes (close_notify), if that can be sent at once.
#pragma once

#include <memory>
#include <string>

#include "server/net/byte_stream.h"
#include "server/tls/tls_context.h"

namespace weir::server {

class TlsStream final : public ByteStream {
 public:
  // The context may be destroyed before the stream.
  TlsStream(std::unique_ptr<ByteStream> below, const TlsContext& context);
  ~TlsStream() override;
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  // Asks the peer for no certificate, whatever the context says. Its session is not resumed where
  // one is asked for. To be called before handshake().
  void ask_no_certificate();
  // Speaks HTTP/2 (speak_http2). To be called before handshake().
  void speak_http2() { server::speak_http2(ssl_.get()); }

  enum class Progress {
    kDone,
    kWantsRead,   // call again when the descriptor is readable
    kWantsWrite,  // call again when the descriptor is writable
    kPlain,       // the peer does not begin as TLS does; nothing was sent to it
    kFailed,      // failure() says why, and the peer was told as far as TLS can
  };
  Progress handshake();
  // Why the handshake has failed, in one line.
  const std::string& failure() const { return failure_; }
  // The common name of the peer's certificate, which was checked; "" if it has shown none, or one
  // whose name is not clear (common_name_of).
  std::string peer_name() const;
  // Whether the handshake has resumed an earlier session.
  bool is_resumed() const { return SSL_session_reused(ssl_.get()) == 1; }
  // The stream below, for what is said to who does not speak TLS.
  ByteStream& below() { return *below_; }

  Transfer recv(std::span<char> buffer) override;
  Transfer send(std::string_view bytes) override;
  bool holds_input() const override { return holds_input_; }
  int descriptor() const override { return below_->descriptor(); }
  size_t memory_bytes() const override;

 private:
  friend struct TlsWire;

  // What a call of OpenSSL that answered no success means.
  Transfer::Result result_of(int answer);
  Progress fail();

  const std::unique_ptr<ByteStream> below_;
  SslPointer ssl_;
  std::string failure_;
  bool has_begun_ = false;      // the peer's first byte has come
  bool begins_as_tls_ = false;  // and it is that of a handshake
  bool may_take_ = false;       // the portion of invariant 2
  bool has_ended_ = false;      // the stream below
  bool is_established_ = false;
  bool is_broken_ = false;
  bool holds_input_ = false;
};

}  // namespace weir::server
