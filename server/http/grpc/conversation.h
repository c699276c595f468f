// A client that speaks gRPC: the calls of a connection become commands of its session, and their
// replies responses. It knows no socket; a connection moves its bytes (http2.h has the frames).
//
// Calls run one after the other, each as the user whom its field Authorization names, in the order
// in which they became whole, but their answers leave as they are ready.
//
// Invariants
// 1. A call's commands are submitted only while no earlier call's command is kept back: so the user
//    of the session is that of the call that runs.
// 2. A part of a turn ends by work and time (WorkMeter), like any session's.
// 3. A connection that is silent stays, since its client would pay for a new one while somebody
//    waits; one that owes the rest of a request, or does not take its answers, does not.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time_units.h"
#include "server/http/clients.h"
#include "server/http/grpc/http2.h"
#include "server/http/grpc/status.h"
#include "server/session/protocol_adapter.h"

namespace weir::server {

class Server;
class Session;

namespace grpc {

inline constexpr size_t kMessageBytesMax = 16 << 10;
inline constexpr int64_t kRequestNs = 10 * kNsPerS;  // from a stream's first byte to its last
inline constexpr int64_t kAnswerNs = 10 * kNsPerS;   // in which the client takes some of what waits

class Conversation final : public ProtocolAdapter {
 public:
  // All three outlive it; the session is told of nothing but by it.
  Conversation(Server* server, Session* session, http::Clients* clients);
  ~Conversation() override;
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  void receive(std::string_view bytes) override;
  size_t receive_bytes_max() const override { return kReadBytes; }
  bool has_more() const override { return !waiting_.empty(); }
  bool takes_more() const override { return output().empty(); }
  std::string_view output() const override { return std::string_view(output_).substr(sent_); }
  void mark_sent(size_t bytes) override;
  size_t memory_bytes() const override;

 private:
  static constexpr size_t kReadBytes = 16 << 10;

  void run_calls();
  void run_call(int32_t stream);
  Result<std::string, Status> call(const Request& request);
  void answer(int32_t stream, const Result<std::string, Status>& response);
  // Makes output of what may leave, and notes what the client is waited for.
  void go_on();
  void note_pace();

  Server& server_;
  Session& session_;
  http::Clients& clients_;
  Http2 http2_;
  std::deque<int32_t> waiting_;  // streams whose calls have not run
  std::string output_;
  size_t sent_ = 0;  // of it
  http::Pace pace_;
  int64_t begun_ns_;
  int64_t owed_since_ns_;  // or since something of it was taken
};

}  // namespace grpc
}  // namespace weir::server
