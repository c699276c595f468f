#include "server/config/refused_options.h"

#include "base/ascii.h"

namespace weir::server {
namespace {

constexpr std::string_view kNoReplicas =
    "a standby follows a shared log, and is no replica; SAVE and BGSAVE make copies of the data";
constexpr std::string_view kNoCluster =
    "owners of slots do not talk to one another, they are named by cluster-topology";
constexpr std::string_view kNobody = "connections to other servers have no such option";
constexpr std::string_view kNoModules =
    "there are no modules; commands of redis-cell are built in (CL.THROTTLE)";
constexpr std::string_view kNoThreads = "one thread serves all clients";
constexpr std::string_view kNoAppendOnlyFile =
    "there is no append-only file; every write is in the log in dir, see durability";
constexpr std::string_view kNoSnapshots =
    "there is no snapshot file; every write is in the log in dir, see durability";
constexpr std::string_view kServiceManager = "the service manager decides that";
constexpr std::string_view kAcl = "users and their commands are set by ACL rules, see aclfile";

constexpr RefusedOption kRefused[] = {
    {"always-show-logo", "no", "there is no logo"},
    {"aof-*", "", kNoAppendOnlyFile},
    {"aof_rewrite_cpulist", "", kServiceManager},
    {"appenddirname", "", kNoAppendOnlyFile},
    {"appendfilename", "", kNoAppendOnlyFile},
    {"bgsave_cpulist", "", kServiceManager},
    {"bind-source-addr", "", kNobody},
    {"bio_cpulist", "", kServiceManager},
    {"cluster-*", "", kNoCluster},
    {"crash-log-enabled", "", "the system keeps what a crash leaves"},
    {"crash-memcheck-enabled", "", "the system keeps what a crash leaves"},
    {"disable-thp", "yes", "weir leaves the kernel's huge pages as they are"},
    {"enable-module-command", "no", kNoModules},
    {"enable-protected-configs", "no", "protected options cannot be set while the server runs"},
    {"ignore-warnings", "", "weir checks nothing at the start that it could be told to ignore"},
    {"io-threads", "1", kNoThreads},
    {"io-threads-do-reads", "no", kNoThreads},
    {"loadmodule", "", kNoModules},
    {"masterauth", "", kNoReplicas},
    {"masteruser", "", kNoReplicas},
    {"min-replicas-max-lag", "", kNoReplicas},
    {"min-replicas-to-write", "0", kNoReplicas},
    {"min-slaves-max-lag", "", kNoReplicas},
    {"min-slaves-to-write", "0", kNoReplicas},
    {"oom-score-adj", "no", kServiceManager},
    {"oom-score-adj-values", "", kServiceManager},
    {"proc-title-template", "", "the process keeps its name"},
    {"propagation-error-behavior", "", kNoReplicas},
    {"rdb-del-sync-files", "no", kNoReplicas},
    {"rdbchecksum", "yes", kNoSnapshots},
    {"rename-command", "", kAcl},
    {"repl-*", "", kNoReplicas},
    {"replica-*", "", kNoReplicas},
    {"replicaof", "", kNoReplicas},
    {"sentinel", "", "weir is not a sentinel and needs none"},
    {"server_cpulist", "", kServiceManager},
    {"set-proc-title", "no", "the process keeps its name"},
    {"shutdown-on-sigint", "", "a signal always ends the server with all its data"},
    {"shutdown-on-sigterm", "", "a signal always ends the server with all its data"},
    {"shutdown-timeout", "", kNoReplicas},
    {"slave-*", "", kNoReplicas},
    {"slaveof", "", kNoReplicas},
    {"socket-mark-id", "0", "the system's firewall can mark by user"},
    {"syslog-enabled", "no", "weir logs to its standard error, or to logfile"},
    {"syslog-*", "", "weir logs to its standard error, or to logfile"},
    {"tls-client-*", "", kNobody},
    {"tls-cluster", "no", kNoCluster},
    {"tls-dh-params-file", "", "keys are exchanged over curves alone, which have no parameters"},
    {"tls-replication", "no", kNoReplicas},
};

bool matches(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return equals_ignoring_case(pattern, name);
  pattern.remove_suffix(1);
  return name.size() >= pattern.size() &&
         equals_ignoring_case(pattern, name.substr(0, pattern.size()));
}

}  // namespace

const RefusedOption* find_refused(std::string_view name) {
  for (const RefusedOption& option : kRefused) {
    if (matches(option.name, name)) return &option;
  }
  return nullptr;
}

bool is_harmless(const RefusedOption& option, std::string_view value) {
  return !option.harmless.empty() && equals_ignoring_case(option.harmless, value);
}

}  // namespace weir::server
