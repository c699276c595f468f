// weir's configuration: plain values, one per option. config_access.h has what is done with them.
//
// An option is one field here (its initialiser is the default) and one row in
// server/config/config_options.cc. A Config opens no socket and touches no data; the code that uses
// a value reads the field.
//
// Invariants:
//  1. A field is named as its option, with underscores for dashes.
//  2. A Config that load_config or config_set filled holds only values inside their rows' ranges.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server/os/log_format.h"
#include "server/os/log_level.h"

namespace weir::server {

// In each enumeration the order is the order of the option's names in config_options.cc.
enum class DurabilityLevel { kAlways, kEverysec, kNo };
enum class StorageForm { kRocksdb, kMemory };
enum class FailurePolicy { kDeny, kMemory };
enum class Limiting { kOn, kShadow, kOff };
enum class DebugAccess { kNo, kYes, kLocal };  // kLocal: loopback and unix socket clients only
enum class Supervision { kNo, kSystemd, kAuto };
enum class PubsubDefault { kAllchannels, kResetchannels };
enum class TlsAuthClients { kNo, kYes, kOptional };
enum class TlsAuthClientsUser { kOff, kCommonName };

constexpr std::string_view limiting_name(Limiting limiting) {
  if (limiting == Limiting::kOn) return "on";
  return limiting == Limiting::kShadow ? "shadow" : "off";
}

// Whether a form of storage keeps files: then there is a log, checkpoints can be made, and part of
// the process' descriptors is for it.
constexpr bool keeps_files(StorageForm form) {
  switch (form) {
    case StorageForm::kRocksdb:
      return true;
    case StorageForm::kMemory:
      return false;
  }
  return false;
}

// Bounds on the output of a client that does not read. 0 means no limit.
struct OutputBufferLimit {
  int64_t hard_bytes = 0;  // past it: disconnected at once
  int64_t soft_bytes = 0;  // past it for longer than soft_seconds: disconnected
  int64_t soft_seconds = 0;
  bool operator==(const OutputBufferLimit&) const = default;
};

struct OutputBufferLimits {
  OutputBufferLimit normal = {256 << 20, 64 << 20, 60};
  OutputBufferLimit replica = {256 << 20, 64 << 20, 60};
  OutputBufferLimit pubsub = {32 << 20, 8 << 20, 60};
  bool operator==(const OutputBufferLimits&) const = default;
};

// Sizes are bytes, times are seconds, unless the name or the comment says otherwise.
struct Config {
  std::string config_file;  // absolute path of the file it came from, "" when none; not an option

  // A line "user name rule ..."; it is not an option.
  struct UserLine {
    std::string place;               // "weir.conf:12"
    std::vector<std::string> words;  // the name, then its rules
    bool operator==(const UserLine& other) const { return words == other.words; }
  };
  std::vector<UserLine> users;
  // Options of Redis that are accepted and mean nothing here (ignored_options.h), as they were set.
  std::map<std::string, std::string, std::less<>> ignored;

  // Network.
  std::vector<std::string> bind = {"127.0.0.1"};  // "-" in front: skipped if not on this machine
  int64_t port = 6379;                            // 0: no TCP
  std::string unixsocket;                         // "": none
  int64_t unixsocketperm = 0700;                  // mode bits
  bool protected_mode = true;
  std::string requirepass;    // "": none asked for
  std::string aclfile;        // "": none
  std::string policies_file;  // "": none
  PubsubDefault acl_pubsub_default = PubsubDefault::kResetchannels;
  int64_t acllog_max_len = 128;
  int64_t metrics_port = 0;  // of HTTP; 0: none
  std::vector<std::string> metrics_bind = {"127.0.0.1"};
  int64_t metrics_tls_port = 0;            // 0: none
  bool metrics_tls_auth_clients = true;    // as tls_auth_clients says; else nobody is asked
  std::vector<std::string> metrics_hosts;  // beside addresses and localhost
  bool metrics_auth = false;
  int64_t http_port = 0;  // 0: none
  std::vector<std::string> http_bind = {"127.0.0.1"};
  int64_t http_tls_port = 0;  // 0: none
  int64_t http_maxclients = 1000;
  int64_t grpc_port = 0;  // 0: none
  std::vector<std::string> grpc_bind = {"127.0.0.1"};
  int64_t grpc_tls_port = 0;  // 0: none
  int64_t grpc_maxclients = 1000;
  int64_t tcp_backlog = 511;
  int64_t tcp_keepalive = 300;          // 0: off
  int64_t timeout = 0;                  // 0: idle clients stay
  int64_t authentication_timeout = 10;  // 0: who does not log in stays

