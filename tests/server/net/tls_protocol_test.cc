// Which protocol a connection over TLS is told to be for (ALPN).
#include <openssl/err.h>

#include "server/net/socket_stream.h"
#include "server/net/tls_stream.h"
#include "tests/server/net/tls_peer.h"

namespace weir::server {
namespace {

using Progress = TlsStream::Progress;

class TlsProtocolTest : public testing::Test {
 protected:
  TlsProtocolTest() {
    config_.tls_cert_file = files_.path("server.pem");
    config_.tls_key_file = files_.path("server.key");
    config_.tls_auth_clients = TlsAuthClients::kNo;
  }
  // What was agreed on with a client that offers this, each name with its length before it; "": no
  // name, "refused": nothing.
  std::string agreed(const std::string& offered, bool speaks_http2) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    const auto context = TlsContext::make(config_);
    EXPECT_TRUE(context) << context.error();
    TlsStream stream(std::make_unique<SocketStream>(ends[0]), **context);
    if (speaks_http2) stream.speak_http2();
    TlsPeer peer;
    peer.attach(ends[1]);
    const auto* names = reinterpret_cast<const unsigned char*>(offered.data());
    SSL_set_alpn_protos(peer.ssl(), names, static_cast<unsigned>(offered.size()));
    auto progress = Progress::kWantsRead;
    for (int i = 0; i < 20 && progress == Progress::kWantsRead; ++i) {
      (void)peer.handshake();
      progress = stream.handshake();
    }
    (void)peer.handshake();
    ERR_clear_error();
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(peer.ssl(), &name, &size);
    ::close(ends[1]);
    if (progress != Progress::kDone) return "refused";
    return {reinterpret_cast<const char*>(name), size};
  }

  Certificates files_;
  Config config_;
};

TEST_F(TlsProtocolTest, Http2IsToldToWhoAsksForIt) {
  EXPECT_EQ(agreed("\x02h2", true), "h2");
  EXPECT_EQ(agreed("\x08http/1.1\x02h2", true), "h2");
  EXPECT_EQ(agreed("\x08http/1.1", true), "refused");
  EXPECT_EQ(agreed("", true), "");
}

TEST_F(TlsProtocolTest, OthersAreToldNothing) {
  EXPECT_EQ(agreed("\x02h2", false), "");
  EXPECT_EQ(agreed("\x08http/1.1", false), "");
}

}  // namespace
}  // namespace weir::server
