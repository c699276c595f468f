// Which options and files make a context, and what is said of those that do not.
#include "server/tls/tls_context.h"

#include <gmock/gmock.h>
#include <openssl/err.h>
#include <sys/stat.h>

#include "tests/server/tls/certificates.h"

namespace weir::server {
namespace {

using testing::HasSubstr;

class TlsContextTest : public testing::Test {
 protected:
  TlsContextTest() {
    config_.tls_cert_file = files_.path("server.pem");
    config_.tls_key_file = files_.path("server.key");
    config_.tls_ca_cert_file = files_.path("ca.pem");
  }

  // The error without the folder; "" if there is none.
  std::string error() const {
    const auto made = TlsContext::make(config_);
    EXPECT_EQ(ERR_peek_error(), 0u);  // nothing is left for who calls OpenSSL next
    if (made) return "";
    std::string text = made.error();
    const std::string folder = files_.path("");
    for (size_t at; (at = text.find(folder)) != std::string::npos;) text.erase(at, folder.size());
    EXPECT_EQ(text.find('\n'), std::string::npos);
    return text;
  }
  uint64_t options() const {
    const auto made = TlsContext::make(config_);
    return made ? SSL_CTX_get_options((*made)->handle()) : 0;
  }
  int verify_mode() const {
    const auto made = TlsContext::make(config_);
    return made ? SSL_CTX_get_verify_mode((*made)->handle()) : -1;
  }

