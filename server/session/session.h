// One client's conversation: bytes in, commands run, bytes out. Knows no socket.
//
// Invariants
// 1. Replies leave in the order of the requests, and only as far as release() has said: what a turn
//    changed must be committed before a client reads of it.
// 2. After an error of the protocol nothing more is parsed; the session closes once its output is
//    sent.
// 3. Memory grows with bytes received and replies made, never with lengths announced.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "resp/reply.h"
#include "resp/request_parser.h"
#include "server/session/hold.h"
#include "server/session/input_buffer.h"
#include "server/session/output_queue.h"
#include "server/session/subscriptions.h"
#include "server/session/tracking_state.h"
#include "server/session/transaction.h"
#include "server/session/transport.h"

namespace weir::server {

namespace acl {
class User;
}  // namespace acl

class SessionHost;
struct Command;

struct Peer {
  std::string address =
      "?:0";  // "127.0.0.1:50412", "[::1]:50412", or the unix socket's path + ":0"
  std::string local_address = "?:0";
  int descriptor = -1;
  bool loopback = true;  // or a unix socket
  bool unix_socket = false;
};

enum class ReplyMode : uint8_t { kOn, kOff, kSkipNext, kSkipping };

class Session {
 public:
  Session(SessionHost* host, uint64_t id, Peer peer);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Takes what was read and runs complete requests, at most `commands_max`; what is left over is
  // kept.
  void receive(std::string_view bytes, size_t commands_max);
  // Goes on with requests kept by receive().
  void resume(size_t commands_max) { receive({}, commands_max); }
  // A complete request may be waiting that was not run for want of budget, or is held.
  bool runnable() const { return runnable_ && !closing_; }
  Hold hold() const { return hold_; }  // runnable when that ends

  // What may be sent next; when it is sent, more may follow.
  std::string_view output() const { return output_.to_send(); }
  void mark_sent(size_t bytes);
  bool has_unsent() const { return output_.unsent_bytes() > 0; }
  size_t unsent_bytes() const { return output_.unsent_bytes(); }
  // No more is read; the connection ends when everything released is sent...
  bool closing() const { return closing_; }
  // ... or at once.
  bool dead() const { return dead_; }
  void close_after_reply() { closing_ = true; }
  void kill() { closing_ = dead_ = true; }
  // At once, and gives up what was not sent. REQUIRES: it is running no command.
  void kill_unsent();

  // Replies of the running turn, to the server.
  size_t produced() const { return output_.end(); }
  void release(size_t produced);
  // Replaces this turn's replies that depended on data by an error.
  void fail_turn_replies(std::string_view error);
  bool turn_touched_data() const { return output_.turn_touched_data(); }
  void end_turn();
  bool in_turn() const { return in_turn_; }

  // A message that is no reply: it stands behind what was replied so far.
  void push_message(std::string_view bytes);
  bool subscribed() const { return !subscriptions.empty(); }

  // Blocked: the command in progress replies later (waiting/waiting.h), and nothing else is run.
  void begin_wait() { waiting_ = true; }
  void forget_wait() { waiting_ = false; }
  bool waiting() const { return waiting_; }
  // The reply stands behind `reply_begin` in the buffer; requests kept meanwhile go on.
  void end_wait(size_t reply_begin);
  // The same, with an error.
  void fail_wait(std::string_view error);

  resp::ReplyWriter& reply() { return reply_; }

  const uint64_t id;
  const Peer peer;
  uint64_t touched_in_turn = 0;    // the server's count of turns when it was last on its list
  Transport* transport = nullptr;  // set by what moves the bytes; null: nothing does any more
  int database = 0;
  bool authenticated = false;
  // Nobody has logged in, and somebody must.
  bool is_stranger() const;
  std::shared_ptr<const acl::User> user;  // never null
  std::string name;
  std::string library_name;
  std::string library_version;
  ReplyMode reply_mode = ReplyMode::kOn;
  // The running command may wait, that is block the session: not in a transaction or a script.
  bool may_wait = false;
  bool denies_waiting = false;
  bool reply_is_push = false;  // of the running command: CLIENT REPLY OFF does not hold it back
  Transaction transaction;
  Subscriptions subscriptions;    // filled by Pubsub
  bool monitors = false;          // set by Monitors
  TrackingState tracking;         // set by Tracking
  bool debugger_refused = false;  // what was to be debugged must not run
  bool no_evict = false;
  bool no_touch = false;
  int64_t connected_ns = 0;            // steady
  int64_t last_interaction_ns = 0;     // steady
  const Command* requested = nullptr;  // by the newest request; null: it names no command
  const Command* last_command = nullptr;
  uint64_t commands_run = 0;
  uint64_t commands_seen = 0;  // commands_run when the server last looked for overdue strangers...
  int64_t commands_seen_ns = 0;  // ... and when that changed, steady
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
  int64_t over_soft_limit_since_ns = 0;  // steady; 0: not over it
  int protocol() const { return reply_.protocol(); }
  // Input, output and what a transaction has queued, as the server last counted them.
  size_t counted_bytes() const { return counted_bytes_; }
  size_t input_bytes() const { return input_.size(); }
  size_t input_capacity() const { return input_.capacity(); }
  size_t output_capacity() const { return output_.capacity(); }

 private:
  friend class Executor;
  void begin_turn_if_needed();
  // Runs requests at the front of `bytes`; answers how many bytes they took.
  size_t process(std::string_view bytes, size_t commands_max);
  void run_request(size_t reply_begin);
  void count_bytes();
  void check_input_size();
  bool slice_ended(int64_t begin_ns) const;
  void note_reply(size_t reply_begin, bool touched_data);
  void fail_protocol(const std::string& error);
  resp::RequestLimits limits() const;

  SessionHost& host_;
  resp::RequestParser parser_;
  InputBuffer input_;  // an incomplete request, or requests kept for a later turn
  OutputQueue output_;
  resp::ReplyWriter reply_;
  bool runnable_ = false;
  Hold hold_ = Hold::kNone;
  size_t counted_bytes_ = 0;
  bool closing_ = false;
  bool dead_ = false;
  bool in_turn_ = false;
  bool waiting_ = false;
};

}  // namespace weir::server
