// A connection between a whole server and a stream that says what the test has written down.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/http/conversation.h"
#include "server/http/grpc/conversation.h"
#include "server/net/connection.h"
#include "tests/server/fake_server.h"
#include "tests/server/structured_fields.h"

namespace weir::server {

// What the stream is going to answer, and what it was asked. It outlives the stream.
struct StreamScript {
  struct Answer {
    Transfer::Result result;
    std::string bytes;
  };
  std::deque<Answer> recv_answers;    // then: kWantsRead
  std::deque<Transfer> send_answers;  // then: takes everything; .bytes is the most that it takes
  bool holds_input = false;

  size_t recv_calls = 0;
  size_t send_calls = 0;
  std::string sent;
  std::string to_repeat;  // what send() was given when it asked to wait
  bool destroyed = false;

  void arrives(std::string bytes) {
    recv_answers.push_back({Transfer::Result::kMoved, std::move(bytes)});
  }
  void recv_says(Transfer::Result result) { recv_answers.push_back({result, {}}); }
  void send_says(Transfer::Result result) { send_answers.push_back({.result = result}); }
  void send_takes(size_t bytes) { send_answers.push_back({Transfer::Result::kMoved, bytes}); }
};

class ScriptedStream : public ByteStream {
 public:
  explicit ScriptedStream(StreamScript* script) : script_(*script) {}
  ~ScriptedStream() override { script_.destroyed = true; }

  Transfer recv(std::span<char> buffer) override {
    EXPECT_FALSE(buffer.empty());
    ++script_.recv_calls;
    if (script_.recv_answers.empty()) return {.result = Transfer::Result::kWantsRead};
    const StreamScript::Answer answer = std::move(script_.recv_answers.front());
    script_.recv_answers.pop_front();
    const size_t taken = answer.bytes.copy(buffer.data(), buffer.size());
    if (taken < answer.bytes.size())
      script_.recv_answers.push_front({answer.result, answer.bytes.substr(taken)});
    return {.result = answer.result, .bytes = taken};
  }

  // Insists on the third invariant of net/byte_stream.h.
  Transfer send(std::string_view bytes) override {
    EXPECT_FALSE(bytes.empty());
    EXPECT_TRUE(bytes.starts_with(script_.to_repeat));  // and has no fewer bytes
    script_.to_repeat.clear();
    ++script_.send_calls;
    Transfer answer = {.result = Transfer::Result::kMoved, .bytes = bytes.size()};
    if (!script_.send_answers.empty()) {
      answer = script_.send_answers.front();
      script_.send_answers.pop_front();
    }
    answer.bytes = std::min(answer.bytes, bytes.size());
    if (answer.result == Transfer::Result::kMoved) {
      script_.sent.append(bytes.substr(0, answer.bytes));
    } else {
      script_.to_repeat = bytes;
    }
    return answer;
  }

  bool holds_input() const override { return script_.holds_input; }
  int descriptor() const override { return 1000; }
  size_t memory_bytes() const override { return sizeof(*this); }

 private:
  StreamScript& script_;
};

class FakeWatcher : public Watcher {
 public:
  bool watch(int, Interest before, Interest now, Connection*) override {
    EXPECT_EQ(before, interest);
    changes += before != now;
    interest = now;
    return !refuses;
  }

  Interest interest;
  size_t changes = 0;
  bool refuses = false;
};

inline constexpr Interest kNothing = {};
inline constexpr Interest kRead = {.read = true};
inline constexpr Interest kWrite = {.write = true};
inline constexpr Interest kReadOrWrite = {.read = true, .write = true};

// One connection to a server. Turns end when the test says so.
class OneConnection : private ConnectionOwner {
 public:
  explicit OneConnection(Config config = {}) : server(std::move(config)) {}
  ~OneConnection() override {
    if (connection != nullptr) connection->abandon();
  }

  void open() {
    session = server->connect(FakeServer::local_peer()).value();
    closed = false;
    Connection::open(std::make_unique<ScriptedStream>(&stream), session, this, &watcher);
    if (!closed) connection = static_cast<Connection*>(session->transport());
  }

  // The same for a client that speaks HTTP.
  void open_http(http::ListenerKind listener = http::ListenerKind::kRequests) {
    Peer peer = FakeServer::local_peer();
    peer.type =
        listener == http::ListenerKind::kMetrics ? ConnectionType::kMetrics : ConnectionType::kHttp;
    peer.loopback = loopback;
    session = server->connect(std::move(peer)).value();
    closed = false;
    Connection::open(std::make_unique<ScriptedStream>(&stream), session, this, &watcher,
                     std::make_unique<http::Conversation>(&*server, session, &clients, listener));
    if (!closed) connection = static_cast<Connection*>(session->transport());
  }

  // The same for one that speaks gRPC.
  void open_grpc() {
    Peer peer = FakeServer::local_peer();
    peer.type = ConnectionType::kGrpc;
    session = server->connect(std::move(peer)).value();
    closed = false;
    Connection::open(std::make_unique<ScriptedStream>(&stream), session, this, &watcher,
                     std::make_unique<grpc::Conversation>(&*server, session, &callers));
    if (!closed) connection = static_cast<Connection*>(session->transport());
  }

  // The descriptor becomes ready, and the turn goes on to its end. Whatever a test looks at in the
  // answers, a strict parser takes their fields.
  void ready(Interest can) {
    call(can);
    end_turn();
    EXPECT_TRUE(has_strict_fields(stream.sent)) << stream.sent;
  }
  // The descriptor becomes ready in the middle of a turn.
  void call(Interest can) { connection->on_ready(can, buffer_, 1024); }
  // The same while nothing may be read.
  void call_stalled(Interest can) { connection->on_ready(can, {}, 1024); }
  void end_turn() {
    server->serve_waiting();
    server->end_turn();
    const std::vector<Session*> touched = server->turn().touched();
    for (const Session* each : touched) {
      if (each == session && connection != nullptr) connection->flush();
    }
  }
  // The bytes arrive, are answered, and the turn ends.
  void receives(std::string bytes) {
    stream.arrives(std::move(bytes));
    ready(kRead);
  }

  size_t received_bytes = 0;  // of which the owner was told
  FakeServer server;
  http::Clients clients{&*server, http::of_requests(&*server)};
  http::Clients callers{&*server, http::of_calls(&*server)};
  bool loopback = true;
  StreamScript stream;
  FakeWatcher watcher;
  Session* session = nullptr;
  Connection* connection = nullptr;  // null: closed
  bool closed = true;
  size_t bytes_max = 1 << 20;  // of a flush

 private:
  void note_received(size_t bytes) override { received_bytes += bytes; }
  size_t send_bytes_max() const override { return bytes_max; }
  void on_closed(std::unique_ptr<Connection> ended) override {
    server->disconnect(ended->session());
    session = nullptr;
    connection = nullptr;
    closed = true;
  }

  std::vector<char> buffer_ = std::vector<char>(64 << 10);
};

}  // namespace weir::server
