// All sessions, for code that reaches others than the one that it serves. It is an interface
// because such code (messages, tracking, users) lies on floors below the sessions' owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace weir::server {

class Session;

class SessionDirectory {
 public:
  // Finds a session by its number; null: it has ended.
  virtual Session* find_session(uint64_t id) const = 0;
  // Visits all sessions in the order of their ids. `visit` must not end any but by kill().
  virtual void each_session(const std::function<void(Session&)>& visit) const = 0;
  // Ends a session, whether it is part of the turn or not; its socket closes when the turn ends.
  virtual void kill(Session* session) = 0;
  // Answers how many bytes a session may have unsent.
  virtual size_t unsent_bytes_max(const Session& session) const = 0;
  // Ends a session if more waits to be sent than its class may have.
  virtual void enforce_output_limit(Session* session) = 0;
  // Describes a session as CLIENT LIST shows it, without a line end.
  virtual std::string describe(const Session& session) const = 0;

 protected:
  ~SessionDirectory() = default;
};

}  // namespace weir::server
