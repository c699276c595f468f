// How much clients may make the server hold for them: replies that are not read, by class
// (client-output-buffer-limit), and all that sessions take together, with the names that are kept
// for several of them at once (maxmemory-clients).
//
// Invariant: however many sessions there are, to end one of the largest takes constant time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/config/config.h"
#include "server/core/clients/sessions_by_size.h"
#include "server/session/session.h"
#include "server/session/session_directory.h"
#include "server/session/shared_names.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

class ClientBounds {
 public:
  ClientBounds(SessionDirectory* sessions, const Config* config, const storage::Keyspace* keys)
      : sessions_(*sessions), config_(*config), keys_(*keys) {
    note_options();
  }

  // Takes note that options have changed.
  void note_options();

  // Says what is kept for several sessions at once, to be asked as long as sessions come and run.
  void set_shared(SharedNames* shared) { shared_ = shared; }
  // Counts what a session has grown by, or shrunk by if it is negative.
  void count(Session* session, int64_t change) {
    bytes_ += static_cast<size_t>(change);  // modulo 2^64
    by_size_.place(session);
  }
  // Takes note that a session has chosen whether it may be evicted.
  void note_choice(Session* session) { by_size_.place(session); }
  // Of all sessions, without what is shared.
  size_t bytes() const { return bytes_; }
  size_t bytes_max() const { return bytes_max_; }
  bool exceeded() const { return bytes_ + shared_bytes() > bytes_max_; }
  // Until the rest fits: ends one of the largest sessions, but none that has asked for CLIENT
  // NO-EVICT, or makes the shared names fewer if they are larger. REQUIRES: no command is running.
  void evict();
  uint64_t evicted() const { return evicted_; }
  void reset_metrics() { evicted_ = 0; }

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
  size_t configured_bytes_max() const;
  size_t shared_bytes() const { return shared_ == nullptr ? 0 : shared_->bytes(); }
  const OutputBufferLimit& limit_of(const Session& session) const;
  size_t unusual_reply_bytes_max(const Session& session) const;

  SessionDirectory& sessions_;
  const Config& config_;
  const storage::Keyspace& keys_;
  SharedNames* shared_ = nullptr;
  SessionsBySize by_size_;
  size_t bytes_ = 0;
  size_t bytes_max_ = 0;
  size_t usual_reply_bytes_max_ = 0;  // of normal clients
  uint64_t evicted_ = 0;
};

}  // namespace weir::server