  // TLS. Empty: none, or what OpenSSL takes.
  int64_t tls_port = 0;  // 0: none
  std::string tls_cert_file;
  std::string tls_key_file;
  std::string tls_key_file_pass;
  std::string tls_ca_cert_file;
  std::string tls_ca_cert_dir;
  TlsAuthClients tls_auth_clients = TlsAuthClients::kYes;
  TlsAuthClientsUser tls_auth_clients_user = TlsAuthClientsUser::kOff;
  std::string tls_protocols;  // as config_checks.h has it: "TLSv1.2 TLSv1.3"
  std::string tls_ciphers;
  std::string tls_ciphersuites;
  bool tls_prefer_server_ciphers = false;
  bool tls_session_caching = true;
  int64_t tls_session_cache_size = 20480;  // 0: any number
  int64_t tls_session_cache_timeout = 300;

  // Bounds on clients.
  int64_t maxclients = 10000;
  int64_t proto_max_bulk_len = 512 << 20;
  int64_t proto_inline_max_bytes = 64 << 10;
  int64_t multibulk_count_max = 1 << 20;
  int64_t key_bytes_max = 64 << 10;
  int64_t client_query_buffer_limit = 1 << 30;
  OutputBufferLimits client_output_buffer_limit;
  int64_t maxmemory_clients = -50;  // below 0: percent of maxmemory; 0: no bound
  int64_t turn_commands_max = 1024;
  int64_t turn_read_bytes_max = 256 << 10;

  // Data and durability.
  StorageForm storage = StorageForm::kRocksdb;
  std::string dir = "./weir-data";
  bool dir_make_parents = false;
  int64_t databases = 16;
  int64_t disk_reserve = 64 << 20;  // 0: none
  int64_t checkpoint_keep = 2;      // 0: all of them
  DurabilityLevel durability = DurabilityLevel::kEverysec;
  FailurePolicy storage_failure_policy = FailurePolicy::kDeny;

  // Cluster.
  bool cluster_enabled = false;
  std::string cluster_topology;           // "": this server has all slots
  std::string cluster_announce_ip;        // "": the address that the client has reached
  int64_t cluster_announce_port = 0;      // 0: port
  std::string cluster_announce_hostname;  // "": none
  int64_t cluster_announce_tls_port = 0;  // 0: tls-port, where there is a port beside it
  std::string cluster_seeds;              // "host:port" with blanks between them; "": none

  // Failover.
  std::string log;                // "": this server is of no shard
  std::string log_password_file;  // "": none
  bool log_allow_weak_engine = false;
  int64_t log_timeout_ms = 1000;
  std::string shard = "main";
  int64_t failover_after_ms = 2000;
  int64_t read_lease_ms = -1;      // -1: three quarters of failover-after-ms
  int64_t append_interval_ms = 0;  // the least time between two appends of turns
  int64_t log_retention_bytes = int64_t{1} << 30;
  int64_t log_bytes_max = int64_t{16} << 30;  // at least log_retention_bytes
  std::string member_user;                    // "": default
  std::string member_password;                // "": none is told
  int64_t commit_wait_ms = 20;                // of commands that take; -1: for ever
  int64_t uncommitted_ms_max = 120000;
  int64_t uncommitted_permits_max = 0;  // 0: no bound
  int64_t uncommitted_bytes_max = 256 << 20;
  std::string uncommitted_commands;  // "incr", or ""

  // Memory and write-back.
  int64_t maxmemory = 0;  // 0: half of the machine's memory
  int64_t write_back_interval_ms = 5000;
  int64_t write_back_entries_max = 500000;
  int64_t wal_bytes_max = 64 << 20;
  int64_t expired_compaction_interval_s = 3600;
  int64_t block_cache_size = 64 << 20;
  bool direct_reads = false;

  // Scripts and events.
  int64_t busy_reply_threshold = 5000;  // milliseconds
  int64_t script_cache_bytes_max = 64 << 20;
  int64_t script_cache_entries_max = 1000;
  int64_t script_memory_max = 64 << 20;
  int64_t script_time_limit_ms = 500;  // 0: none
  std::string notify_keyspace_events;  // normalised as Redis does: "AKE"

  // Logging and process.
  LogLevel loglevel = LogLevel::kNotice;
  LogFormat logformat = LogFormat::kText;
  std::string logfile;  // "": stderr
  std::string pidfile;  // "": none
  Supervision supervised = Supervision::kNo;
  int64_t hz = 10;
  bool watch_files = false;
  int64_t slowlog_log_slower_than = 10000;  // microseconds; 0: all, -1: none
  int64_t slowlog_max_len = 128;
  int64_t latency_monitor_threshold = 0;  // milliseconds; 0: nothing is sampled
  bool latency_tracking = true;
  std::vector<std::string> latency_tracking_info_percentiles = {"50", "99", "99.9"};
  int64_t tracking_table_max_keys = 1000000;  // 0: any number
  int64_t policies_max = 10'000;
  int64_t top_keys = 512;
  Limiting limiting = Limiting::kOn;
  DebugAccess enable_debug_command = DebugAccess::kNo;
};

// Whether any port is for TLS.
inline bool uses_tls(const Config& config) {
  return config.tls_port != 0 || config.http_tls_port != 0 || config.metrics_tls_port != 0 ||
         config.grpc_tls_port != 0;
}

}  // namespace weir::server
