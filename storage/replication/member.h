// One process of a shard: follows the shared log, claims the role of primary when the log is
// silent, and as primary appends its turns and knows which of them are committed. A pure state
// machine: events come in, actions leave through MemberActions, instants are arguments.
//
// Invariants
// 1. At most one append or one read is in flight.
// 2. A record gets its place from an acknowledged append or from a read after one's own Head.
//    Nothing else is decided on; in particular log indexes are never compared.
// 3. An epoch is this process's own only if it is the identity of a CLAIM that this very process
//    sent, and only until a demotion: then all its epochs are spent, because
//    appends of them may still be on their way.
// 4. A turn is committed when the own log state has accepted it and an append of this process at
//    that place or after it was acknowledged. Reading one's own record is not enough: a log engine
//    may show what it loses when it fails over.
// 5. A sealed turn is committed, or lost by a demotion. Who is promoted appends first what it has
//    beyond the log, with the same numbers and the same bytes.
// 6. The log state is never ahead of the local log except by records of turns that a primary still
//    holds: at a demotion it starts again from the newest local bookmark.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/replication/absorber.h"
#include "storage/replication/member_state.h"
#include "storage/replication/shared_log.h"

namespace weir::storage::replication {

// When an event comes. In the middle of a turn a member does nothing that could cost it its role
// or needs the turn's end: it takes in that what it appended was acknowledged, and sends
// HEARTBEATs.
enum class While { kBetweenTurns, kInATurn };

class Member {
 public:
  static constexpr int64_t kNever = INT64_MAX;
  static constexpr size_t kReadBytes = 1024 * 1024;

  // A process starts as a standby always. `newest_instant_ns` is that of the local log.
  Member(const MemberOptions& options, const LocalTurns* local, MemberActions* port,
         int64_t newest_instant_ns);

  // The primary's next turn, which from now on is unchangeable. tick() sends it.
  // REQUIRES: may_seal(), and the number follows newest_turn().
  void sealed(uint64_t turn, std::string_view record);

  // The answers of the log, in whatever state the member is. False: not in the middle of a turn;
  // the answer is to be brought again after it, before any other.
  bool appended(const Appended& answer, Instants now, While when = While::kBetweenTurns);
  void read(const Read& answer, Instants now);
  // At next_deadline() or at any other time.
  void tick(Instants now, While when = While::kBetweenTurns);

  // A promoted primary gives its role to the member `to`: it seals no more, commits what it has,
  // and appends SWITCHOVER. Without effect in any other state.
  void switch_over(std::string to, Instants now);
  // A person's command: a CLAIM without condition. Without effect for a primary.
  void claim_by_operator(Instants now);
  // A primary appends a new CLAIM for them; a shorter lease counts at once.
  void change_times(const Times& times, Instants now);

  Role role() const { return state_.role; }
  bool is_primary() const { return state_.is_primary(); }
  // Up to which turn replies may leave.
  uint64_t let_out_turn() const { return state_.let_out_turn; }
  // The newest turn that this process holds, sealed or applied. It may be ahead of the log's.
  uint64_t newest_turn() const { return state_.held.newest(); }
  // The local log keeps its turns from this one on, and the newest bookmark before it, whatever is
  // in the state files: a log that was rewound may lack them, and they are compared or appended
  // again.
  uint64_t turns_needed_from() const {
    return state_.catch_up.search() ? 0 : state_.log_state.next_turn();
  }
  int64_t next_deadline() const;
  bool may_seal() const { return state_.may_seal(); }
  // A reply that depends on data also waits for the commit of every turn it depends on.
  bool may_answer_reads(int64_t boot_ns) const;
  // Whether an append that was sent at or after this time was acknowledged: nobody else was primary
  // then. It stands in for a lease, and needs none, not even after a SWITCHOVER was sent.
  bool acknowledged_since(int64_t boot_ns) const {
    return state_.primary_state == PrimaryState::kServing && is_primary() &&
           state_.lease.is_acknowledged() && state_.lease.sent_boot_ns() >= boot_ns;
  }
  bool may_release_early(int64_t boot_ns) const;

  const LogState& log_state() const { return state_.log_state; }
  const MemberMetrics& metrics() const { return state_.metrics; }
  // One line for people, and for tests that compare states; it names no times.
  friend std::string describe(const Member& member);

 private:
  using InFlight = MemberState::InFlight;

  void standby_step(Instants now);
  bool may_claim() const;
  void primary_step(Instants now, While when);
  int64_t primary_deadline() const;
  void send(Kind kind, std::string record, bool has_condition, Instants now);
  void send_claim(bool has_condition, bool waits, Instants now);

  MemberState state_;
  Absorber absorber_;
  const RecordMaker maker_;
};

std::string describe(const Member& member);

}  // namespace weir::storage::replication
