// INFO replication. A member of a shard shows the others as a Redis shows its replicas or its
// master, so that what watches a Redis finds what it knows. An offset is a turn's number.
#include <string>

#include "server/core/metrics/metric_sections.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

std::string line_of(const MemberSeen& standby) {
  return "ip=" + standby.host + ",port=" + std::to_string(standby.port) +
         ",state=" + (standby.state == "joining" ? "wait_bgsave" : "online") +
         ",offset=" + std::to_string(standby.turn) +
         ",lag=" + std::to_string(standby.age_ms / kMsPerS);
}

void write_standbys(const std::vector<MemberSeen>& members, MetricWriter& out) {
  std::vector<std::string> lines;
  for (const MemberSeen& member : members) {
    if (member.is_standby && !member.is_self) lines.push_back(line_of(member));
  }
  out.absent("connected_slaves", std::to_string(lines.size()));
  for (size_t i = 0; i < lines.size(); ++i) out.absent("slave" + std::to_string(i), lines[i]);
}

// A standby knows its primary from the log, and until a record has told the address, from what the
// primary tells of itself.
void write_primary(const std::vector<MemberSeen>& members, const MemberView& view,
                   MetricWriter& out) {
  MemberSeen primary;
  for (const MemberSeen& member : members) {
    if (member.is_primary) primary = member;
  }
  const HostAndPort told = host_and_port(view.primary_address);
  const bool is_told = !told.host.empty();
  out.absent("master_host", is_told ? std::string(told.host) : primary.host);
  out.absent("master_port", is_told ? std::string(told.port) : std::to_string(primary.port));
  const bool is_up = primary.is_present && view.state == "following";
  out.absent("master_link_status", is_up ? "up" : "down");
  out.absent("master_last_io_seconds_ago",
             primary.is_present ? std::to_string(primary.age_ms / kMsPerS) : std::string("-1"));
  out.absent("master_sync_in_progress", view.state == "joining" ? "1" : "0");
  out.absent("slave_read_repl_offset", std::to_string(view.turn));
  out.absent("slave_repl_offset", std::to_string(view.turn));
  out.absent("slave_priority", "100");
  out.absent("slave_read_only", "1");
  out.absent("replica_announced", "1");
  out.absent("connected_slaves", "0");
}

}  // namespace

void write_replication_section(Server& server, MetricWriter& out) {
  const Membership* shard = server.shard_role().membership();
  const bool serves = shard == nullptr || shard->serves();
  out.absent("role", serves ? "master" : "slave");
  if (shard == nullptr) {
    out.absent({"connected_slaves"});
  } else {
    shard->write_metrics(out);
    const std::vector<MemberSeen> members = shard->members();
    serves ? write_standbys(members, out) : write_primary(members, shard->view(), out);
  }
  out.absent("master_failover_state", "no-failover");
  out.absent("master_replid", server.report().run_id);
  out.absent("master_replid2", std::string(40, '0'));
  out.absent("master_repl_offset", shard == nullptr ? "0" : std::to_string(shard->view().turn));
  out.absent("second_repl_offset", "-1");
  out.absent({"repl_backlog_active", "repl_backlog_size", "repl_backlog_first_byte_offset",
              "repl_backlog_histlen"});
}

}  // namespace weir::server
