// What a session asks of the server that it belongs to. It is an interface because sessions lie on
// a floor below the server.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/command/command.h"
#include "server/session/hold.h"

namespace weir::server {

class RequestsAhead;
class Session;
struct Config;

namespace acl {
class User;
}  // namespace acl

// What became of a request.
struct Ran {
  bool touched_data = false;         // the reply may depend on data
  Hold hold = Hold::kNone;           // otherwise it was taken back, and runs again after that
  const Command* command = nullptr;  // null: the request names none
  // How many permits the reply tells of, if it may leave before its turn is committed.
  std::optional<uint64_t> early_permits = {};
};

class SessionHost {
 public:
  const Config& config() const { return config_; }
  // Never null.
  virtual std::shared_ptr<const acl::User> default_user() const = 0;
  // Tells whether a client has to log in before anything else.
  virtual bool asks_for_login() const = 0;

  // Takes note that the session has a part in the running turn.
  virtual void note_in_turn(Session* session) = 0;
  // Tells whether anything may keep a request from running. If not, hold_for() and turn_is_full()
  // need not be asked.
  bool is_pressed() const { return is_pressed_; }
  WorkMeter& work() const { return work_; }
  // Answers the count of work units at which a session's slice ends if it begins now.
  virtual uint64_t slice_end() const = 0;
  // Answers when the request that ran last began, by the steady clock. It costs no look at the
  // clock.
  int64_t looked_ns() const { return looked_ns_; }
  // Answers whether the next request of a session has to wait before it runs, and for what.
  virtual Hold hold_for(const Session& session, Args args) const = 0;
  // Tells whether the turn has changed as much as one record of the log should hold.
  virtual bool turn_is_full() const = 0;
  // Where a session that runs its requests parses ahead; null: it may not, because another one is
  // running now.
  virtual RequestsAhead* requests_ahead() = 0;
  // Takes note of a request that will run soon, so that fetch_expected() fetches what it looks up.
  // That only saves time. Once there are enough, further ones are passed over.
  virtual void expect(const Session& session, Args args) = 0;
  // The same for the first request of bytes that the session will be handed soon, if they begin
  // with a whole one. REQUIRES: no session parses ahead now.
  virtual void expect_first(const Session& session, std::string_view bytes) = 0;
  virtual void fetch_expected() = 0;
  // Runs one request, or refuses it; the reply is appended to the session's output.
  virtual Ran execute(Session& session, Args args) = 0;
  // Hands what was published to the sessions that listen. The session calls it between commands.
  virtual void deliver_messages() = 0;

  // Counts a change of how much memory a session takes. It may end sessions, this one too, if no
  // command is running.
  virtual void count_client_bytes(Session& session, int64_t change) = 0;
  virtual void count_received(size_t bytes) = 0;
  virtual void count_sent(size_t bytes) = 0;
  virtual void note_protocol_error(const Session& session, const std::string& error) = 0;
  virtual void note_query_buffer_overrun(const Session& session) = 0;

 protected:
  SessionHost(const Config* config, WorkMeter* work) : config_(*config), work_(*work) {}
  ~SessionHost() = default;

  bool is_pressed_ = false;
  int64_t looked_ns_ = 0;

 private:
  const Config& config_;
  WorkMeter& work_;
};

}  // namespace weir::server
