// Directed schedules: what random worlds miss or meet seldom. Each throws a Violation if a member
// does what it must not.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/replication/stage.h"

namespace weir::storage::replication {

struct Flaws {
  EngineFlaws engine;
  ProcessFlaws process;
};

inline StageOptions options_with(const Flaws& flaws) {
  StageOptions options;
  options.engine = flaws.engine;
  options.process.flaws = flaws.process;
  return options;
}

struct Schedule {
  const char* name;
  void (*run)(const Flaws&);
};

const std::vector<Schedule>& schedules();
// Throws std::out_of_range for an unknown name.
void run_schedule(const std::string& name, const Flaws& flaws = {});

// schedules_claims.cc
void visible_row_then_failover(const Flaws& flaws);
void claim_unknown_then_found(const Flaws& flaws);
void switchover_then_read(const Flaws& flaws);
void switchover_unknown_then_late(const Flaws& flaws);
void hundred_switchovers_wrong_clocks(const Flaws& flaws);
void operator_claim_then_read(const Flaws& flaws);
void operator_claim_on_a_rewound_log(const Flaws& flaws);
void mixed_failover_after(const Flaws& flaws);
void lease_longer_than_count(const Flaws& flaws);
void twin_of_a_node(const Flaws& flaws);
void appends_only_outage(const Flaws& flaws);
void slow_polls_still_fail_over(const Flaws& flaws);

// schedules_rewinds.cc
void rewind_to_same_log_index(const Flaws& flaws);
void power_cut_inside_a_record(const Flaws& flaws);
void primary_and_engine_die_standby_ahead(const Flaws& flaws);
void own_claim_lost_predecessor_appends(const Flaws& flaws);
void own_claim_lost_then_read(const Flaws& flaws);
void standby_reconnects_before_primary(const Flaws& flaws);
void old_leader_still_accepts(const Flaws& flaws);
void fence_with_log_state_ahead(const Flaws& flaws);
void heal_with_accepted_unacked(const Flaws& flaws);
void unknown_record_version(const Flaws& flaws);
void overlapping_turns_are_void(const Flaws& flaws);
void trim_under_reader(const Flaws& flaws);
void oldest_bookmark_is_kept(const Flaws& flaws);
void append_of_an_earlier_promotion(const Flaws& flaws);

}  // namespace weir::storage::replication
