// A client that speaks gRPC: the calls of a connection become commands of its session, and their
// replies responses. It knows no socket; a connection moves its bytes (http2.h has the frames).
//
// Calls run one after the other, each as the user whom its field Authorization names, in the order
// in which they became whole, but their answers leave as they are ready. A call may run in two
// parts, of which the second follows from the replies to the first. Reflection is a dialogue of
// questions and answers on one stream.
//
// Invariants
// 1. A call's commands are submitted only while no earlier command is kept back: so the user of the
//    session is that of the call that runs.
// 2. What a client has run in a turn ends by work and time (WorkMeter), like any session's; what it
//    waits for, by kUnansweredMax: a call that was reset makes room for another one.
// 3. A connection that is silent stays, since its client would pay for a new one while somebody
//    waits; one that owes the rest of a request, or does not take its answers, does not.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time_units.h"
#include "server/http/clients.h"
#include "server/http/grpc/http2.h"
#include "server/http/grpc/methods.h"
#include "server/http/grpc/status.h"
#include "server/session/protocol_adapter.h"

namespace weir::server {

class Server;
class Session;

namespace grpc {

inline constexpr size_t kMessageBytesMax = 128 << 10;  // what a proxy takes from one client
inline constexpr int64_t kRequestNs = 10 * kNsPerS;    // from a stream's first byte to its last
inline constexpr int64_t kAnswerNs = 10 * kNsPerS;  // in which the client takes some of what waits
inline constexpr size_t kUnansweredMax = 256;       // commands

class Conversation final : public ProtocolAdapter {
 public:
  // All three outlive it; the session is told of nothing but by it.
  Conversation(Server* server, Session* session, http::Clients* clients);
  ~Conversation() override;
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  void receive(std::string_view bytes) override;
  size_t receive_bytes_max() const override { return kReadBytes; }
  bool has_more() const override { return !waiting_.empty() && may_submit(); }
  bool takes_more() const override { return output().empty(); }
  std::string_view output() const override { return std::string_view(output_).substr(sent_); }
  void mark_sent(size_t bytes) override;
  size_t memory_bytes() const override;

 private:
  static constexpr size_t kReadBytes = 16 << 10;

  // A call that has commands.
  struct Call {
    std::string authorization;
    std::unique_ptr<Ask> ask;
    std::vector<Words> commands = {};  // of the part that runs
    size_t submitted = 0;              // of them
    size_t answered = 0;
  };

  bool may_submit() const { return !is_kept_back_ && unanswered_ < kUnansweredMax; }
  void run_calls();
  void run_call(int32_t stream);
  void begin_call(int32_t stream);
  void go_on_reflecting(int32_t stream);
  Result<std::string, Status> answer_at_once(const Request& request);
  Result<std::unique_ptr<Ask>, Status> begin_ask(const Request& request);
  Result<void, Status> log_in(std::string_view authorization);
  // Makes the next part; false: there is none, and the call is answered.
  bool begin_part(int32_t stream, Call* call);
  void submit(int32_t stream, Call* call);
  void on_reply(int32_t stream, size_t place, std::string_view reply);
  void answer(int32_t stream, const Result<std::string, Status>& response);
  // Ends a stream without a message.
  void end(int32_t stream, const Status& status);
  void take_whole();
  // Makes output of what may leave, and notes what the client is waited for.
  void go_on();
  void note_pace();

  Server& server_;
  Session& session_;
  http::Clients& clients_;
  Http2 http2_;
  std::deque<int32_t> waiting_;  // streams whose calls have something to run
  std::map<int32_t, Call> calls_;
  size_t unanswered_ = 0;      // commands that were submitted
  bool is_kept_back_ = false;  // the last of them has not run
  std::string output_;
  size_t sent_ = 0;             // of it
  bool holds_answers_ = false;  // or nothing but what HTTP/2 says of itself
  http::Pace pace_;
  int64_t begun_ns_;
  bool owed_ = false;      // something waits for the client
  int64_t owed_since_ns_;  // or since something of it was taken
};

}  // namespace grpc
}  // namespace weir::server
