// The gate asked about several keys, addresses among them, by a client of a whole server.
#include "server/http/gate_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/connection_fixture.h"

namespace weir::server {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class GateTest : public testing::Test {
 protected:
  GateTest() { one_.open_http(); }

  std::string gate(const std::string& query, const std::string& fields) {
    one_.receives("GET /v1/gate" + query + " HTTP/1.1\r\nHost: weir\r\n" + fields + "\r\n");
    while (one_.watcher.interest.at_once || !one_.stream.recv_answers.empty()) one_.ready(kRead);
    return std::exchange(one_.stream.sent, {});
  }
  void call(std::initializer_list<std::string_view> words) {
    const auto client = one_.server.connect();
    EXPECT_EQ(client->call(words), "+OK\r\n");
    client->leave();
  }

  OneConnection one_;
};

TEST_F(GateTest, AsksAboutSeveralKeysAllOrNone) {
  call({"RL.POLICY", "SET", "ip", "FIXED", "2/1m"});
  call({"RL.POLICY", "SET", "tenant", "FIXED", "3/1h"});
  const std::string query =
      "?policy=ip&key=ip:&key-header=X-Client&key-ipv6=64&policy.2=tenant&key.2=t:acme";
  const auto ask = [&](const std::string& client, const std::string& more = "") {
    return gate(query + more, "X-Client: " + client + "\r\n");
  };
  EXPECT_THAT(ask("2001:db8::1"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(ask("2001:db8::2"), StartsWith("HTTP/1.1 200 OK\r\n"));
  const std::string network = ask("2001:db8::3", "&problem&legacy");
  EXPECT_THAT(network, StartsWith("HTTP/1.1 429 "));
  EXPECT_THAT(network, HasSubstr("\r\nRateLimit: \"ip\";r=0;t=60, \"tenant\";r=1;t=3600\r\n"));
  EXPECT_THAT(network, HasSubstr("\r\nX-RateLimit-Limit: 2\r\nX-RateLimit-Remaining: 0\r\n"
                                 "X-RateLimit-Reset: 60\r\nRetry-After: 60\r\n"));
  EXPECT_THAT(network, HasSubstr("\r\nContent-Type: application/problem+json\r\n"));
  EXPECT_THAT(network, EndsWith("\"status\":429,\"violated-policies\":[\"ip\"]}\n"));
  EXPECT_THAT(ask("192.0.2.1"), StartsWith("HTTP/1.1 200 OK\r\n")) << "nothing was taken";
  EXPECT_THAT(ask("192.0.2.1", "&problem&deny=403"),
              EndsWith("\"status\":403,\"violated-policies\":[\"tenant\"]}\n"));
}

}  // namespace
}  // namespace weir::server
