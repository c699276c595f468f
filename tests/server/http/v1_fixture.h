// A client that asks /v1/ of a whole server.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "server/http/format/json.h"
#include "tests/server/connection_fixture.h"

namespace weir::server {

class V1Test : public testing::Test {
 protected:
  explicit V1Test(Config config = {}) : one_(std::move(config)) { one_.open_http(); }

  static std::string post(std::string_view path, std::string_view body,
                          std::string_view fields = {}) {
    return "POST /v1/" + std::string(path) + " HTTP/1.1\r\nHost: weir\r\n" + std::string(fields) +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
  }
  // Bytes arrive, in reads as large as a conversation takes, and turns go on until nothing more is
  // sent.
  std::string send(std::string_view bytes) {
    for (; !bytes.empty() && !one_.closed; bytes.remove_prefix(std::min(bytes.size(), kRead16)))
      one_.receives(std::string(bytes.substr(0, kRead16)));
    while (!one_.closed && (one_.watcher.interest.at_once || one_.watcher.interest.write))
      one_.ready(one_.watcher.interest.write ? kWrite : kRead);
    return std::exchange(one_.stream.sent, {});
  }
  // The status and the body.
  std::string ask(std::string_view path, std::string_view body, std::string_view fields = {}) {
    return told(send(post(path, body, fields)));
  }
  static std::string told(const std::string& answer) {
    if (answer.empty()) return {};
    const size_t end = answer.find("\r\n\r\n");
    std::string body = answer.substr(std::min(end + 4, answer.size()));
    if (body.ends_with('\n')) body.pop_back();
    return answer.substr(9, 3) + " " + body;
  }
  static http::Json body_of(const std::string& told) {
    const auto parsed = http::parse_json(std::string_view(told).substr(4));
    EXPECT_TRUE(parsed) << told;
    return parsed ? *parsed : http::Json();
  }
  // As a client of the Redis protocol.
  std::string call(std::initializer_list<std::string_view> words) {
    const auto client = one_.server.connect();
    const std::string reply = client->call(words);
    EXPECT_THAT(reply, testing::Not(testing::StartsWith("-")));
    client->leave();
    return reply;
  }

  static constexpr size_t kRead16 = 16 << 10;
  OneConnection one_;
};

}  // namespace weir::server
