// A whole server with one client of gRPC, over a stream that moves what the test lets it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "server/http/grpc/health.h"
#include "server/http/grpc/wire.h"
#include "tests/server/connection_fixture.h"
#include "tests/server/http/grpc/grpc_client.h"

namespace weir::server::grpc {

struct GrpcConnection {
  explicit GrpcConnection(Config config = {}) : one(std::move(config)) { one.open_grpc(); }

  // What the client has to send arrives, and turns go on until nothing more comes back.
  void go() {
    for (std::string bytes = client.bytes(); !bytes.empty() && !one.closed;
         bytes = client.bytes()) {
      one.stream.arrives(std::move(bytes));
      one.ready(kRead);
      turns();
    }
  }
  // Turns that need no bytes of the client's.
  void turns() {
    read();
    while (!one.closed && (one.watcher.interest.at_once || !one.stream.recv_answers.empty())) {
      one.ready(kRead);
      read();
    }
  }
  void read() {
    client.receives(std::exchange(one.stream.sent, {}));
    EXPECT_FALSE(client.is_confused);
  }
  // What comes by the clock: chores, and the bounds on slow clients.
  void chores() {
    one.server->tick();
    one.callers.end_overdue();
    for (Session* session : one.server->sessions().holds().take_runnable()) session->resume(10);
    one.end_turn();
    turns();
  }

  OneConnection one;
  GrpcClient client;
};

class GrpcTest : public testing::Test {
 protected:
  explicit GrpcTest(Config config = {}) : grpc_(std::move(config)) {}

  void go() { grpc_.go(); }
  const Answered& call(std::string_view path, std::string_view message,
                       const TestFields& more = {}) {
    const int32_t stream = client_.call(path, message, more);
    go();
    return client_.of(stream);
  }

  GrpcConnection grpc_;
  OneConnection& one_ = grpc_.one;
  GrpcClient& client_ = grpc_.client;
};

}  // namespace weir::server::grpc
