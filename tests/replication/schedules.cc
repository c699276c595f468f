#include "tests/replication/schedules.h"

#include <algorithm>
#include <stdexcept>

namespace weir::storage::replication {

const std::vector<Schedule>& schedules() {
  static const std::vector<Schedule> all = {
      {"visible_row_then_failover", visible_row_then_failover},
      {"claim_unknown_then_found", claim_unknown_then_found},
      {"switchover_then_read", switchover_then_read},
      {"switchover_unknown_then_late", switchover_unknown_then_late},
      {"hundred_switchovers_wrong_clocks", hundred_switchovers_wrong_clocks},
      {"operator_claim_then_read", operator_claim_then_read},
      {"operator_claim_on_a_rewound_log", operator_claim_on_a_rewound_log},
      {"mixed_failover_after", mixed_failover_after},
      {"lease_longer_than_count", lease_longer_than_count},
      {"twin_of_a_node", twin_of_a_node},
      {"appends_only_outage", appends_only_outage},
      {"slow_polls_still_fail_over", slow_polls_still_fail_over},
      {"rewind_to_same_log_index", rewind_to_same_log_index},
      {"power_cut_inside_a_record", power_cut_inside_a_record},
      {"primary_and_engine_die_standby_ahead", primary_and_engine_die_standby_ahead},
      {"own_claim_lost_predecessor_appends", own_claim_lost_predecessor_appends},
      {"own_claim_lost_then_read", own_claim_lost_then_read},
      {"standby_reconnects_before_primary", standby_reconnects_before_primary},
      {"old_leader_still_accepts", old_leader_still_accepts},
      {"fence_with_log_state_ahead", fence_with_log_state_ahead},
      {"heal_with_accepted_unacked", heal_with_accepted_unacked},
      {"unknown_record_version", unknown_record_version},
      {"overlapping_turns_are_void", overlapping_turns_are_void},
      {"trim_under_reader", trim_under_reader},
      {"oldest_bookmark_is_kept", oldest_bookmark_is_kept},
      {"append_of_an_earlier_promotion", append_of_an_earlier_promotion},
  };
  return all;
}

void run_schedule(const std::string& name, const Flaws& flaws) {
  const auto found = std::find_if(schedules().begin(), schedules().end(),
                                  [&](const Schedule& schedule) { return schedule.name == name; });
  if (found == schedules().end()) throw std::out_of_range("no schedule " + name);
  found->run(flaws);
}

}  // namespace weir::storage::replication
