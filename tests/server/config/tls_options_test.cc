// The options tls-*: what they take, and how they are shown.
#include <gmock/gmock.h>

#include "tests/server/config_fixture.h"

namespace weir::server {
namespace {

using testing::HasSubstr;

TEST_F(ConfigTest, TlsProtocolsAreNamesOfVersions) {
  EXPECT_EQ(load({"--tls-protocols", "TLSv1.2 tlsv1.3"}), "");
  EXPECT_EQ(get("tls-protocols"), "TLSv1.2 tlsv1.3");
  EXPECT_EQ(load({"--tls-protocols", "SSLv3"}),
            "command line: tls-protocols must be some of TLSv1, TLSv1.1, TLSv1.2 and TLSv1.3, got "
            "'SSLv3'");
  EXPECT_EQ(set({"tls-protocols", "TLSv1.2 SSLv3"}),
            "ERR CONFIG SET failed (possibly related to argument 'tls-protocols') - Invalid "
            "tls-protocols specified. Use a combination of TLSv1, TLSv1.1, TLSv1.2 and TLSv1.3.");
  EXPECT_EQ(set({"tls-protocols", ""}), "OK");
}

TEST_F(ConfigTest, TlsOptionsHaveRedisDefaults) {
  EXPECT_EQ(get("tls-port"), "0");
  EXPECT_EQ(get("tls-auth-clients"), "yes");
  EXPECT_EQ(get("tls-auth-clients-user"), "off");
  EXPECT_EQ(get("tls-session-caching"), "yes");
  EXPECT_EQ(get("tls-session-cache-size"), "20480");
  EXPECT_EQ(get("tls-session-cache-timeout"), "300");
  EXPECT_EQ(get("tls-prefer-server-ciphers"), "no");
}

TEST_F(ConfigTest, TlsClientsAreNamedByTheirCommonName) {
  EXPECT_EQ(set({"tls-auth-clients-user", "cn"}), "OK");
  EXPECT_EQ(get("tls-auth-clients-user"), "CN");
  EXPECT_THAT(set({"tls-auth-clients-user", "OU"}), HasSubstr("one of the following: off, CN"));
}

TEST_F(ConfigTest, TheTlsPortIsSetAtTheStart) {
  EXPECT_THAT(set({"tls-port", "7443"}), HasSubstr("can't set immutable config"));
  EXPECT_EQ(load({"--tls-port", "7443"}), "");
  EXPECT_EQ(get("tls-port"), "7443");
}

}  // namespace
}  // namespace weir::server
