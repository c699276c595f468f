// What a conversation keeps is its client's: it is counted, and falls under maxmemory-clients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/connection_fixture.h"

namespace weir::server {
namespace {

using testing::StartsWith;

constexpr size_t kFields = 500;

// A request of that many fields and of a body of 16,000 bytes, of which the last is not there yet.
std::string all_but_the_last_byte() {
  std::string bytes = "POST /v1/take HTTP/1.1\r\nHost: weir\r\nContent-Length: 16000\r\n";
  for (size_t i = 0; i < kFields; ++i) bytes += "a:" + std::to_string(i) + "\r\n";
  return bytes + "\r\n" + std::string(15'999, ' ');
}

// In reads of the size that a conversation asks for, until nothing more is to be done.
void arrives(OneConnection* one, std::string_view bytes) {
  for (; !bytes.empty() && !one->closed; bytes.remove_prefix(std::min<size_t>(bytes.size(), 4096)))
    one->receives(std::string(bytes.substr(0, 4096)));
  while (!one->closed && one->watcher.interest.at_once) one->ready(kRead);
}

TEST(HttpKeptBytes, OfARequestAndAnAnswerAreCounted) {
  OneConnection one;
  one.open_http();
  const auto kept = [&] { return one.session->memory_bytes(); };
  const size_t before = kept();
  arrives(&one, all_but_the_last_byte());
  EXPECT_GT(kept(), before + kFields * 64 + 16'000);
  EXPECT_GE(one.server->sessions().bounds().bytes(), kept());
  one.stream.send_says(Transfer::Result::kWantsWrite);
  arrives(&one, " ");
  EXPECT_EQ(one.stream.sent, "");  // the answer waits for the client
  EXPECT_GT(kept(), before);
  one.ready(kWrite);
  EXPECT_THAT(one.stream.sent, StartsWith("HTTP/1.1 400 "));
  EXPECT_LE(kept(), before + (20 << 10));  // buffers stay for the next request
}

TEST(HttpKeptBytes, FallUnderMaxmemoryClients) {
  Config config;
  config.maxmemory_clients = 48 << 10;
  OneConnection one(config);
  one.open_http();
  EXPECT_FALSE(one.closed);
  arrives(&one, all_but_the_last_byte());
  EXPECT_TRUE(one.closed);
}

}  // namespace
}  // namespace weir::server
