// What a member of a shard is and knows, and what it becomes: elected, promoted, demoted, or
// stopped. Member makes the events of it, and Absorber what comes from the log; both change it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "storage/replication/catch_up.h"
#include "storage/replication/claims.h"
#include "storage/replication/failure_detector.h"
#include "storage/replication/held_turns.h"
#include "storage/replication/lease.h"
#include "storage/replication/log_state.h"
#include "storage/replication/member_actions.h"
#include "storage/replication/pace.h"
#include "storage/replication/record_maker.h"
#include "storage/replication/role.h"
#include "storage/replication/timeline.h"

namespace weir::storage::replication {

struct MemberOptions {
  RecordOptions records;
  Author self;
  Times times;                       // what an own CLAIM sets
  int64_t append_interval_ns = 0;    // the least time between two appends of turns
  int64_t early_release_ns_max = 0;  // how long early replies go on without the log
};

struct MemberMetrics {
  uint64_t rewinds = 0;
  uint64_t claims = 0;       // sent
  uint64_t cold_claims = 0;  // ... at the wall clock's instant, as no record was read live
  uint64_t promotions = 0;   // of this member
};

// A member that is elected is promoted when it serves. The last three: it stays promoted after
// a rewind, and reads, claims and appends again until it serves again.
enum class PrimaryState { kNone, kServing, kReading, kClaiming, kAppending };

// Why a member appends a CLAIM beside the rules: a person asks a standby for it, or a primary's
// times have changed.
enum class ClaimDue { kNo, kByOperator, kForTimes };

struct MemberState {
  // What the log is asked.
  struct InFlight {
    Kind kind = Kind::kHeartbeat;
    bool has_condition = true;
    std::string bytes;
    Head head;  // where it will stand if the condition holds; of a claim without one, its crc
    int64_t sent_boot_ns = 0;
  };
  struct Reading {};
  struct PlannedSwitchover {
    std::string to;
    bool is_sent = false;  // perhaps the log has it
  };

  // `newest_instant_ns` is that of the local log.
  MemberState(const MemberOptions& given, const LocalTurns* local_turns, MemberActions* actions,
              int64_t newest_instant_ns);
  MemberState(const MemberState&) = delete;  // an Absorber has it

  bool is_primary() const { return role == Role::kPrimary || role == Role::kSwitchingOver; }
  bool may_seal() const {
    return primary_state == PrimaryState::kServing && role == Role::kPrimary;
  }
  bool is_asking() const { return !std::holds_alternative<std::monostate>(asked); }

  // A CLAIM of this process is the current epoch. Nothing leaves for `wait_ns` after it is
  // acknowledged.
  void elect(int64_t wait_ns, Instants now);
  // An append was acknowledged that was sent then, and with it all that the log state has accepted.
  void acknowledge(int64_t sent_boot_ns, Instants now);
  // The member is promoted, or serves again after a rewind, when everything that this member held
  // beyond the log is committed and no other lease can run.
  void serve_if_ready(Instants now);
  void demote(Reason reason);
  // The same for one that is elected and not promoted yet.
  void step_down();
  void stop(Reason reason);
  // Where only HEARTBEATs come, a restart would read a long way from the newest batch's bookmark.
  void replace_bookmark_if_due(Instants now);

  const MemberOptions options;
  const LocalTurns* const local;
  MemberActions* const port;
  Times times;  // for the next own CLAIM

  Role role = Role::kJoining;
  LogState log_state;
  HeldTurns held;
  Timeline timeline;
  FailureDetector failure_detector;
  Lease lease;
  Claims claims;
  Pace pace;

  std::variant<std::monostate, InFlight, Reading> asked;  // of the log, and not answered
  CatchUp catch_up;
  std::optional<Head> refused_at;       // the end of the log as known when an append was refused
  std::optional<InFlight> claim_ahead;  // a claim without condition that is acknowledged, not read
  ClaimDue claim_due = ClaimDue::kNo;

  // What a primary has.
  PrimaryState primary_state = PrimaryState::kNone;
  uint64_t append_again_until = 0;  // the turn up to which an elected member repeats its turns
  uint64_t committed_turn = 0;
  uint64_t let_out_turn = 0;
  bool unsettled = false;  // the fate of earlier appends is known after the next acknowledgement
  PlannedSwitchover switchover;  // of Role::kSwitchingOver

  MemberMetrics metrics;
};

}  // namespace weir::storage::replication
