#include "server/failover/member/primary_replies.h"

#include "server/command/command.h"
#include "server/report/metrics.h"

namespace weir::server {

uint64_t PrimaryReplies::demote() {
  is_promoted_ = false;
  turns_.clear();
  const uint64_t lost = early_.lose();
  lost_ += lost;
  return lost;
}

void PrimaryReplies::settle() {
  if (!is_promoted_) return;
  early_.committed(member_->let_out_turn());
  turns_.committed(member_->let_out_turn());
}

Coverage PrimaryReplies::covers(const Told& told, int64_t steady_ns) const {
  if (!told.touched_data || !is_promoted_) return {.covered = true};
  if (told.turn > member_->let_out_turn()) return {};
  const int64_t boot_ns = clock_.boot_ns();
  const int64_t ended_ns = boot_ns - (steady_ns - told.ended_ns);
  return {.covered = member_->may_answer_reads(boot_ns) || member_->acknowledged_since(ended_ns)};
}

bool PrimaryReplies::let_out_early(const Told& told, uint64_t permits, int64_t steady_ns) {
  const int64_t boot_ns = clock_.boot_ns();
  if (!is_promoted_ || !may_leave_early(permits, boot_ns)) return false;
  early_.released(told.turn, permits, boot_ns - (steady_ns - told.ended_ns));
  return true;
}

bool PrimaryReplies::may_leave_early(uint64_t permits, int64_t boot_ns) const {
  return member_->may_release_early(boot_ns) && early_.allows(permits, turns_.bytes(), boot_ns);
}

bool PrimaryReplies::leaves_early(const Command& command) const {
  if (plan_.early_wait_ns == kNotDue) return false;
  return command.has(kTakes) || (command.has(kCounts) && plan_.counts_leave_early);
}

Result<void, std::string> PrimaryReplies::admit(const DataRequest& request) const {
  const bool is_full = request.writes && turns_.bytes() >= plan_.early.uncommitted_bytes_max;
  if (!is_full && !absence_.is_away()) return {};
  if (!is_full && request.leaves_early && may_leave_early(request.permits, clock_.boot_ns()))
    return {};
  const std::string error = plan_.speaks_cluster ? "CLUSTERDOWN" : "MASTERDOWN";
  return error + (is_full ? " the log has not taken uncommitted-bytes-max of turns yet"
                          : " the log does not answer");
}

void PrimaryReplies::write_metrics(MetricWriter& out) const {
  out.gauge({"uncommitted_turns", "Turns of the primary that the shared log has not acknowledged."},
            turns_.count());
  out.gauge({"uncommitted_bytes", "Their size."}, turns_.bytes());
  out.gauge({"early_permits", "Permits in replies that have left and are not committed."},
            early_.permits());
  out.counter(
      {"early_permits_lost", "Permits in replies that had left and were lost with a demotion."},
      lost_);
  out.gauge({"log_away_ms", "For how long the shared log has not acknowledged what was appended.",
             MetricUnit::kMilliseconds},
            static_cast<uint64_t>(absence_.for_ns(clock_.boot_ns()) / kNsPerMs));
}

}  // namespace weir::server
