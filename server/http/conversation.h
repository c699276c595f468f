// A client that speaks HTTP: its requests become commands of its session, and their replies
// answers. It knows no socket; a connection moves its bytes. What may be asked depends on the port:
// verdicts and policies by http-port (v1/calls.h, gate.h), and by metrics-port what those ask who
// watch (answers.h, page.h).
//
//     silent -> begun -> asked -> answering -> silent ...
//                  |                 |
//                  +-- refused ------+--> draining -> the session closes
//
// It is a session like any other because a gate that is asked with every request of a site needs
// what the other ports have: TLS, turns with bounds, maxclients, CLIENT LIST. So rights, holds,
// durability and MONITOR are the executor's, and a connection without an adapter pays some
// comparisons. What is given up: pipelined requests do not share a turn, and a reply that this
// process has written is decoded again.
//
// Invariants
// 1. There is one request at a time: the next is parsed when the answer has left. So answers are in
//    the order of requests, and a turn answers one request of a connection.
// 2. A request runs as the user whom its credentials name, or if it names none as the user whom a
//    new session has; nothing is left of the request before it.
// 3. It holds at most kRequestBytesMax, or what a batch may be, and what one read brings.
// 4. After a refusal that leaves bytes unread it reads on for a while and throws away, since to
//    close at once would take the answer back from the client.
// 5. A turn's bound in time sees every request, also one that runs no command. Of the page's
//    commands a turn runs one, whose reply it makes JSON; together the replies have a bound
//    (format/reply.h). Those of a batch run in the turn in which it was read, so that one record of
//    the log has them; what is past a slice (session/slice.h), what the turn has no more room for,
//    and what is held up runs after it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time_units.h"
#include "resp/value.h"
#include "server/http/answers.h"
#include "server/http/clients.h"
#include "server/http/gate.h"
#include "server/http/request_reader.h"
#include "server/http/v1/calls.h"
#include "server/session/input_buffer.h"
#include "server/session/output_queue.h"
#include "server/session/protocol_adapter.h"

namespace weir::server {

class Server;
class Session;

namespace http {

inline constexpr int64_t kRequestNs = 10 * kNsPerS;   // from a request's first byte to its last
inline constexpr int64_t kAnswerNs = 10 * kNsPerS;    // until the client has taken its answer
inline constexpr int64_t kSilenceNs = 120 * kNsPerS;  // between two requests
inline constexpr int64_t kDrainNs = 2 * kNsPerS;
inline constexpr size_t kDrainBytesMax = 1 << 20;

class Conversation final : public ProtocolAdapter {
 public:
  // All three outlive it; the session is told of nothing but by it.
  Conversation(Server* server, Session* session, Clients* clients,
               ListenerKind listener = ListenerKind::kRequests);
  ~Conversation() override;
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  void receive(std::string_view bytes) override;
  size_t receive_bytes_max() const override { return kReadBytes; }
  bool has_more() const override {
    return (is_unexamined_ && awaits_request()) || has_command_left();
  }
  bool takes_more() const override {
    const bool reads = awaits_request() || stage_ == Stage::kDraining || is_held_up();
    return (reads || has_command_left()) && output().empty();
  }
  std::string_view output() const override { return std::string_view(output_).substr(sent_); }
  void mark_sent(size_t bytes) override;
  size_t memory_bytes() const override;

 private:
  static constexpr size_t kReadBytes = 16 << 10;

  enum class Stage : uint8_t { kSilent, kBegun, kAsked, kAnswering, kDraining };
  enum class Question : uint8_t { kCalls, kGate, kPage };

  bool awaits_request() const { return stage_ == Stage::kSilent || stage_ == Stage::kBegun; }
  // CLIENT PAUSE holds the request up, or it waits for its turn. A client that leaves meanwhile is
  // seen by reading on.
  bool is_held_up() const;
  static Pace::For waited_for(Stage stage);
  int64_t time_for(Stage stage) const;
  void enter(Stage stage);
  void read_request();
  RequestReader::Progress read_on();
  Answer refusal() const;
  bool asks_v1() const;
  void ask();
  void ask_v1();
  void ask_gate();
  void ask_page();
  bool log_in();
  // Of the page, the one before being answered.
  bool has_command_left() const {
    return stage_ == Stage::kAsked && answered_ == next_ && next_ < commands_.size();
  }
  void run(const std::vector<std::string>& words);
  void run_calls();
  void on_gate_reply(std::string_view reply);
  void on_call_reply(std::string_view reply);
  void on_page_reply(std::string_view reply);
  void answer_error(std::string_view error);
  void answer(const Answer& answer);
  void finish();

  Server& server_;
  Session& session_;
  Clients& clients_;
  const ListenerKind listener_;
  RequestReader reader_;
  InputBuffer input_;
  std::string output_;
  size_t sent_ = 0;  // of it
  size_t drained_ = 0;
  Pace pace_;
  Stage stage_ = Stage::kSilent;
  Question question_ = Question::kCalls;
  Calls calls_;                                     // of /v1/
  GateTerms terms_;                                 // of the question to the gate
  std::vector<std::vector<std::string>> commands_;  // of the page
  size_t next_ = 0;                                 // of them
  size_t answered_ = 0;
  std::string replies_;  // to them, as JSON
  bool is_new_ = true;
  bool is_unexamined_ = false;  // what was received has not been looked at since the last answer
  bool is_refused_ = false;     // what is left of the request is not read
  bool is_last_ = false;        // the answer that is being sent
};

}  // namespace http
}  // namespace weir::server
