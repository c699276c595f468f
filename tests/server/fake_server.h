// A whole server in one thread, without sockets: a clock that stands until it is moved, a store
// whose disk is memory, and clients that send bytes and look at what comes back.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resp/value.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"
#include "server/os/clock.h"
#include "server/os/log.h"
#include "storage/memory/memory_store.h"

namespace weir::server {

inline constexpr int64_t kMs = 1'000'000;
inline constexpr int64_t kSecond = 1'000 * kMs;
inline constexpr int64_t kMb = 1 << 20;

class FakeClock : public Clock {
 public:
  int64_t wall_ns() override { return wall_; }
  int64_t steady_ns() override { return steady_ += tick_per_look_ns; }
  void sleep_ns(int64_t duration_ns) override { advance(duration_ns); }

  void advance(int64_t ns) {
    wall_ += ns;
    steady_ += ns;
  }
  // How much time passes with each look at the steady clock: what runs long is seen to do so.
  int64_t tick_per_look_ns = 0;

  // Somebody sets the clock; no time has passed.
  void step_wall(int64_t ns) { wall_ += ns; }

 private:
  int64_t wall_ = 1'700'000'000 * kSecond;
  int64_t steady_ = 5'000 * kSecond;
};

// A request as an array of bulk strings.
inline std::string request(std::initializer_list<std::string_view> words) {
  std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string_view word : words) {
    bytes += "$" + std::to_string(word.size()) + "\r\n" + std::string(word) + "\r\n";
  }
  return bytes;
}

inline std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

inline const std::string kPing = request({"PING"});
inline const std::string kPong = "+PONG\r\n";
inline const std::string kOk = "+OK\r\n";

inline resp::Value decoded(const std::string& bytes) {
  resp::Value value;
  size_t consumed = 0;
  EXPECT_EQ(resp::decode(bytes, &value, &consumed), resp::DecodeStatus::kValue) << bytes;
  return value;
}

class FakeServer;

// One connection. The server that made it must live as long.
class FakeClient final : public Transport {
 public:
  FakeClient() = default;
  FakeClient(const FakeClient&) = delete;
  ~FakeClient() {
    if (session_ != nullptr) session_->set_transport(nullptr);
  }

  // Bytes arrive; nothing is answered before the turn ends.
  void push(std::string_view bytes);
  // Bytes arrive and the turn ends, as do the turns that requests left over need: what came back.
  std::string send(std::string_view bytes);
  // The same, for one request.
  std::string call(std::initializer_list<std::string_view> words) { return send(request(words)); }
  // What has come back since the last look.
  std::string take() { return std::exchange(inbox_, {}); }
  bool closed() const { return session_ == nullptr; }
  // Its connection breaks.
  void leave();
  void flush() override;
  void abandon() override { leave(); }
  Session& session() { return *session_; }
  // While false, its socket takes nothing.
  bool reads = true;

 private:
  friend class FakeServer;
  void take_output();

  FakeServer* server_ = nullptr;
  Session* session_ = nullptr;  // null: closed
  std::string inbox_;
};

class FakeServer {
 public:
  // The clock says `wall_step_ns` more than another FakeServer's.
  explicit FakeServer(Config config = {}, std::shared_ptr<storage::MemoryDisk> disk = nullptr,
                      int64_t wall_step_ns = 0)
      : disk_(disk ? std::move(disk) : storage::make_memory_disk({1, 2})) {
    clock.step_wall(wall_step_ns);
    set_log_level(LogLevel::kNothing);
    disk_->steady_ns = [this] { return clock.steady_ns(); };
    const auto make_store = [this] {
      auto store = std::make_unique<storage::MemoryStore>(disk_);
      store_ = store.get();
      return store;
    };
    server_ = std::make_unique<Server>(std::move(config), &clock, make_store, command_lists());
    server_->limiters().ids.count_up();
    opened_ = server_->open();
    EXPECT_TRUE(opened_.ok()) << opened_.message();
  }

  // Null: refused, with why in *refusal.
  std::unique_ptr<FakeClient> connect(Peer peer = local_peer(), std::string* refusal = nullptr) {
    const auto session = server_->connect(std::move(peer));
    if (!session) {
      if (refusal != nullptr) *refusal = session.error();
      return nullptr;
    }
    auto client = std::make_unique<FakeClient>();
    client->server_ = this;
    client->session_ = *session;
    client->session_->set_transport(client.get());
    return client;
  }

  static Peer local_peer() {
    return {.address = "127.0.0.1:50001", .local_address = "127.0.0.1:1"};
  }
  static Peer foreign_peer() {
    return {.address = "192.0.2.7:50001", .local_address = "192.0.2.1:1", .loopback = false};
  }

  // Ends the turn and carries what was released to those who read.
  void end_turn() {
    server_->serve_waiting();
    server_->end_turn();
    const std::vector<Session*> touched = server_->turn().touched();
    for (Session* session : touched) deliver(session);
  }

  // Turns until nobody has requests left over; commands_max of them per client and turn.
  void run_turns() {
    end_turn();
    while (server_->sessions().holds().has_runnable()) {
      for (Session* session : server_->sessions().holds().take_runnable())
        session->resume(commands_max);
      end_turn();
    }
  }

  // Carries what the session has released, and no more: in the middle of a turn. It is not closed.
  void flush(Session* session) {
    auto* client = static_cast<FakeClient*>(session->transport());
    if (client == nullptr) return;
    client->take_output();
  }

  // Time passes with the chores that come with it.
  void advance(int64_t ns) {
    clock.advance(ns);
    server_->tick();
    run_turns();
  }

  // The disk ends the oldest thing it does (where it is `deferred`), and the loop wakes.
  bool step_disk() {
    const bool stepped = store_->step();
    run_turns();
    return stepped;
  }

  Server& operator*() { return *server_; }
  Server* operator->() { return server_.get(); }
  storage::MemoryDisk& disk() { return *disk_; }

  FakeClock clock;
  size_t commands_max = 1024;

 private:
  void deliver(Session* session) {
    auto* client = static_cast<FakeClient*>(session->transport());
    if (client == nullptr) return;
    if (!session->dead() && client->reads) client->take_output();
    if (session->dead() || (session->closing() && session->replies().unsent_bytes() == 0)) {
      client->session_ = nullptr;
      server_->disconnect(session);
    }
  }

  std::shared_ptr<storage::MemoryDisk> disk_;
  storage::MemoryStore* store_ = nullptr;
  std::unique_ptr<Server> server_;
  storage::Status opened_;
};

inline void FakeClient::push(std::string_view bytes) {
  if (session_ != nullptr) session_->receive(bytes, server_->commands_max);
}

inline void FakeClient::leave() { (**server_).disconnect(std::exchange(session_, nullptr)); }

inline void FakeClient::flush() { server_->flush(session_); }

inline void FakeClient::take_output() {
  while (!session_->output().empty()) {
    inbox_.append(session_->output());
    session_->mark_sent(session_->output().size());
  }
}

inline std::string FakeClient::send(std::string_view bytes) {
  push(bytes);
  server_->run_turns();
  return take();
}

}  // namespace weir::server
