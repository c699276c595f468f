#include "server/failover/member/member_metrics.h"

#include <algorithm>

#include "server/failover/peers/member_words.h"
#include "server/report/metrics.h"

namespace weir::server {

void write_member_metrics(const MeasuredMember& shown, MetricWriter& out) {
  const MemberView& seen = shown.view;
  const storage::replication::MemberMetrics& metrics = shown.metrics;
  const storage::replication::LogFacts& log = shown.log;
  out.text({"shard", "The shard that this server is a member of."}, seen.shard);
  out.text({"shard_node", "This member's name."}, seen.node);
  out.text({"shard_state", "What this member does."}, seen.state);
  out.gauge({"shard_serves", "Whether this member is the primary and serves data."},
            seen.serves ? 1 : 0);
  out.gauge({"shard_stopped",
             "Whether this member has stopped, for what shard_state and the log say, "
             "and follows no more."},
            seen.stopped_because.empty() ? 0 : 1);
  out.text({"shard_primary", "Where the primary is, as the shared log says."},
           seen.primary_address);
  out.gauge({"shard_epoch", "Log index of the CLAIM that made the primary."}, seen.epoch);
  out.gauge({"shard_log_index", "Log index of the newest record that this member has read."},
            seen.log_index);
  out.gauge({"shard_turn", "The newest turn that this member has."}, seen.turn);
  out.gauge({"shard_committed_turn", "The newest turn of this member that is committed."},
            seen.committed);
  out.text({"shard_log_engine", "What keeps the shared log."}, log.engine + " " + log.version);
  out.gauge({"shard_log_copies", "How many servers hold what the shared log has acknowledged."},
            log.copies);
  out.text({"shard_log_synced", "Whether it is on their disks then."}, words_of(log.fsync));
  out.text({"shard_log_weakness", "Why the shared log may lose it; empty: no reason is known."},
           log.weakness);
  out.counter({"shard_promotions", "How often this member was promoted to primary."},
              metrics.promotions);
  out.counter({"shard_claims", "How often it has claimed to be."}, metrics.claims);
  out.counter({"shard_log_rewinds", "How often it has found that the shared log lost its end."},
              metrics.rewinds);
  uint64_t present = 0;
  uint64_t lag_turns = 0;
  for (const MemberSeen& member : shown.members) {
    present += member.is_present ? 1 : 0;
    if (member.is_standby) lag_turns = std::max(lag_turns, member.lag_turns);
  }
  out.gauge({"members_seen",
             "Members of the shard that were heard of within ten seconds, this one "
             "included."},
            present);
  out.gauge({"standby_lag_turns",
             "Turns that the standby which is the furthest back lacks, as it "
             "last told."},
            lag_turns);
  out.gauge({"shard_log_trimmed",
             "Log index up to which this primary has let records of the shared "
             "log go."},
            shown.trimmed_up_to);
}

void write_settings_metrics(const std::vector<KnownShard>& shards, std::string_view own,
                            MetricWriter& out) {
  constexpr MetricTable kSettingsMetrics{"shard", "shard_settings_"};
  for (const KnownShard& shard : shards) {
    out.row(kSettingsMetrics, shard.name, [&] {
      out.gauge({"settings_behind",
                 "Whether the shard has other policies, libraries and scripts than this one, as "
                 "its members last told."},
                shard.is_own || shard.settings_digest == own ? 0 : 1);
    });
  }
}

}  // namespace weir::server
