// How much clients may make the server hold for them: replies that are not read, by class
// (client-output-buffer-limit), and what all of them have in their buffers (maxmemory-clients).
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

  // The options have changed.
  void note_options();

  // A session's buffers have grown or shrunk.
  void count(int64_t change) { bytes_ += static_cast<size_t>(change); }  // modulo 2^64
  size_t bytes() const { return bytes_; }
  size_t bytes_max() const;
  bool exceeded() const { return bytes_ > bytes_max(); }
  // Ends the sessions with the most until the rest fits. REQUIRES: no command is running.
  void evict();
  uint64_t evicted() const { return evicted_; }
  void reset_figures() { evicted_ = 0; }

  // What replies a session may have unsent: its class's hard limit.
  size_t reply_bytes_max(const Session& session) const {
    const bool is_usual = !session.listening().is_told() && !session.client().switches().no_evict;
    return is_usual ? usual_reply_bytes_max_ : unusual_reply_bytes_max(session);
  }
  // Ends a session that would be sent more than its class may. REQUIRES: it runs no command.
  void kill_for_output(Session* session);
  // Ends it if it has more unsent than its class may, or for too long.
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
