// One process of a shard: follows the shared log, claims the office of owner when the log is
// silent, and as owner appends its turns and knows which of them are committed. A pure state
// machine: events come in, actions leave through a Port, instants are arguments.
//
// Invariants
// 1. At most one append or one read is in flight.
// 2. A record gets its place from an acknowledged append or from a read after one's own Head.
//    Nothing else is decided on; in particular positions are never compared.
// 3. An epoch is this process's own only if it is the identity of a CLAIM that this very process
//    sent, and only until the process loses an office: then all its epochs are spent, because
//    appends of them may still be on their way.
// 4. A turn is committed when the own Fold has accepted it and an append of this process at that
//    place or after it was acknowledged. Reading one's own record is not enough: a log engine may
//    show what it loses when it fails over.
// 5. A sealed turn is committed, or the office is lost. Who takes office appends first what it has
//    beyond the log, with the same numbers and the same bytes.
// 6. The Fold is never ahead of the local log except by records of turns that an owner still
//    holds: at the loss of an office it starts again from the newest local stamp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "storage/replication/catch_up.h"
#include "storage/replication/claims.h"
#include "storage/replication/fold.h"
#include "storage/replication/held_turns.h"
#include "storage/replication/lease.h"
#include "storage/replication/pace.h"
#include "storage/replication/port.h"
#include "storage/replication/record_maker.h"
#include "storage/replication/role.h"
#include "storage/replication/shared_log.h"
#include "storage/replication/silence.h"
#include "storage/replication/timeline.h"

namespace weir::storage::replication {

struct MemberOptions {
  RecordOptions records;
  Author self;
  Times times;                       // what an own CLAIM sets
  int64_t append_interval_ns = 0;    // the least time between two appends of turns
  int64_t early_release_ns_max = 0;  // how long early replies go on without the log
};

// When an event comes. In the middle of a turn a member does nothing that could cost it its office
// or needs the turn's end: it takes in that what it appended was acknowledged, and sends BEATs.
enum class While { kBetweenTurns, kInATurn };

struct MemberFigures {
  uint64_t rewinds = 0;
  uint64_t claims = 0;       // sent
  uint64_t cold_claims = 0;  // ... at the wall clock's instant, as no record was read live
  uint64_t offices = 0;      // taken
};

class Member {
 public:
  static constexpr int64_t kNever = INT64_MAX;
  static constexpr size_t kReadBytes = 1024 * 1024;

  // A process starts as a standby always. `newest_instant_ns` is that of the local log.
  Member(const MemberOptions& options, const LocalTurns* local, Port* port,
         int64_t newest_instant_ns);

  // The owner's next turn, which from now on is unchangeable. tick() sends it.
  // REQUIRES: may_seal(), and the number follows newest_turn().
  void sealed(uint64_t turn, std::string_view record);

  // The answers of the log, in whatever state the member is. False: not in the middle of a turn;
  // the answer is to be brought again after it, before any other.
  bool appended(const Appended& answer, Instants now, While when = While::kBetweenTurns);
  void read(const Read& answer, Instants now);
  // At next_deadline() or at any other time.
  void tick(Instants now, While when = While::kBetweenTurns);

  // An owner in office gives the shard to this node: it seals no more, commits what it has, and
  // appends HANDOVER. Without effect in any other state.
  void hand_over(std::string to, Instants now);
  // A person's command: a CLAIM without condition. Without effect for an owner.
  void claim_by_operator(Instants now);
  // An owner appends a new CLAIM for them; a shorter lease counts at once.
  void change_times(const Times& times, Instants now);