  Certificates files_;
  Config config_;
};

TEST_F(TlsContextTest, ACertificateItsKeyAndAnAuthorityAreEnough) {
  EXPECT_EQ(error(), "");
  const auto made = TlsContext::make(config_);
  ASSERT_TRUE(made);
  EXPECT_THAT((*made)->describe_certificate(), HasSubstr("CN=weir, valid until "));
  EXPECT_NEAR(static_cast<double>((*made)->not_after_s()),
              static_cast<double>(std::time(nullptr) + 3600), 60);
}

TEST_F(TlsContextTest, SaysWhatIsNotSet) {
  config_.tls_cert_file = "";
  EXPECT_EQ(error(), "tls-cert-file is not set: a server's side of TLS needs a certificate");
  config_.tls_cert_file = files_.path("server.pem");
  config_.tls_key_file = "";
  EXPECT_EQ(error(), "tls-key-file is not set: a server's side of TLS needs its private key");
  config_.tls_key_file = files_.path("server.key");
  config_.tls_ca_cert_file = "";
  EXPECT_EQ(error(),
            "tls-ca-cert-file or tls-ca-cert-dir must be set: clients' certificates are asked for "
            "(tls-auth-clients), and nothing says whose are accepted");
  config_.tls_auth_clients = TlsAuthClients::kOptional;
  EXPECT_THAT(error(), HasSubstr("must be set"));
  config_.tls_auth_clients = TlsAuthClients::kNo;
  EXPECT_EQ(error(), "");
}

TEST_F(TlsContextTest, SaysWhichFileIsMissingOrIsNone) {
  config_.tls_cert_file = files_.path("missing");
  EXPECT_EQ(error(), "tls-cert-file 'missing': No such file or directory");
  config_.tls_cert_file = files_.path("server.pem");
  config_.tls_key_file = files_.path("missing");
  EXPECT_EQ(error(), "tls-key-file 'missing': No such file or directory");
  ASSERT_EQ(::mkfifo(files_.path("pipe").c_str(), 0600), 0);
  config_.tls_key_file = files_.path("pipe");
  EXPECT_EQ(error(), "tls-key-file 'pipe': it is not a plain file");
  config_.tls_key_file = files_.path("server.key");
  config_.tls_ca_cert_file = files_.path("missing");
  EXPECT_EQ(error(), "tls-ca-cert-file 'missing': No such file or directory");
  config_.tls_ca_cert_file = "";
  config_.tls_ca_cert_dir = files_.path("ca.pem");
  EXPECT_EQ(error(), "tls-ca-cert-dir 'ca.pem': it is not a directory");
  config_.tls_ca_cert_dir = files_.path("");
  EXPECT_EQ(error(), "");
}

TEST_F(TlsContextTest, SaysWhatAFileIsNot) {
  const std::string text = files_.write_text("text", "no PEM at all\n");
  config_.tls_cert_file = text;
  EXPECT_EQ(error(),
            "tls-cert-file 'text': it is no certificate in PEM that can be used: no start line");
  config_.tls_cert_file = files_.path("server.pem");
  config_.tls_key_file = text;
  EXPECT_THAT(error(), HasSubstr("tls-key-file 'text': it is no private key in PEM: "));
  config_.tls_key_file = files_.path("server.key");
  config_.tls_ca_cert_file = text;
  EXPECT_THAT(
      error(),
      HasSubstr("tls-ca-cert-file 'text': it has no certificate in PEM that can be used: "));
}

TEST_F(TlsContextTest, TheKeyMustBeThatOfTheCertificate) {
  config_.tls_key_file = files_.write_key("client.key", files_.client);
  EXPECT_EQ(error(), "tls-key-file 'client.key': it is not the key of tls-cert-file 'server.pem'");
}

TEST_F(TlsContextTest, AnEncryptedKeyNeedsItsPasswordAndAsksNobody) {
  config_.tls_key_file = files_.write_key("secret.key", files_.server, "sesame");
  EXPECT_EQ(error(),
            "tls-key-file 'secret.key': it is encrypted, and tls-key-file-pass is not set");
  config_.tls_key_file_pass = "wrong word";
  EXPECT_THAT(error(),
              HasSubstr("tls-key-file 'secret.key': tls-key-file-pass does not decrypt it"));
  EXPECT_THAT(error(), testing::Not(HasSubstr("wrong word")));
  config_.tls_key_file_pass = std::string(100'000, 'x');
  EXPECT_THAT(error(), HasSubstr("tls-key-file-pass does not decrypt it"));
  config_.tls_key_file_pass = "sesame";
  EXPECT_EQ(error(), "");
}

TEST_F(TlsContextTest, CiphersMustBeKnown) {
  config_.tls_ciphers = "NO-SUCH-CIPHER";
  EXPECT_EQ(error(), "tls-ciphers 'NO-SUCH-CIPHER': no cipher match");
  config_.tls_ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384";
  EXPECT_EQ(error(), "");
  config_.tls_ciphersuites = "NO_SUCH_SUITE";
  EXPECT_THAT(error(), HasSubstr("tls-ciphersuites 'NO_SUCH_SUITE': "));
  config_.tls_ciphersuites = "TLS_CHACHA20_POLY1305_SHA256";
  EXPECT_EQ(error(), "");
}

TEST_F(TlsContextTest, NothingOlderThanTls12UnlessItIsAskedFor) {
  constexpr uint64_t kAll =
      SSL_OP_NO_TLSv1 | SSL_OP_NO_TLSv1_1 | SSL_OP_NO_TLSv1_2 | SSL_OP_NO_TLSv1_3;
  EXPECT_EQ(options() & kAll, SSL_OP_NO_TLSv1 | SSL_OP_NO_TLSv1_1);
  config_.tls_protocols = "TLSv1.3";
  EXPECT_EQ(options() & kAll, SSL_OP_NO_TLSv1 | SSL_OP_NO_TLSv1_1 | SSL_OP_NO_TLSv1_2);
  config_.tls_protocols = "tlsv1 TLSv1.1 TLSv1.2";
  EXPECT_EQ(options() & kAll, SSL_OP_NO_TLSv1_3);
}

TEST_F(TlsContextTest, RenegotiationAndCompressionAreOff) {
  constexpr uint64_t kOff = SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION;
  EXPECT_EQ(options() & kOff, kOff);
  EXPECT_EQ(options() & SSL_OP_CIPHER_SERVER_PREFERENCE, 0u);
  config_.tls_prefer_server_ciphers = true;
  EXPECT_NE(options() & SSL_OP_CIPHER_SERVER_PREFERENCE, 0u);
}

TEST_F(TlsContextTest, ClientsAreAskedForCertificatesAsTheOptionSays) {
  EXPECT_EQ(verify_mode(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT);
  config_.tls_auth_clients = TlsAuthClients::kOptional;
  EXPECT_EQ(verify_mode(), SSL_VERIFY_PEER);
  config_.tls_auth_clients = TlsAuthClients::kNo;
  EXPECT_EQ(verify_mode(), SSL_VERIFY_NONE);
}

TEST_F(TlsContextTest, SessionsAreKeptAsTheOptionsSay) {
  config_.tls_session_cache_size = 77;
  config_.tls_session_cache_timeout = 88;
  auto made = TlsContext::make(config_);
  ASSERT_TRUE(made);
  EXPECT_EQ(SSL_CTX_get_session_cache_mode((*made)->handle()), SSL_SESS_CACHE_SERVER);
  EXPECT_EQ(SSL_CTX_sess_get_cache_size((*made)->handle()), 77);
  EXPECT_EQ(SSL_CTX_get_timeout((*made)->handle()), 88);
  config_.tls_session_caching = false;
  made = TlsContext::make(config_);
  ASSERT_TRUE(made);
  EXPECT_EQ(SSL_CTX_get_session_cache_mode((*made)->handle()), SSL_SESS_CACHE_OFF);
  EXPECT_NE(SSL_CTX_get_options((*made)->handle()) & SSL_OP_NO_TICKET, 0u);
}

TEST_F(TlsContextTest, ACertificateThatIsOverIsToldOf) {
  const Certificate old = make_certificate("old", &files_.authority, -60);
  config_.tls_cert_file = files_.write("old.pem", old);
  config_.tls_key_file = files_.write_key("old.key", old);
  const auto made = TlsContext::make(config_);
  ASSERT_TRUE(made);
  EXPECT_THAT((*made)->describe_certificate(), HasSubstr("CN=old, NOT VALID since "));
}

TEST(CommonName, IsTheOneThereIs) {
  EXPECT_EQ(common_name_of(*make_certificate("shop", nullptr).x509), "shop");
  EXPECT_EQ(common_name_of(*make_certificate("Käse", nullptr).x509), "Käse");
}

TEST(CommonName, ThatIsNotClearIsNone) {
  const Certificate twice = make_certificate("shop", nullptr);
  name_it(twice.x509.get(), "admin");
  EXPECT_EQ(common_name_of(*twice.x509), "");
  EXPECT_EQ(common_name_of(*make_certificate(std::string("admin\0.evil", 11), nullptr).x509), "");
  EXPECT_EQ(common_name_of(*make_certificate("admin\n", nullptr).x509), "");
  const X509Pointer none(X509_new());
  EXPECT_EQ(common_name_of(*none), "");
}

}  // namespace
}  // namespace weir::server
