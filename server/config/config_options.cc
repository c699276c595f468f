#include "server/config/config_options.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/time_units.h"
#include "server/config/config_checks.h"

namespace weir::server {
namespace {

constexpr int64_t kInt32Max = INT32_MAX;
constexpr int64_t kInt64Max = INT64_MAX;
constexpr int64_t kKb = 1 << 10, kMb = 1 << 20;
constexpr auto kAtStart = Changeable::kAtStart;

// Each list has the order of its enumeration in config.h.
constexpr std::array<std::string_view, 3> kDurabilities = {"always", "everysec", "no"};
constexpr std::array<std::string_view, 2> kStorageForms = {"rocksdb", "memory"};
constexpr std::array<std::string_view, 2> kFailurePolicies = {"deny", "memory"};
constexpr std::array<std::string_view, 3> kLimitings = {"on", "shadow", "off"};
constexpr std::array<std::string_view, 3> kDebugAccesses = {"no", "yes", "local"};
constexpr std::array<std::string_view, 3> kSupervisions = {"no", "systemd", "auto"};
constexpr std::array<std::string_view, 2> kPubsubDefaults = {"allchannels", "resetchannels"};
constexpr std::array<std::string_view, 3> kTlsAuthClients = {"no", "yes", "optional"};
constexpr std::array<std::string_view, 2> kTlsUsers = {"off", "CN"};
constexpr std::array<std::string_view, 8> kLogLevels = {"trace", "debug",   "verbose", "notice",
                                                        "info",  "warning", "error",   "nothing"};

template <auto field>
constexpr Choice choice(std::span<const std::string_view> names) {
  return {.names = names,
          .get = [](const Config& config) { return static_cast<size_t>(config.*field); },
          .set =
              [](Config* config, size_t index) {
                auto& value = config->*field;
                value = static_cast<std::remove_reference_t<decltype(value)>>(index);
              }};
}

constexpr Number bytes(int64_t Config::*field, int64_t min, int64_t max = kInt64Max) {
  return {field, min, max, Unit::kBytes};
}

constexpr Option kOptions[] = {
    // Network.
    {.name = "bind",
     .kind = Addresses{&Config::bind},
     .changeable = kAtStart,
     .help = "Addresses to listen on; '-' in front skips one this machine lacks, * is all."},
    {.name = "port",
     .kind = Number{&Config::port, 0, 65535},
     .changeable = kAtStart,
     .help = "TCP port; 0 listens on no TCP address."},
    {.name = "unixsocket",
     .kind = Text{&Config::unixsocket, accept_path},
     .changeable = kAtStart,
     .help = "Path of a unix socket to listen on as well; empty for none."},
    {.name = "unixsocketperm",
     .kind = Number{&Config::unixsocketperm, 0, 0777, Unit::kOctal},
     .changeable = kAtStart,
     .help = "Mode bits of the unix socket, octal."},
    {.name = "protected-mode",
     .kind = Flag{&Config::protected_mode},
     .help = "Without a password, serve only clients of this machine."},
    {.name = "requirepass",
     .kind = Text{&Config::requirepass},
     .help = "Password that AUTH and HELLO ask for; empty for none."},
    {.name = "aclfile",
     .kind = Text{&Config::aclfile, accept_path},
     .changeable = kAtStart,
     .help = "File of users, read at the start and by ACL LOAD; empty for none."},
    {.name = "policies-file",
     .kind = Text{&Config::policies_file, accept_path},
     .changeable = kAtStart,
     .help = "File of named policies, read at the start, on SIGHUP and by RL.POLICY RELOAD; empty "
             "for none."},
    {.name = "acl-pubsub-default",
     .kind = choice<&Config::acl_pubsub_default>(kPubsubDefaults),
     .help = "Channels a new user may use: all, or none until a rule says so."},
    {.name = "acllog-max-len",
     .kind = Number{&Config::acllog_max_len, 0, 1000000},
     .help = "Denials that ACL LOG keeps."},
    {.name = "metrics-port",
     .kind = Number{&Config::metrics_port, 0, 65535},
     .changeable = kAtStart,
     .help = "Port of HTTP for the page, /metrics, /healthz and /readyz; 0 for none."},
    {.name = "metrics-bind",
     .kind = Addresses{&Config::metrics_bind},
     .changeable = kAtStart,
     .help = "Addresses of that port; '-' in front skips one this machine lacks, * is all."},
    {.name = "metrics-tls-port",
     .kind = Number{&Config::metrics_tls_port, 0, 65535},
     .changeable = kAtStart,
     .help = "Port of HTTPS for the same, with the certificates of tls-port; 0 for none."},
    {.name = "metrics-hosts",
     .kind = Addresses{&Config::metrics_hosts},
     .help = "Names that browsers may call this machine by, beside addresses and localhost."},
    {.name = "metrics-auth",
     .kind = Flag{&Config::metrics_auth},
     .help = "Whether /metrics asks for a user who may run INFO."},
    {.name = "http-port",
     .kind = Number{&Config::http_port, 0, 65535},
     .changeable = kAtStart,
     .help = "Port of HTTP for POST /v1/take and the gate of proxies; 0 for none."},
    {.name = "http-bind",
     .kind = Addresses{&Config::http_bind},
     .changeable = kAtStart,
     .help = "Addresses of http-port and http-tls-port, as with bind."},
    {.name = "http-tls-port",
     .kind = Number{&Config::http_tls_port, 0, 65535},
     .changeable = kAtStart,
     .help = "Port of HTTPS, with the certificates of tls-port; 0 for none."},
    {.name = "http-maxclients",
     .kind = Number{&Config::http_maxclients, 1, UINT32_MAX},
     .help = "Connections of HTTP at once, as part of maxclients."},
    {.name = "tcp-backlog",
     .kind = Number{&Config::tcp_backlog, 1, kInt32Max},
     .changeable = kAtStart,
     .help = "Connections the system may queue before they are accepted."},
    {.name = "tcp-keepalive",
     .kind = Number{&Config::tcp_keepalive, 0, kInt32Max},
     .help = "Seconds between probes of silent connections; 0 for none."},
    {.name = "timeout",
     .kind = Number{&Config::timeout, 0, kInt32Max},
     .help = "Seconds after which an idle client is disconnected; 0 for never."},
    {.name = "authentication-timeout",
     .kind = Number{&Config::authentication_timeout, 0, kInt32Max},
     .help = "Seconds that a client who has to log in may be without a request; 0 for ever."},

    // TLS.
    {.name = "tls-port",
     .kind = Number{&Config::tls_port, 0, 65535},
     .changeable = kAtStart,
     .help = "TCP port for connections over TLS; 0 for none."},
    {.name = "tls-cert-file",
     .kind = Text{&Config::tls_cert_file, accept_path},
     .help = "The certificate (PEM), and those that it was signed with."},
    {.name = "tls-key-file",
     .kind = Text{&Config::tls_key_file, accept_path},
     .help = "The certificate's private key (PEM)."},
    {.name = "tls-key-file-pass",
     .kind = Text{&Config::tls_key_file_pass},
     .help = "What decrypts tls-key-file; empty if it is not encrypted."},
    {.name = "tls-ca-cert-file",
     .kind = Text{&Config::tls_ca_cert_file, accept_path},
     .help = "Authorities (PEM) whose client certificates are accepted."},
    {.name = "tls-ca-cert-dir",
     .kind = Text{&Config::tls_ca_cert_dir, accept_path},
     .help = "A directory of such authorities, as openssl rehash makes it."},
    {.name = "tls-auth-clients",
     .kind = choice<&Config::tls_auth_clients>(kTlsAuthClients),
     .help = "Whether clients over TLS must show a certificate, may, or are not asked."},
    {.name = "tls-auth-clients-user",
     .kind = choice<&Config::tls_auth_clients_user>(kTlsUsers),
     .help = "Log a client in as the user whom its certificate's common name names."},
    {.name = "tls-protocols",
     .kind = Text{&Config::tls_protocols, accept_tls_protocols},
     .help = "Versions that are spoken; empty for TLSv1.2 and TLSv1.3."},
    {.name = "tls-ciphers",
     .kind = Text{&Config::tls_ciphers},
     .help = "Ciphers of TLSv1.2 and older, as openssl ciphers has them; empty for its own."},
    {.name = "tls-ciphersuites",
     .kind = Text{&Config::tls_ciphersuites},
     .help = "Cipher suites of TLSv1.3; empty for those of OpenSSL."},
    {.name = "tls-prefer-server-ciphers",
     .kind = Flag{&Config::tls_prefer_server_ciphers},
     .help = "Let the server's order of ciphers decide, not the client's."},
    {.name = "tls-session-caching",
     .kind = Flag{&Config::tls_session_caching},
     .help = "Let clients resume sessions, which spares both the long handshake."},
    {.name = "tls-session-cache-size",
     .kind = Number{&Config::tls_session_cache_size, 0, kInt32Max},
     .help = "Sessions kept to be resumed; 0 for any number."},
    {.name = "tls-session-cache-timeout",
     .kind = Number{&Config::tls_session_cache_timeout, 0, kInt32Max},
     .help = "Seconds for which a session can be resumed."},

    // Bounds on clients.
    {.name = "maxclients",
     .kind = Number{&Config::maxclients, 1, UINT32_MAX},
     .help = "Clients connected at once."},
    {.name = "proto-max-bulk-len",
     .kind = bytes(&Config::proto_max_bulk_len, kMb),
     .help = "Longest argument of a command."},
    {.name = "proto-inline-max-bytes",
     .kind = bytes(&Config::proto_inline_max_bytes, kKb, 1024 * kMb),
     .help = "Longest inline command or protocol header line."},
    {.name = "multibulk-count-max",
     .kind = Number{&Config::multibulk_count_max, 1024, kInt32Max},
     .help = "Most arguments of one command."},
    {.name = "client-query-buffer-limit",
     .kind = bytes(&Config::client_query_buffer_limit, kMb),
     .help = "Bytes one client may have sent that are not yet a whole command."},
    {.name = "client-output-buffer-limit",
     .kind = BufferLimits{&Config::client_output_buffer_limit},
     .help = "Replies that may wait for a client that does not read, by class."},
    {.name = "maxmemory-clients",
     .kind = Number{&Config::maxmemory_clients, -100, kInt64Max, Unit::kBytesOrPercent},
     .help = "Bytes that all clients' requests and replies may take, or a share of maxmemory."},
    {.name = "turn-commands-max",
     .kind = Number{&Config::turn_commands_max, 1, 1000000},
     .help = "Commands of one client run before the others have their turn."},
    {.name = "turn-read-bytes-max",
     .kind = bytes(&Config::turn_read_bytes_max, 4 * kKb, 1024 * kMb),
     .help = "Bytes read from one client before the others have their turn."},

    // Data and durability.
    {.name = "storage",
     .kind = choice<&Config::storage>(kStorageForms),
     .changeable = kAtStart,
     .help = "Where state lives: on disk, or in memory only."},
    {.name = "dir",
     .kind = Text{&Config::dir, accept_path_not_empty},
     .changeable = kAtStart,
     .help = "The data directory; made if missing."},
    {.name = "databases",
     .kind = Number{&Config::databases, 1, 65536},
     .changeable = kAtStart,
     .help = "Databases that SELECT can choose."},
    {.name = "durability",
     .alias = "appendfsync",
     .kind = choice<&Config::durability>(kDurabilities),
     .help = "When the log is forced to disk: before each reply, every second, or by the system."},
    {.name = "storage-failure-policy",
     .kind = choice<&Config::storage_failure_policy>(kFailurePolicies),
     .help = "When the disk fails: deny writes, or go on limiting from memory."},
    {.name = "disk-reserve",
     .kind = bytes(&Config::disk_reserve, 0),
     .changeable = kAtStart,
     .help = "Room kept in the data directory for a start on a full disk; 0 for none."},
    {.name = "checkpoint-keep",
     .kind = Number{&Config::checkpoint_keep, 0, 100000},
     .help = "Checkpoints that stay when BGSAVE has made another; 0 for all."},

    // Cluster.
    {.name = "cluster-enabled",
     .kind = Flag{&Config::cluster_enabled},
     .changeable = kAtStart,
     .help = "Speak the Redis Cluster protocol: one keyspace of 16384 hash slots."},
    {.name = "cluster-topology",
     .kind = Text{&Config::cluster_topology, accept_path},
     .changeable = kAtStart,
     .help = "File that says which server has which slots, read at the start and on SIGHUP; empty: "
             "this one has all."},
    {.name = "cluster-announce-ip",
     .kind = Text{&Config::cluster_announce_ip, accept_host},
     .changeable = kAtStart,
     .help = "Address that clients of the cluster are told; empty: the one they have reached."},
    {.name = "cluster-announce-port",
     .kind = Number{&Config::cluster_announce_port, 0, 65535},
     .changeable = kAtStart,
     .help = "Port that clients of the cluster are told; 0: port."},
    {.name = "cluster-announce-hostname",
     .kind = Text{&Config::cluster_announce_hostname, accept_host},
     .changeable = kAtStart,
     .help = "Name of this machine that clients of the cluster are told beside its address."},

    // Memory and write-back.
    {.name = "maxmemory",
     .kind = bytes(&Config::maxmemory, 0),
     .help = "Memory for live objects; 0 for half of the machine's."},
    {.name = "write-back-interval-ms",
     .kind = Number{&Config::write_back_interval_ms, 10, 3600000},
     .help = "How far the state on disk may trail the log, in milliseconds."},
    {.name = "write-back-entries-max",
     .kind = Number{&Config::write_back_entries_max, 1, 1000000000},
     .help = "Log entries a restart may have to replay."},
    {.name = "wal-bytes-max",
     .kind = bytes(&Config::wal_bytes_max, kMb),
     .changeable = kAtStart,
     .help = "Size of the live log files a restart may have to read."},
    {.name = "expired-compaction-interval-s",
     .kind = Number{&Config::expired_compaction_interval_s, 1, 365 * kSPerDay},
     .changeable = kAtStart,
     .help = "How often quiet files are revisited to drop what has expired, in seconds."},
    {.name = "block-cache-size",
     .kind = bytes(&Config::block_cache_size, 0),
     .changeable = kAtStart,
     .help = "Cache of blocks read from disk."},
    {.name = "direct-reads",
     .kind = Flag{&Config::direct_reads},
     .changeable = kAtStart,
     .help = "Read state files past the system's page cache."},

    // Scripts and events.
    {.name = "busy-reply-threshold",
     .alias = "lua-time-limit",
     .kind = Number{&Config::busy_reply_threshold, 0, kInt32Max},
     .help = "Milliseconds a script may run before others are told BUSY."},
    {.name = "script-cache-bytes-max",
     .kind = bytes(&Config::script_cache_bytes_max, 0),
     .help = "Scripts of EVAL that are remembered; those of SCRIPT LOAD always are."},
    {.name = "script-cache-entries-max",
     .kind = Number{&Config::script_cache_entries_max, 1, 1000000},
     .help = "The same, as a number of scripts."},
    {.name = "script-memory-max",
     .kind = bytes(&Config::script_memory_max, kMb),
     .help = "Memory that one run of a script may take, and the size of its reply."},
    {.name = "script-time-limit-ms",
     .kind = Number{&Config::script_time_limit_ms, 0, kInt32Max},
     .help = "Milliseconds after which a script is stopped and undone; 0 for never."},
    {.name = "notify-keyspace-events",
     .kind = Text{&Config::notify_keyspace_events, accept_event_classes},
     .help = "Classes of key events that are published; empty for none."},

    // Logging and process.
    {.name = "loglevel",
     .kind = choice<&Config::loglevel>(kLogLevels),
     .help = "The least important lines that are logged."},
    {.name = "logfile",
     .kind = Text{&Config::logfile, accept_path},
     .changeable = kAtStart,
     .help = "File to log to, reopened on SIGHUP; empty for stderr."},
    {.name = "pidfile",
     .kind = Text{&Config::pidfile, accept_path},
     .changeable = kAtStart,
     .help = "File that holds the process id while running; empty for none."},
    {.name = "supervised",
     .kind = choice<&Config::supervised>(kSupervisions),
     .changeable = kAtStart,
     .help = "Tell systemd when ready; auto does so when it asks."},
    {.name = "hz", .kind = Number{&Config::hz, 1, 500}, .help = "Background chores per second."},
    {.name = "slowlog-log-slower-than",
     .kind = Number{&Config::slowlog_log_slower_than, -1, kInt64Max},
     .help = "Microseconds from which a command enters the slow log; -1 for none."},
    {.name = "slowlog-max-len",
     .kind = Number{&Config::slowlog_max_len, 0, 1000000},
     .help = "Entries the slow log keeps."},
    {.name = "latency-monitor-threshold",
     .kind = Number{&Config::latency_monitor_threshold, 0, kInt64Max},
     .help = "Milliseconds from which events are sampled for LATENCY; 0 for none."},
    {.name = "latency-tracking",
     .kind = Flag{&Config::latency_tracking},
     .help = "Count how long commands take, for INFO latencystats and LATENCY HISTOGRAM."},
    {.name = "latency-tracking-info-percentiles",
     .kind = Percentiles{&Config::latency_tracking_info_percentiles},
     .help = "Percentiles that INFO latencystats shows."},
    {.name = "tracking-table-max-keys",
     .kind = Number{&Config::tracking_table_max_keys, 0, kInt64Max},
     .help = "Keys remembered for clients that cache (CLIENT TRACKING); 0 for any number."},
    {.name = "policies-max",
     .kind = Number{&Config::policies_max, 0, 1000000},
     .help = "Named policies (RL.POLICY) that are kept; 16 MB together in any case."},
    {.name = "top-keys",
     .kind = Number{&Config::top_keys, 0, 10000},
     .help = "Keys that RL.TOP watches: denied, taken from, denied but for SHADOW; 0 for none."},
    {.name = "limiting",
     .kind = choice<&Config::limiting>(kLimitings),
     .help = "Whether limiters deny; else all are decided in shadow, or not at all."},
    {.name = "enable-debug-command",
     .kind = choice<&Config::enable_debug_command>(kDebugAccesses),
     .changeable = kAtStart,
     .help = "Who may use DEBUG: nobody, everybody, or clients of this machine."},

    // These are options that clients of Redis ask for; each has one value.
    {.name = "appendonly",
     .kind = Fixed{"yes", "every write is logged before it is answered, see durability"},
     .help = "The log is always on."},
    {.name = "save",
     .kind = Fixed{"", "there are no snapshots to schedule, see durability and BGSAVE"},
     .help = "No snapshots by schedule."},
    {.name = "dbfilename",
     .kind = Fixed{"dump.rdb", "there is no such file: checkpoints are directories, see BGSAVE"},
     .help = "There is no such file; checkpoints are directories."},
    {.name = "daemonize",
     .kind = Fixed{"no", "a service manager keeps weir in the background, see supervised"},
     .help = "weir stays in the foreground."},
    {.name = "replica-read-only",
     .alias = "slave-read-only",
     .kind = Fixed{"yes", "there are no replicas"},
     .help = "There are no replicas."},
};

}  // namespace

std::span<const Option> config_options() { return kOptions; }

const Option* find_option(std::string_view name) {
  for (const Option& option : kOptions) {
    if (equals_ignoring_case(name, option.name)) return &option;
    if (!option.alias.empty() && equals_ignoring_case(name, option.alias)) return &option;
  }
  return nullptr;
}

bool is_secret_option(std::string_view name) {
  constexpr std::string_view kSecret[] = {"requirepass", "masterauth", "masteruser",
                                          "tls-key-file-pass", "tls-client-key-file-pass"};
  return std::any_of(std::begin(kSecret), std::end(kSecret), [name](std::string_view secret) {
    return equals_ignoring_case(name, secret);
  });
}

}  // namespace weir::server
