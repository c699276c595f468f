// The rows of failover's options: the shared log, and what an owner does while it is slow or away.
#pragma once

#include "server/config/option_kinds.h"

namespace weir::server {

inline constexpr Option kFailoverOptions[] = {
    {.name = "log",
     .kind = Text{&Config::log, accept_shared_log},
     .changeable = kAtStart,
     .help =
         "Shared log of the shard that this server is a member of: postgres://USER@HOST/DATABASE, "
         "nats://HOST, tls://HOST, or file:PATH; empty: it is of none."},
    {.name = "log-password-file",
     .kind = Text{&Config::log_password_file, accept_path},
     .changeable = kAtStart,
     .help = "File whose first line is the password for the log's database; empty for none."},
    {.name = "log-allow-weak-engine",
     .kind = Flag{&Config::log_allow_weak_engine},
     .changeable = kAtStart,
     .help = "Takes a server of the log, or a stream of it, that may lose what it acknowledges."},
    {.name = "log-timeout-ms",
     .kind = Number{&Config::log_timeout_ms, 100, 60000},
     .changeable = kAtStart,
     .help = "How long the log's database may take before it is asked anew, in milliseconds."},
    {.name = "shard",
     .kind = Text{&Config::shard, accept_shard},
     .changeable = kAtStart,
     .help = "Name of that shard."},
    {.name = "failover-after-ms",
     .kind = Number{&Config::failover_after_ms, 500, 60000},
     .changeable = kAtStart,
     .help = "How long the shared log is silent before a standby takes over, in milliseconds."},
    {.name = "read-lease-ms",
     .kind = Number{&Config::read_lease_ms, -1, 45000},
     .changeable = kAtStart,
     .help =
         "How long an owner answers reads after the log has last heard of it; -1: three quarters "
         "of failover-after-ms."},
    {.name = "append-interval-ms",
     .kind = Number{&Config::append_interval_ms, 0, 10000},
     .changeable = kAtStart,
     .help = "The least time between two records of turns in the shared log; 0: none."},
    {.name = "log-retention-bytes",
     .kind = bytes(&Config::log_retention_bytes, 64 << 10),
     .changeable = kAtStart,
     .help = "How much of the shared log always stays, for members that come back."},
    {.name = "log-bytes-max",
     .kind = bytes(&Config::log_bytes_max, 64 << 10),
     .changeable = kAtStart,
     .help = "Beyond this the shared log is not kept for a member that is away: it copies another "
             "member's data when it comes back."},
    {.name = "member-user",
     .kind = Text{&Config::member_user},
     .changeable = kAtStart,
     .help = "User that a member of the shard is at another member; empty: default."},
    {.name = "member-password",
     .kind = Text{&Config::member_password},
     .changeable = kAtStart,
     .help = "Password of that user; empty: none is told."},
    {.name = "commit-wait-ms",
     .kind = Number{&Config::commit_wait_ms, -1, 60000},
     .changeable = kAtStart,
     .help =
         "How long the reply of a command that takes permits waits until the shared log has its "
         "turn, in milliseconds; then it leaves without; -1: it waits as all replies do."},
    {.name = "uncommitted-ms-max",
     .kind = Number{&Config::uncommitted_ms_max, 0, 3600000},
     .changeable = kAtStart,
     .help = "For how long such replies leave while the log does not answer, in milliseconds; 0: "
             "none leaves."},
    {.name = "uncommitted-permits-max",
     .kind = Number{&Config::uncommitted_permits_max, 0, kInt64Max},
     .changeable = kAtStart,
     .help = "Permits in replies that have left and that the log does not have; 0: no bound."},
    {.name = "uncommitted-bytes-max",
     .kind = bytes(&Config::uncommitted_bytes_max, kMb),
     .changeable = kAtStart,
     .help = "Turns that wait for the log; beyond it commands that write are refused."},
    {.name = "uncommitted-commands",
     .kind = Text{&Config::uncommitted_commands, accept_uncommitted_commands},
     .changeable = kAtStart,
     .help = "Other commands whose replies do not wait longer: incr, for INCR, INCRBY, DECR and "
             "DECRBY; empty: none."},
};

}  // namespace weir::server
