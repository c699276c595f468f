// RL.* commands as one would type them, and their replies as one would read them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "resp/value.h"
#include "tests/server/fake_server.h"
#include "tests/server/structured_fields.h"

namespace weir::server {

// Whatever a test looks at: fields of HTTP in a reply are such that a strict parser takes them.
inline void expect_strict_fields(const resp::Value& reply) {
  for (size_t i = 0; i < reply.elements.size(); ++i) {
    expect_strict_fields(reply.elements[i]);
    const std::string& name = reply.elements[i].text;
    if (i + 1 == reply.elements.size() || !name.starts_with("RateLimit")) continue;
    const std::string& value = reply.elements[i + 1].text;
    EXPECT_TRUE(read_rate_limit(value)) << name << ": " << value;
  }
}

inline std::string words_as_request(std::string_view line) {
  const auto words = split_at_spaces(line);
  std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string_view word : words) bytes += bulk(word);
  return bytes;
}

// "[1, 21, 20, 0, 600, 0]"; nothing came: "".
inline std::string as_text(std::string_view reply) {
  std::string text;
  while (!reply.empty()) {
    resp::Value value;
    size_t consumed = 0;
    if (resp::decode(reply, &value, &consumed) != resp::DecodeStatus::kValue) {
      return text + "(broken)";
    }
    if (!text.empty()) text += "; ";
    text += resp::to_string(value);
    expect_strict_fields(value);
    reply.remove_prefix(consumed);
  }
  return text;
}

inline std::string ask(FakeClient& client, std::string_view line) {
  return as_text(client.send(words_as_request(line)));
}

// A server with one client.
class LimiterTest : public ::testing::Test {
 protected:
  std::string ask(std::string_view line) { return server::ask(*client_, line); }
  // What has come back to somebody who waited.
  static std::string heard(FakeClient& client) { return as_text(client.take()); }
  // Sends without waiting for what comes.
  static void send(FakeClient& client, std::string_view line) {
    client.push(words_as_request(line));
  }
  // kill -9, and `down_ns` later a new process.
  void restart(int64_t down_ns = 0) {
    client_.reset();
    const int64_t wall_ns = server_->clock.wall_ns() + down_ns;
    auto next = std::make_unique<FakeServer>(Config(), server_->disk().after_kill(),
                                             wall_ns - FakeClock().wall_ns());
    server_ = std::move(next);
    client_ = server_->connect();
  }

  std::unique_ptr<FakeServer> server_ = std::make_unique<FakeServer>();
  std::unique_ptr<FakeClient> client_ = server_->connect();
};

}  // namespace weir::server
