// One client's conversation: bytes come in, commands run, bytes go out. A session knows no socket.
//
// Invariants
// 1. Replies leave in the order of the requests, and only as far as release() has said: what a turn
//    changed must be committed before a client reads of it.
// 2. After an error of the protocol nothing more is parsed; the session closes once its output is
//    sent.
// 3. Memory grows with bytes received and replies made, never with lengths announced.
//
// States
//
//             the command may not run now, or was taken back to run again
//       +--------------------------------------------------------------------+
//       |                                                                    v
//    running <------------------------------------------------------------ held (hold.h)
//      |  ^     the pause ends; the list is a slice further; write-back has caught up
//      |  |
//      |  +-- it is served, its time is over, CLIENT UNBLOCK, its turn failed --+
//      +----- a command blocks (BLPOP, RL.ACQUIRE) ------------------------> waiting
//
//    running -- QUIT, an error of the protocol -----------> closing -- all output is sent --> gone
//    any     -- CLIENT KILL, a bound, a sync that fails --> dead ----- at once -------------> gone
//    any     -- the client disconnects -----------------------------------------------------> gone
//
// A session that is held or waits keeps the requests that it has received, within
// client-query-buffer-limit. One that is closing reads nothing more; a dead one also sends nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/session/activity.h"
#include "server/session/client.h"
#include "server/session/hold.h"
#include "server/session/kept_bytes.h"
#include "server/session/listening.h"
#include "server/session/replies.h"
#include "server/session/request_queue.h"
#include "server/session/transaction.h"
#include "server/session/transport.h"
#include "server/session/wait_state.h"

namespace weir::server {

class SessionHost;

class Session {
 public:
  Session(SessionHost* host, uint64_t id, Peer peer);
  ~Session();

  const uint64_t id;

  // Takes the bytes that were read and runs complete requests, at most `commands_max`; the session
  // keeps what is left over.
  void receive(std::string_view bytes, size_t commands_max);
  // Takes a command that is parsed already, after those submitted before; resume() runs them, as
  // far as a slice goes. The sink takes the reply when the turn has released it: "" if CLIENT REPLY
  // wants none. A session that is closing takes no more commands. REQUIRES: it receives no bytes.
  void submit(Args args, ReplySink sink);
  // Goes on with requests that were kept, or submitted.
  void resume(size_t commands_max) { receive({}, commands_max); }
  // Tells whether a complete request may be waiting, because the budget was used up or because it
  // is held.
  bool runnable() const { return runnable_ && !closing_; }
  // Why the request at the front is held; the session is runnable when that ends.
  Hold hold() const { return hold_; }

  // Answers what may be sent next; when it is sent, more may follow.
  std::string_view output() const { return replies_.queue().to_send(); }
  void mark_sent(size_t bytes);
  // The transport moves the bytes; null: nothing does any more.
  Transport* transport() const { return transport_; }
  void set_transport(Transport* transport);

  // A session that is closing reads nothing more, and its connection ends when everything released
  // is sent.
  bool closing() const { return closing_; }
  // The connection of a dead session ends at once.
  bool dead() const { return dead_; }
  void close_after_reply() { closing_ = true; }
  void kill() { closing_ = dead_ = true; }
  // Kills the session, and gives up what was not sent. REQUIRES: it is running no command.
  void kill_unsent();

  // Gives the session a part in the running turn, if it has none yet. It has that part from its
  // first request or message to the turn's end.
  void join_turn();
  // Lets what was replied up to a place of the queue be sent.
  void release(size_t place);

  // Adds a message that is no reply, after what was replied so far.
  void push_message(std::string_view bytes);
  // Ends the wait of a command, which has replied; the requests that were kept meanwhile may run.
  // `early_permits`: as Ran has them.
  void end_wait(std::optional<uint64_t> early_permits = {});

  // Tells whether the client has not logged in, and must.
  bool is_unauthenticated() const;
  // Answers how much memory the session takes: its buffers, and what is kept for it. It is what
  // falls under maxmemory-clients.
  size_t memory_bytes() const {
    return requests_.memory_bytes() + replies_.queue().memory_bytes() + kept_.sum();
  }
  // Tells the server what that has come to. The session does so itself whenever it has received or
  // sent; who keeps more for it, or less, at another time calls this.
  void count_bytes();

  // The parts.
  KeptBytes& kept() { return kept_; }
  const KeptBytes& kept() const { return kept_; }
  Client& client() { return client_; }
  const Client& client() const { return client_; }
  Activity& activity() { return activity_; }
  const Activity& activity() const { return activity_; }
  Replies& replies() { return replies_; }
  const Replies& replies() const { return replies_; }
  WaitState& wait_state() { return wait_state_; }
  const WaitState& wait_state() const { return wait_state_; }
  Transaction& transaction() { return transaction_; }
  const Transaction& transaction() const { return transaction_; }
  Listening& listening() { return listening_; }
  const Listening& listening() const { return listening_; }
  const InputBuffer& input() const { return requests_.kept(); }

 private:
  // Runs requests while there are any and the slice lasts.
  void run_requests(size_t commands_max);
  // Answers why the request must run again later, or kNone.
  Hold run_request(Args args);
  void check_input_size();
  void fail_protocol(const std::string& error);

  SessionHost& host_;
  KeptBytes kept_;
  Client client_;
  Activity activity_;
  RequestQueue requests_;
  Replies replies_;
  WaitState wait_state_{&kept_};
  Transaction transaction_{&kept_};
  Listening listening_;
  Transport* transport_ = nullptr;
  Hold hold_ = Hold::kNone;
  bool runnable_ = false;
  bool closing_ = false;
  bool dead_ = false;
};

}  // namespace weir::server
