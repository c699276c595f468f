// What targets have in common that feed the clients of a whole server: the server with its store in
// memory and its clock, and what goes wrong with them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>

#include "server/commands/command_lists.h"
#include "server/core/run/server.h"
#include "storage/memory/memory_store.h"
#include "tests/fuzz/fuzz_input.h"

namespace weir::fuzz {

class FuzzServer {
 public:
  // `config` has the store in memory. Deferred: the store syncs by steps.
  FuzzServer(server::Config config, bool deferred) : config_(std::move(config)) {
    disk_->deferred = deferred;
    disk_->steady_ns = [this] { return clock_.steady_ns(); };
    start();
  }

  server::Server* operator->() { return server_.get(); }
  server::Server* get() { return server_.get(); }
  FuzzClock& clock() { return clock_; }
  storage::MemoryFaults& faults() { return disk_->faults; }

  // Another process opens what a disk has; it replaces the one that runs.
  void start_on(std::shared_ptr<storage::MemoryDisk> disk) {
    disk_ = std::move(disk);
    start();
  }
  std::shared_ptr<storage::MemoryDisk> disk() { return disk_; }

  // The chores of a tick. Nothing fails while it recovers: that ends a process.
  void tick() {
    disk_->faults.get = disk_->faults.cursor = 0;
    server_->tick();
  }
  // What the store has begun is done.
  void step_store() {
    auto& store = server_->keys().store_in_use();
    while (store.is_open() && static_cast<storage::MemoryStore&>(*store).step()) {
    }
  }
  // The user default runs a command, and the turn ends.
  void run(std::initializer_list<std::string_view> words) {
    const auto session = server_->connect({});
    if (!session) return;
    server_->acl().begin_session(**session);
    (void)server_->acl().log_in(**session, "default", "secret", "auth");
    (*session)->submit({words.begin(), words.size()}, [](std::string_view) {});
    (*session)->resume(1);
    server_->end_turn();
    server_->disconnect(*session);
  }
  storage::Status close() {
    disk_->faults = {};
    return server_->close();
  }

 private:
  void start() {
    server_ = std::make_unique<server::Server>(
        config_, &clock_, [this] { return std::make_unique<storage::MemoryStore>(disk_); },
        server::command_lists(), server::Seeds());
    check(server_->open().ok());
  }

  FuzzClock clock_;
  server::Config config_;
  std::shared_ptr<storage::MemoryDisk> disk_ = storage::make_memory_disk({1, 2});
  std::unique_ptr<server::Server> server_;
};

// Two bytes of length, low first, and so many bytes.
inline std::string_view take_long(Input* input) {
  const size_t low = input->byte();
  return input->take(low | static_cast<size_t>(input->byte()) << 8);
}

// A copy, so that reading past the end shows.
class ExactCopy {
 public:
  explicit ExactCopy(std::string_view bytes) : size_(bytes.size()), bytes_(new char[bytes.size()]) {
    bytes.copy(bytes_.get(), size_);
  }
  std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  size_t size_;
  std::unique_ptr<char[]> bytes_;
};

}  // namespace weir::fuzz
