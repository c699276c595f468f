// The replies that wait: for their turn to be covered (durability.h), or, where a shard's primary
// has taken permits, for so long that they may leave without.
//
// Invariants
// 1. Covered replies leave in the order of their turns.
// 2. A reply that leaves early leaves only after all earlier replies of its session. The durability
//    is asked about it once, when its wait ends, and counts its permits; one that may not leave
//    then waits like the others.
// 3. Where no reply will be covered soon, the sessions whose replies wait for that end; sessions of
//    which only replies wait that may still leave early go on.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

#include "server/core/disk/durability.h"
#include "server/os/clock.h"
#include "server/session/session.h"
#include "server/session/session_directory.h"
#include "server/waiting/waiting.h"

namespace weir::server {

class PendingReplies {
 public:
  // Takes note of a session that may have something to send, or has to end.
  using Touch = std::function<void(Session* session)>;

  PendingReplies(Clock* clock, SessionDirectory* sessions, Durability* durability)
      : clock_(*clock), sessions_(*sessions), durability_(*durability) {}

  bool empty() const { return pending_.empty(); }
  bool owes(const Session& session) const;
  // Keeps what a session was answered in the turn that ends.
  void add(Session* session, const Told& told);
  // Lets out what may leave.
  void release(const Touch& touch);
  // Ends the sessions whose replies wait for later turns.
  void drop_after(uint64_t turn);
  // Answers the instant of the steady clock at which release() should be called; kNotDue: time
  // alone changes nothing.
  int64_t ask_at_ns() const { return ask_at_ns_; }

 private:
  struct Pending {
    Told told;
    uint64_t session = 0;
    size_t begin = 0;  // places in the session's output
    size_t end = 0;
    std::optional<uint64_t> early_permits = {};  // none: it does not leave early, or not any more
    bool left = false;                           // early
  };

  void release_covered(const Touch& touch);
  void release_early(const Touch& touch);
  bool let_out_early(const Pending& pending, int64_t now_ns, const Touch& touch);
  void give_up(const Touch& touch);

  Clock& clock_;
  SessionDirectory& sessions_;
  Durability& durability_;
  std::deque<Pending> pending_;
  size_t looked_at_ = 0;  // those before it leave early no more
  int64_t ask_at_ns_ = kNotDue;
};

}  // namespace weir::server
