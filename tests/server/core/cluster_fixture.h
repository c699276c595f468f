// A server with cluster-enabled, in a directory of its own, with a file of the topology on request.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "tests/server/rl_fixture.h"

namespace weir::server {

// Slots: a 15495, b 3300, c 7365, foo 12182.
class ClusterTest : public ::testing::Test {
 protected:
  ClusterTest() {
    config_.cluster_enabled = true;
    config_.dir = testing::TempDir() + "cluster-" +
                  testing::UnitTest::GetInstance()->current_test_info()->name();
    config_.cluster_announce_ip = "h";
    config_.port = 1;
    std::filesystem::remove_all(config_.dir);
    std::filesystem::create_directories(config_.dir);
  }
  ~ClusterTest() override { std::filesystem::remove_all(config_.dir); }

  void start() {
    server_ = std::make_unique<FakeServer>(config_, disk_);
    client_ = server_->connect();
  }
  // Why a server that is started now does not serve.
  std::string refusal() {
    FakeClock clock;
    Server server(
        config_, &clock, [&] { return std::make_unique<storage::MemoryStore>(disk_); },
        command_lists());
    const storage::Status opened = server.open();
    return opened.ok() ? "" : opened.message();
  }
  void stop() {
    client_.reset();
    if (server_) disk_ = server_->disk().after_kill();
    server_.reset();
  }
  void write_topology(const std::string& text) {
    config_.cluster_topology = "topology";
    std::ofstream(config_.dir + "/topology") << text;
  }
  std::string ask(std::string_view line) { return server::ask(*client_, line); }
  std::string node_file() {
    std::ifstream file(config_.dir + "/NODE");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string reload() {
    const auto outcomes = (*server_)->reload().run();
    return outcomes.back().read ? "" : outcomes.back().read.error();
  }

  Config config_;
  std::shared_ptr<storage::MemoryDisk> disk_ = storage::make_memory_disk({1, 2});
  std::unique_ptr<FakeServer> server_;
  std::unique_ptr<FakeClient> client_;
};

inline constexpr const char* kTwo = "epoch 3\nx h:1 8192-16383\ny g:2 0-8191\n";

}  // namespace weir::server
