// All sessions: which clients may connect, which session has a number, which sessions are ended.
//
// Invariant: a session ends by being removed, between turns. kill() only marks it, and its socket
// closes when the turn has ended.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "server/config/config.h"
#include "server/core/clients/client_bounds.h"
#include "server/core/clients/holds.h"
#include "server/os/clock.h"
#include "server/report/report.h"
#include "server/session/session.h"
#include "server/session/session_directory.h"
#include "server/session/session_host.h"
#include "server/tls/tls.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

class Descriptors;

class Sessions final : public SessionDirectory {
 public:
  struct Needs {
    SessionHost* host;
    const Config* config;
    Clock* clock;
    const storage::Keyspace* keys;
    Report* report;
  };
  explicit Sessions(const Needs& needs) : needs_(needs), bounds_(this, needs.config, needs.keys) {}

  // Adds a session, or answers the line that refuses it.
  Result<Session*, std::string> add(Peer peer);
  // Ends a session. REQUIRES: nothing points to it any more.
  void remove(const Session& session) { sessions_.erase(session.id); }

  const std::map<uint64_t, std::unique_ptr<Session>>& all() const { return sessions_; }
  size_t count() const { return sessions_.size(); }
  // Answers what they take, with their buffers and all that is kept for them.
  size_t bytes() const { return bounds_.bytes(); }
  Session* find_session(uint64_t id) const override;
  void each_session(const std::function<void(Session&)>& visit) const override;
  void kill(Session* session) override;
  size_t unsent_bytes_max(const Session& session) const override {
    return bounds_.reply_bytes_max(session);
  }
  void enforce_output_limit(Session* session) override;
  std::string describe(const Session& session) const override;

  // Ends the sessions that have said nothing for longer than `timeout`, those that have to log in
  // and have sent no request for longer than `authentication-timeout`, and those that do not take
  // what they are sent. Call it from time to time.
  void end_idle();

  // The host that sessions call, also the session without a client that a waiter's last act needs.
  SessionHost& host() { return *needs_.host; }
  ClientBounds& bounds() { return bounds_; }
  // Those that do not go on by themselves.
  Holds& holds() { return holds_; }
  // How they connect over TLS.
  Tls& tls() { return tls_; }
  // The part that knows how many clients the process has room for; null where there is no bound.
  void set_descriptors(Descriptors* descriptors) { descriptors_ = descriptors; }
  Descriptors* descriptors() const { return descriptors_; }

 private:
  Needs needs_;
  ClientBounds bounds_;
  Holds holds_{this};
  Tls tls_;
  Descriptors* descriptors_ = nullptr;
  std::map<uint64_t, std::unique_ptr<Session>> sessions_;
  uint64_t next_id_ = 1;
  int64_t next_idle_check_steady_ns_ = 0;
};

}  // namespace weir::server
