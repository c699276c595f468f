#include "server/failover/member/join_shard.h"

#include <cstring>
#include <filesystem>
#include <utility>

#include "base/time_units.h"
#include "server/cluster/node_file.h"
#include "server/cluster/topology.h"
#include "server/failover/copies/first_copy.h"
#include "server/failover/member/cluster_watch_of.h"
#include "server/failover/member/shard_names.h"
#include "server/failover/shared_log/open_log.h"
#include "server/os/plain_file.h"
#include "server/os/replace_file.h"
#include "storage/replication/plain.h"
#include "storage/replication/shard_id.h"
#include "storage/rocks/rocks_directory.h"

namespace weir::server {

using storage::Status;
using storage::replication::SharedLog;

namespace {

constexpr size_t kNodeFileBytesMax = 4096;
constexpr int64_t kJoinLookNs = 2 * kNsPerMs;

// Nothing: there is no data yet.
Result<std::optional<StoreShard>, std::string> shard_of_directory(const Config& config) {
  std::error_code error;
  const bool is_empty =
      !std::filesystem::exists(config.dir, error) || std::filesystem::is_empty(config.dir, error);
  if (is_empty) return std::optional<StoreShard>();
  storage::RocksDirectory directory(config.dir);
  storage::DirectoryIdentity identity;
  bool fresh = false;
  Status status = directory.lock_to_look();
  if (status.ok()) status = directory.identify(&fresh, &identity);
  if (!status.ok()) return status.message();
  if (fresh) return std::optional<StoreShard>();
  if (!identity.shard) {
    return "data directory " + config.dir +
           " belongs to no shard: weir-server --new-shard makes a shard of it, and an empty "
           "directory joins one";
  }
  return std::optional(StoreShard{.identity = *identity.shard, .seed = identity.seed});
}

Result<StoreShard, std::string> shard_of_log(const Config& config, SharedLog* log, Clock* clock) {
  WaitingLog waiting(log, clock);
  const auto found = read_genesis(&waiting);
  if (!found) return found.error();
  if (!*found) {
    return "the shared log " + config.log +
           " is empty: weir-server --new-shard makes a shard, once, on one machine";
  }
  const storage::replication::Genesis& genesis = (*found)->genesis;
  return StoreShard{.identity = shard_of(genesis),
                    .seed = {genesis.hash_seed[0], genesis.hash_seed[1]}};
}

// Whether a member without data can begin by reading the log alone.
bool holds_all(SharedLog* log, Clock* clock) {
  WaitingLog waiting(log, clock);
  if (waiting.read({}, 0).outcome == storage::replication::Read::Outcome::kTrimmed) return false;
  const auto found = read_genesis(&waiting);
  return !found || !*found || (*found)->genesis.first_turn <= 1;
}

// Sees to it that the directory has data, if that is what it needs.
Result<void, std::string> copy_if_needed(const Config& config, const PullPlan& plan,
                                         const OpenedLog& opened, Clock* clock, uint64_t random) {
  if (holds_copy(config.dir)) {  // that an earlier process has made whole
    storage::RocksDirectory held(config.dir);
    if (const Status locked = held.lock_to_look(); !locked.ok()) return locked.message();
    if (const auto put = install_snapshot(config.dir); !put) return put.error();
  }
  const auto here = shard_of_directory(config);
  if (!here) return here.error();
  if (*here || holds_all(opened.log.get(), clock)) return {};
  storage::RocksDirectory held(config.dir);
  if (const Status locked = held.lock(); !locked.ok()) return locked.message();
  WaitingLog waiting(opened.log.get(), clock);
  return copy_first_data(plan, &waiting, opened.registry, random, clock);
}

// Clients of a shard with a part of the slots must be told who has the others, and only the cluster
// protocol can.
Result<void, std::string> check_slots_option(const Config& config,
                                             const storage::ShardIdentity& shard) {
  if (config.cluster_enabled || has_all_slots(shard.origin.slots)) return {};
  return "shard " + shard.name + " has a part of the slots (" +
         slot_ranges_text(shard.origin.slots) + "), and its members need cluster-enabled yes";
}

Result<StoreShard, std::string> find_shard(const Config& config, SharedLog* log, Clock* clock) {
  const auto here = shard_of_directory(config);
  if (!here) return here.error();
  const auto shard =
      *here ? Result<StoreShard, std::string>(**here) : shard_of_log(config, log, clock);
  if (!shard) return shard.error();
  const storage::ShardIdentity& identity = shard->identity;
  if (identity.name != config.shard) {
    return (*here ? "data directory " + config.dir : "the shared log " + config.log) +
           " is of shard '" + identity.name + "', and shard is '" + config.shard + "'";
  }
  if (identity.databases != static_cast<uint64_t>(config.databases)) {
    return "shard " + identity.name + " has " + std::to_string(identity.databases) +
           " databases, and databases is " + std::to_string(config.databases);
  }
  if (const auto fits = check_slots_option(config, identity); !fits) return fits.error();
  return *shard;
}

// The node's name, which a directory keeps in its file NODE; drawn where there is none.
Result<NodeFile, std::string> node_of_directory(const std::string& directory, Random random) {
  const std::string path = directory + "/NODE";
  std::error_code error;
  if (std::filesystem::exists(path, error) || error) {
    std::string text;
    if (const auto read = read_plain_file(path, kNodeFileBytesMax, "4kb", &text); !read)
      return read.error();
    auto node = parse_node_file(text);
    if (!node) return path + ": " + node.error();
    return node;
  }
  NodeFile node;
  node.id = node_id_of(std::to_string(random.next()) + " " + std::to_string(random.next()));
  if (const int failed = replace_file(path, node_file_text(node), Links::kAreReplaced); failed != 0)
    return "cannot write " + path + ": " + std::strerror(failed);
  return node;
}

// Where clients reach this server.
std::string address_of(const Config& config) {
  std::string host = config.cluster_announce_ip.empty() ? config.cluster_announce_hostname
                                                        : config.cluster_announce_ip;
  for (const std::string& bound : config.bind) {
    const bool is_all = bound == "*" || bound == "0.0.0.0" || bound == "::" || bound == "::*";
    if (host.empty() && !is_all && !bound.empty()) host = bound[0] == '-' ? bound.substr(1) : bound;
  }
  const int64_t own_port = config.port != 0 ? config.port : config.tls_port;
  const int64_t port = config.cluster_announce_port > 0 ? config.cluster_announce_port : own_port;
  return host + ":" + std::to_string(port);
}

// A log that is away may come back, and a member can start without; one that needs a person cannot.
Result<void, std::string> ask_log(SharedLog* log, int64_t wait_ns, Clock* clock) {
  const auto has_come = std::make_shared<bool>(false);
  log->read({}, 0, [has_come](const storage::replication::Read&) { *has_come = true; });
  for (const int64_t end_ns = clock->boot_ns() + wait_ns;
       !*has_come && clock->boot_ns() < end_ns;) {
    log->tick(clock->boot_ns());
    if (log->trouble().needs_person) return log->trouble().text;
    if (!*has_come) clock->sleep_ns(kJoinLookNs);
  }
  return {};
}

ReplyPlan reply_plan_of(const Config& config) {
  ReplyPlan plan;
  plan.log_timeout_ns = config.log_timeout_ms * kNsPerMs;
  plan.speaks_cluster = config.cluster_enabled;
  plan.early.uncommitted_bytes_max = static_cast<size_t>(config.uncommitted_bytes_max);
  if (config.commit_wait_ms < 0) return plan;
  plan.early_wait_ns = config.commit_wait_ms * kNsPerMs;
  plan.counts_leave_early = config.uncommitted_commands == "incr";
  plan.early.age_ns_max = config.uncommitted_ms_max * kNsPerMs;
  plan.early.permits_max = static_cast<uint64_t>(config.uncommitted_permits_max);
  return plan;
}

}  // namespace

Result<void, std::string> check_member_options(const Config& config) {
  if (config.storage != StorageForm::kRocksdb)
    return std::string("log: a member of a shard needs storage rocksdb");
  if (config.storage_failure_policy != FailurePolicy::kDeny)
    return std::string(
        "log: storage-failure-policy memory is for a server of no shard; where the disk of a "
        "member "
        "fails, another member goes on");
  if (!config.cluster_topology.empty())
    return std::string(
        "log: cluster-topology is for servers of no shard; a shard's slots are in its log");
  if (!config.cluster_announce_ip.empty() && !config.cluster_announce_hostname.empty())
    return std::string(
        "log: clients are told one host: set cluster-announce-ip or cluster-announce-hostname, not "
        "both");
  if (config.port != 0 && config.tls_port != 0 && config.cluster_announce_port == 0)
    return "log: clients are told one port, for TLS or not: set cluster-announce-port to " +
           std::to_string(config.tls_port) + " (tls-port) or to " + std::to_string(config.port) +
           " (port), or port to 0";
  const std::string address = address_of(config);
  if (address.front() == ':')
    return std::string(
        "log: bind names no address that clients could be told; set cluster-announce-ip");
  if (!storage::replication::is_plain_address(address))
    return std::string(
        "log: clients are told an address of letters, digits, '-', '_', '.', ':', '[', ']' and "
        "'%', with a port from 1 to 65535; set cluster-announce-ip");
  if (config.log_bytes_max < config.log_retention_bytes)
    return "log: log-bytes-max is at least log-retention-bytes, " +
           std::to_string(config.log_retention_bytes) + ", got " +
           std::to_string(config.log_bytes_max);
  if (config.read_lease_ms > config.failover_after_ms * 3 / 4)
    return "log: read-lease-ms is at most three quarters of failover-after-ms, " +
           std::to_string(config.failover_after_ms * 3 / 4) + ", got " +
           std::to_string(config.read_lease_ms);
  return {};
}

Result<Joined, std::string> join_shard(const Config& config, Clock* clock, uint64_t seed,
                                       std::function<void(const std::string& why)> on_failure,
                                       decltype(PullPlan::tell) tell) {
  if (const auto checked = check_member_options(config); !checked) return checked.error();
  auto opened = open_shared_log(config.log, {.shard = config.shard,
                                             .password_file = config.log_password_file,
                                             .log_timeout_ns = config.log_timeout_ms * kNsPerMs,
                                             .allows_weak_engine = config.log_allow_weak_engine});
  if (!opened) return opened.error();
  SharedLog* const log = opened->log.get();
  PullPlan pull = pull_plan(config);
  pull.tell = std::move(tell);
  const uint64_t drawn = Random(seed + 2).next();
  if (const auto copied = copy_if_needed(config, pull, *opened, clock, drawn); !copied)
    return copied.error();
  const auto shard = find_shard(config, log, clock);
  if (!shard) return shard.error();
  if (const auto usable = ask_log(log, config.log_timeout_ms * kNsPerMs, clock); !usable)
    return usable.error();
  const int64_t failover_after_ns = config.failover_after_ms * kNsPerMs;
  const int64_t lease_ns =
      config.read_lease_ms < 0 ? failover_after_ns / 4 * 3 : config.read_lease_ms * kNsPerMs;
  MemberPlan plan;
  plan.cluster = shard->identity.cluster;
  plan.slots = shard->identity.origin.slots;
  plan.shard = config.shard;
  plan.shard_checksum =
      storage::replication::shard_checksum(id_of_hex(shard->identity.cluster), config.shard);
  plan.record_version = storage::replication::record_version_of(shard->identity.origin);
  plan.address = address_of(config);
  plan.times = {.lease_ns = lease_ns, .failover_after_ns = failover_after_ns};
  plan.append_interval_ns = config.append_interval_ms * kNsPerMs;
  plan.pull = pull_plan(config);
  plan.trim = {.retained_bytes = static_cast<uint64_t>(config.log_retention_bytes),
               .bytes_max = static_cast<uint64_t>(config.log_bytes_max)};
  plan.replies = reply_plan_of(config);
  plan.seed = seed;
  plan.node = [dir = config.dir, seed] { return node_of_directory(dir, Random(seed + 1)); };
  plan.on_failure = std::move(on_failure);
  if (config.cluster_enabled) {
    plan.make_watch = cluster_watch_of(config, shard->identity, clock);
    plan.make_settings_peers = settings_peers_of(config, clock);
  }
  return Joined{
      .store = *shard,
      .member = std::make_unique<ShardMember>(std::move(plan), std::move(*opened), clock)};
}

}  // namespace weir::server