  Role role() const { return role_; }
  bool owns() const { return role_ == Role::kOwning || role_ == Role::kHandingOver; }
  // Up to which turn replies may leave.
  uint64_t committed_turn() const { return let_out_turn_; }
  // The newest turn that this process holds, sealed or applied. It may be ahead of the log's.
  uint64_t newest_turn() const { return held_.newest(); }
  // The local log keeps its turns from this one on, and the newest stamp before it, whatever is in
  // the state files: a log that was rewound may lack them, and they are compared or appended again.
  uint64_t turns_needed_from() const { return catch_up_.search() ? 0 : fold_.next_turn(); }
  int64_t next_deadline() const;
  bool may_seal() const;
  // A reply that depends on data also waits for the commit of every turn it depends on.
  bool may_answer_reads(int64_t boot_ns) const;
  // Whether an append that was sent at or after this time was acknowledged: nobody else was owner
  // then. It stands in for a lease, and needs none, not even after a HANDOVER was sent.
  bool acknowledged_since(int64_t boot_ns) const {
    return office_ == Office::kServing && owns() && lease_.is_acknowledged() &&
           lease_.sent_boot_ns() >= boot_ns;
  }
  bool may_release_early(int64_t boot_ns) const;

  const Fold& fold() const { return fold_; }
  const MemberFigures& figures() const { return figures_; }
  // One line for people, and for tests that compare states; it names no times.
  friend std::string describe(const Member& member);

 private:
  struct InFlight {
    Kind kind = Kind::kBeat;
    bool has_condition = true;
    std::string bytes;
    Head head;  // where it will stand if the condition holds; of a claim without one, its crc
    int64_t sent_boot_ns = 0;
  };
  struct Reading {};
  // A member that is elected takes office when it serves. The last three: it stays in office after
  // a rewind, and reads, claims and appends again until it serves again.
  enum class Office { kNone, kServing, kReading, kClaiming, kAppending };
  // Why a member appends a CLAIM beside the rules: a person asks a standby for it, or an owner's
  // times have changed.
  enum class ClaimDue { kNo, kByOperator, kForTimes };
  struct HandOver {
    std::string to;
    bool is_sent = false;  // perhaps the log has it
  };

  // member.cc
  void elect(int64_t wait_ns, Instants now);
  void acknowledge(int64_t sent_boot_ns, Instants now);
  void serve_if_ready(Instants now);
  void lose_office(Reason reason);
  void step_down();
  void stop(Reason reason);

  // member_read.cc
  bool absorb(const Record& record, Instants now);
  bool absorb_claim(const Head& head, int64_t superseded_lease_ns, Instants now);
  bool absorb_turns(const Fold::Outcome& outcome);
  void meet_impossible(const Head& head);
  void reach_end(bool brought_records, Instants now);
  void begin_search();
  void end_search();
  void restamp_if_due(Instants now);

  // member_append.cc
  void standby_step(Instants now);
  bool may_claim() const;
  void owner_step(Instants now, While when);
  int64_t owner_deadline() const;
  void send(Kind kind, std::string record, bool has_condition, Instants now);
  void send_claim(bool has_condition, bool waits, Instants now);

  const MemberOptions options_;
  const RecordMaker maker_;
  const LocalTurns* const local_;
  Port* const port_;
  Times times_;  // for the next own CLAIM

  Role role_ = Role::kJoining;
  Fold fold_;
  HeldTurns held_;
  Timeline timeline_;
  Silence silence_;
  Lease lease_;
  Claims claims_;
  Pace pace_;

  std::variant<std::monostate, InFlight, Reading> asked_;  // of the log, and not answered
  CatchUp catch_up_;
  std::optional<Head> refused_at_;       // the end of the log as known when an append was refused
  std::optional<Head> impossible_at_;    // after one refold, the same record stops the member
  std::optional<InFlight> claim_ahead_;  // a claim without condition that is acknowledged, not read
  ClaimDue claim_due_ = ClaimDue::kNo;

  // What an owner has.
  Office office_ = Office::kNone;
  uint64_t append_again_until_ = 0;  // the turn up to which an elected member repeats its turns
  uint64_t committed_turn_ = 0;
  uint64_t let_out_turn_ = 0;
  bool unsettled_ = false;  // the fate of earlier appends is known after the next acknowledgement
  HandOver hand_over_;      // of Role::kHandingOver

  MemberFigures figures_;
};

std::string describe(const Member& member);

}  // namespace weir::storage::replication
