// How much clients may make the server hold for them: replies that are not read, by class
// (client-output-buffer-limit), and the bytes in the buffers of all of them together
// (maxmemory-clients).
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/config/config.h"
#include "server/session/session.h"
#include "server/session/session_directory.h"
#include "storage/keyspace.h"

namespace weir::server {

class ClientBounds {
 public:
  ClientBounds(SessionDirectory* sessions, const Config* config, const storage::Keyspace* keys)
      : sessions_(*sessions), config_(*config), keys_(*keys) {
    note_options();
  }

  // Takes note that options have changed.
  void note_options();

  // Counts what a session's buffers have grown by, or shrunk by if it is negative.
  void count(int64_t change) { bytes_ += static_cast<size_t>(change); }  // modulo 2^64
  size_t bytes() const { return bytes_; }
  size_t bytes_max() const;
  bool exceeded() const { return bytes_ > bytes_max(); }
  // Ends the sessions with the most bytes until the rest fits, but none that has asked for CLIENT
  // NO-EVICT. REQUIRES: no command is running.
  void evict();
  uint64_t evicted() const { return evicted_; }
  void reset_figures() { evicted_ = 0; }

  // Answers how many bytes of replies a session may have unsent: its class's hard limit, and no
  // more than all clients may have together, unless it has asked for CLIENT NO-EVICT.
  size_t reply_bytes_max(const Session& session) const {
    const bool is_usual = !session.listening().is_told() && !session.client().switches().no_evict;
    return is_usual ? usual_reply_bytes_max_ : unusual_reply_bytes_max(session);
  }
  // Ends a session that would have more unsent than it may. REQUIRES: it runs no command.
  void kill_for_output(Session* session);
  // Ends a session that has more unsent than its class may, or has had more than its soft limit for
  // too long, or that has to log in and has more unsent than such a session may.
  void enforce_output_limit(Session* session, int64_t steady_ns);

 private:
  const OutputBufferLimit& limit_of(const Session& session) const;
  size_t unusual_reply_bytes_max(const Session& session) const;

  SessionDirectory& sessions_;
  const Config& config_;
  const storage::Keyspace& keys_;
  size_t bytes_ = 0;
  size_t usual_reply_bytes_max_ = 0;  // of normal clients
  uint64_t evicted_ = 0;
};

}  // namespace weir::server
