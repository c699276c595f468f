// Addresses as proxies write them, as parts of keys.
#include "server/http/client_address.h"

#include <gtest/gtest.h>

namespace weir::server::http {
namespace {

std::string cut(std::string_view field, int ipv6 = 64, int ipv4 = 32) {
  return client_address(field, {.ipv4 = ipv4, .ipv6 = ipv6});
}

TEST(ClientAddress, OfIpv6IsCutToItsNetwork) {
  EXPECT_EQ(cut("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(cut("2001:DB8:1:2::9"), "2001:db8:1:2::/64");
  EXPECT_EQ(cut("2001:db8:1:2ff::", 56), "2001:db8:1:200::/56");
  EXPECT_EQ(cut("2001:db8:1:2ff::", 59), "2001:db8:1:2e0::/59");
  EXPECT_EQ(cut("ffff::1", 1), "8000::/1");
  EXPECT_EQ(cut("::1", 127), "::/127");
  EXPECT_EQ(cut("2001:0db8::0001", 128), "2001:db8::1");
  EXPECT_EQ(cut("::"), "::/64");
}

TEST(ClientAddress, OfIpv4StaysWholeUnlessItIsCutToo) {
  EXPECT_EQ(cut("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(cut("192.0.2.129", 64, 24), "192.0.2.0/24");
  EXPECT_EQ(cut("192.0.2.129", 64, 25), "192.0.2.128/25");
  EXPECT_EQ(cut("192.0.2.129", 64, 1), "128.0.0.0/1");
}

TEST(ClientAddress, ThatIsMappedFromIpv4IsThat) {
  EXPECT_EQ(cut("::ffff:192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(cut("[::ffff:c000:201]:80"), "192.0.2.1");
  EXPECT_EQ(cut("::ffff:192.0.2.1", 64, 24), "192.0.2.0/24");
  EXPECT_EQ(cut("::fffe:192.0.2.1"), "::/64") << "another network";
}

TEST(ClientAddress, HasNoPortNoBracketsNoQuotesAndNoZone) {
  for (const char* field :
       {"[2001:db8:1:2::1]", "[2001:db8:1:2::1]:443", "\"[2001:db8:1:2::1]:443\"",
        " 2001:db8:1:2::1\t", "2001:db8:1:2::1%eth0", "[2001:db8:1:2::1%25eth0]:1"})
    EXPECT_EQ(cut(field), "2001:db8:1:2::/64") << field;
  EXPECT_EQ(cut("192.0.2.1:50412"), "192.0.2.1");
  EXPECT_EQ(cut("\"192.0.2.1:50412\""), "192.0.2.1");
}

TEST(ClientAddress, OfAListIsTheLast) {
  EXPECT_EQ(cut("198.51.100.7, 2001:db8::1,192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(cut("192.0.2.1, [2001:db8::1]:7"), "2001:db8::/64");
  EXPECT_EQ(cut("192.0.2.1, unknown"), "unknown") << "not what the caller may have sent";
  EXPECT_EQ(cut("192.0.2.1,"), "");
}

TEST(ClientAddress, OfForwardedIsFor) {
  EXPECT_EQ(cut("for=192.0.2.60;proto=http;by=203.0.113.43"), "192.0.2.60");
  EXPECT_EQ(cut("for=192.0.2.1, proto=https; FOR=\"[2001:db8::1]:4711\""), "2001:db8::/64");
  EXPECT_EQ(cut("by=192.0.2.1"), "by=192.0.2.1");
}

// All else of the element may be the caller's: a key that it were a part of would limit nobody.
TEST(ClientAddress, OfForwardedIsForAlsoWhereItIsNoAddress) {
  EXPECT_EQ(cut("for=_hidden;by=192.0.2.1"), "_hidden");
  EXPECT_EQ(cut("host=a;for=\"_hidden:4711\""), "_hidden");
  EXPECT_EQ(cut("for=192.0.2.1, For=unknown;host=\"a;b\""), "unknown");
  EXPECT_EQ(cut("for=\"unknown:_port\""), "unknown:_port");
}

TEST(ClientAddress, WhatIsQuotedSeparatesNothing) {
  EXPECT_EQ(cut("for=192.0.2.1;host=\"a,for=198.51.100.7;b\""), "192.0.2.1");
  EXPECT_EQ(cut("host=\"x;for=6.6.6.6;y\";for=192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(cut("for=192.0.2.1;host=\"x;for=6.6.6.6;y\""), "192.0.2.1");
  EXPECT_EQ(cut(R"(for=192.0.2.1;host="a\",for=6.6.6.6;b")"), "192.0.2.1") << "an escaped quote";
  EXPECT_EQ(cut(R"(for=6.6.6.6;host="a\\",for=192.0.2.1)"), "192.0.2.1") << "an escaped backslash";
  EXPECT_EQ(cut("for=\"6.6.6.6, for=192.0.2.1;host=\"a,b\""), "192.0.2.1") << "nothing ends it";
  EXPECT_EQ(cut("for=6.6.6.6\", for=192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(cut("for=6.6.6.6, for=192.0.2.1;host=\"a"), "192.0.2.1") << "nor that of the last";
}

TEST(ClientAddress, WhatIsNoneStaysAsItIs) {
  for (const char* field :
       {"", "unknown", "user 42", "192.0.2", "192.0.2.256", "192.0.2.1.5",
        "192.0.2.1:", "192.0.2.1:x", "192.0.2.1:123456", "2001:db8:::1", "2001:db8", "[2001:db8::1",
        "[2001:db8::1]x", "[]", "%eth0", "1:2:3:4:5:6:7:8:9", "\"", "::1/64", "0x7f.1"})
    EXPECT_EQ(cut(field), field);
  const std::string longer(100, '1');
  EXPECT_EQ(cut(longer), longer);
  EXPECT_EQ(cut(std::string("::1\0", 4)), std::string("::1\0", 4));
}

}  // namespace
}  // namespace weir::server::http
