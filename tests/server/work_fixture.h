// A server whose work is counted, and keys with much in them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/server/fake_server.h"

namespace weir::server {

class WorkBudget : public testing::Test {
 protected:
  uint64_t units() { return server_->work().units(); }
  uint64_t turn_units() { return server_->work().turn_units(); }
  uint64_t cost_of(FakeClient& client, const std::string& request) {
    server_.run_turns();
    const uint64_t before = units();
    client.push(request);
    return units() - before;
  }
  std::string fill(FakeClient& client, std::string_view command, const std::string& key, int count,
                   bool pairs = false) {
    std::vector<std::string> words = {std::string(command), key};
    for (int i = 0; i < count; ++i) {
      words.push_back(pairs && command == "ZADD" ? std::to_string(i) : "m" + std::to_string(i));
      if (pairs) words.push_back("m" + std::to_string(i));
    }
    return client.send(request_of(words));
  }
  static std::string request_of(const std::vector<std::string>& words) {
    std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string& word : words) bytes += bulk_of(word);
    return bytes;
  }
  static std::string bulk_of(const std::string& word) {
    return "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }

  FakeServer server_;
};

}  // namespace weir::server
