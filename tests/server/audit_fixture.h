// A server whose log is a file, and clients who change settings.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/ascii.h"
#include "tests/server/example_requests.h"
#include "tests/server/fake_server.h"
#include "tests/server/real_sockets.h"

namespace weir::server {

inline constexpr std::string_view kLibrary =
    "#!lua name=lib\nredis.register_function('f', function() return 1 end)";

inline std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class AuditFixture : public ::testing::Test {
 protected:
  AuditFixture() {
    config_.dir = folder_.path;
    config_.config_file = folder_.path + "/weir.conf";
    config_.aclfile = folder_.path + "/users";
    config_.policies_file = "policies";
    config_.enable_debug_command = DebugAccess::kYes;
    write("weir.conf", "");
    write("users", "user default on nopass ~* &* +@all\n");
    write("policies", "");
    start();
  }
  ~AuditFixture() override { EXPECT_TRUE(start_log("", LogLevel::kNothing)); }

  // A server over what the one before it has left.
  void start() {
    client_.reset();
    server_.reset();
    server_.emplace(config_, disk_);
    client_ = server_->connect();
    EXPECT_TRUE(start_log(folder_.path + "/log", LogLevel::kError));
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path + "/" + name) << text;
  }
  std::string send(FakeClient& client, const Words& words) {
    std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string& word : words) bytes += bulk(word);
    return client.send(bytes);
  }
  std::string call(const Words& words) { return send(*client_, words); }

  // What was told since the last look, without the instant.
  std::vector<std::string> told() {
    std::istringstream lines(text_of(folder_.path + "/log").substr(seen_));
    std::vector<std::string> found;
    for (std::string line; std::getline(lines, line);) {
      seen_ += line.size() + 1;
      found.push_back(line.substr(line.find(' ') + 1));
    }
    return found;
  }

  TemporaryFolder folder_;
  Config config_;
  std::shared_ptr<storage::MemoryDisk> disk_ = storage::make_memory_disk({1, 2});
  std::optional<FakeServer> server_;
  std::unique_ptr<FakeClient> client_;
  size_t seen_ = 0;
};

// "CONFIG SET" of "config|set".
inline std::string shown_name(std::string_view name) {
  std::string text = to_upper(name);
  std::replace(text.begin(), text.end(), '|', ' ');
  return text;
}

// What a line of the first client begins with.
inline std::string begin_of(std::string_view name) {
  return "info audit: " + shown_name(name) +
         " user=default client=1 address=127.0.0.1:50001 via=tcp database=0";
}

}  // namespace weir::server
