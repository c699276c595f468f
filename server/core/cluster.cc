#include "server/core/cluster.h"

#include <cstring>
#include <filesystem>
#include <utility>

#include "base/ascii.h"
#include "server/os/addresses.h"
#include "server/os/log.h"
#include "server/os/plain_file.h"
#include "server/os/replace_file.h"

namespace weir::server {
namespace {

constexpr std::string_view kCrossSlot = "CROSSSLOT Keys in request don't hash to the same slot";
constexpr std::string_view kAboutTags =
    ". Keys that share a hash tag, as user:7:{acme} and tenant:{acme}, are in one slot";
constexpr std::string_view kNodeFile = "NODE";
constexpr size_t kNodeFileBytesMax = 4096;
constexpr size_t kScanStep = 1000;

std::string cross_slot_error(const Command& command) {
  std::string error(kCrossSlot);
  if (command.group == "limiter") error += kAboutTags;
  return error;
}

}  // namespace

std::string Cluster::path_of(std::string_view name) const {
  return (std::filesystem::path(config_.dir) / name).string();
}

Result<void, std::string> Cluster::look_at_databases() const {
  std::string counts;
  for (int database = 1; database < keys_.options().databases; ++database) {
    const uint64_t count = keys_.size(database);
    if (count == 0) continue;
    counts += (counts.empty() ? "" : ", ") + std::to_string(count) + " in database " +
              std::to_string(database);
  }
  if (counts.empty()) return {};
  return "cluster-enabled: a cluster has database 0 only, and " + config_.dir +
         " has keys: " + counts + "; start with cluster-enabled no, and move or delete them";
}

Result<Topology, std::string> Cluster::read_topology() const {
  if (config_.cluster_topology.empty()) return Topology::alone();
  const std::string path = path_of(config_.cluster_topology);
  std::string text;
  if (const auto read = read_plain_file(path, kTopologyBytesMax, "1mb", &text); !read)
    return "cluster-topology: " + read.error();
  return Topology::parse(text, path);
}

Result<size_t, std::string> Cluster::find_me(const Topology& topology) const {
  if (config_.cluster_topology.empty()) return size_t{0};
  const int64_t port =
      config_.cluster_announce_port > 0 ? config_.cluster_announce_port : config_.port;
  const bool announces =
      !config_.cluster_announce_ip.empty() || !config_.cluster_announce_hostname.empty();
  std::string found;
  size_t me = 0;
  size_t count = 0;
  for (size_t at = 0; at < topology.owners().size(); ++at) {
    const Owner& owner = topology.owners()[at];
    const bool is_host =
        announces ? equals_ignoring_case(owner.host, config_.cluster_announce_ip) ||
                        equals_ignoring_case(owner.host, config_.cluster_announce_hostname)
                  : is_own_host(owner.host);
    if (!is_host || owner.port != port) continue;
    me = at;
    found += (count++ == 0 ? "'" : ", '") + owner.name + "'";
  }
  if (count == 1) return me;
  const std::string where = path_of(config_.cluster_topology);
  if (count > 1) {
    return where + ": several names are this server with port " + std::to_string(port) + ": " +
           found + "; set cluster-announce-ip to the host of one of them";
  }
  return where + ": no line is for this server with port " + std::to_string(port) +
         "; set cluster-announce-ip and cluster-announce-port to the host and port of one";
}

Result<void, std::string> Cluster::check_held_keys(const Topology& topology, size_t me) const {
  uint64_t held = 0;
  int example = kNoSlot;
  uint64_t cursor = 0;
  if (topology.owners().size() == 1) return {};
  do {
    cursor = keys_.scan(0, cursor, kScanStep, [&](const storage::Seen& seen) {
      const int slot = hash_slot(seen.key);
      if (topology.owner_of(slot) == me) return;
      ++held;
      if (example == kNoSlot) example = slot;
    });
  } while (cursor != 0 && keys_.failure().ok());
  if (!keys_.failure().ok()) return keys_.failure().message();
  if (held == 0) return {};
  const Owner& other = topology.owners()[topology.owner_of(example)];
  return path_of(config_.cluster_topology) + ": this server holds " + std::to_string(held) +
         " keys of slots that the file gives to others, as slot " + std::to_string(example) +
         " to '" + other.name + "'; slots move with their server's whole directory";
}

Result<void, std::string> Cluster::check_may_serve(const Topology& topology, size_t me) const {
  if (config_.cluster_topology.empty()) return {};
  const Owner& owner = topology.owners()[me];
  const std::string where = path_of(config_.cluster_topology);
  if (!node_.name.empty() && node_.name != owner.name) {
    return where + ": this server is '" + owner.name + "' there, and its directory " + config_.dir +
           " belongs to '" + node_.name + "'";
  }
  const auto seen = std::to_string(node_.epoch);
  if (topology.epoch() < node_.epoch) {
    return where + ": the file has epoch " + std::to_string(topology.epoch()) +
           ", and this server has seen epoch " + seen + ": it is an older file";
  }
  const bool same = topology.digest() == node_.digest;
  if (topology.epoch() == node_.epoch && !same) {
    return where + ": the file differs from the one of epoch " + seen +
           " that this server has seen; a changed file needs a higher epoch";
  }
  return same ? Result<void, std::string>() : check_held_keys(topology, me);
}

Result<void, std::string> Cluster::read_node() {
  if (!keeps_node()) return {};
  const std::string path = path_of(kNodeFile);
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return {};
  std::string text;
  if (const auto read = read_plain_file(path, kNodeFileBytesMax, "4kb", &text); !read)
    return read.error();
  const auto node = parse_node_file(text);
  if (!node) return path + ": " + node.error();
  node_ = *node;
  return {};
}

Result<void, std::string> Cluster::write_node(const NodeFile& node) {
  if (node == node_) return {};
  if (keeps_node()) {
    const std::string path = path_of(kNodeFile);
    if (const int error = replace_file(path, node_file_text(node)); error != 0)
      return "cannot write " + path + ": " + std::strerror(error);
  }
  node_ = node;
  return {};
}

Result<void, std::string> Cluster::serve(Topology topology, size_t me) {
  NodeFile node = node_;
  if (!config_.cluster_topology.empty()) {
    node.name = topology.owners()[me].name;
    node.id = node_id_of(node.name);
    node.epoch = topology.epoch();
    node.digest = topology.digest();
  } else if (node.id.empty()) {
    node.id = node_id_of(std::to_string(random_()) + " " + std::to_string(random_()));
  }
  if (const auto written = write_node(node); !written) return written;
  topology_ = std::move(topology);
  me_ = me;
  spdlog::info("cluster: node {}{}{}, {} of {} owners, epoch {}", node_.id,
               node_.name.empty() ? "" : " ", node_.name, me_ + 1, topology_.owners().size(),
               topology_.epoch());
  return {};
}

Result<void, std::string> Cluster::open() {
  if (!on() && !config_.cluster_topology.empty())
    return std::string("cluster-topology is set, which needs cluster-enabled yes");
  if (!on()) return {};
  if (const auto alone = look_at_databases(); !alone) return alone;
  if (const auto read = read_node(); !read) return read;
  return reload();
}

Result<void, std::string> Cluster::reload() {
  auto topology = read_topology();
  if (!topology) return topology.error();
  const auto me = find_me(*topology);
  if (!me) return me.error();
  if (const auto may = check_may_serve(*topology, *me); !may) return may;
  return serve(std::move(*topology), *me);
}

std::string Cluster::id_of(size_t owner) const {
  return owner == me_ ? node_.id : node_id_of(topology_.owners()[owner].name);
}

Result<void, std::string> Cluster::admit(const Transaction& transaction, const Command& command,
                                         Args args) {
  RequestSlot slots;
  if (!command.has(kRunsQueued)) {
    slots.add(command, args);
  } else if (transaction.open()) {
    for (QueuedCommands::Walk next(transaction.queued()); next.next();)
      slots.add(next.command(), next.args());
  }
  admitted_slot_ = slots.slot();
  if (slots.crosses()) {
    ++cross_slot_refusals_;
    return cross_slot_error(command);
  }
  if (slots.slot() == kNoSlot) return {};
  const size_t owner = topology_.owner_of(slots.slot());
  if (owner == me_) return {};
  const Owner& other = topology_.owners()[owner];
  return "MOVED " + std::to_string(slots.slot()) + " " + other.host + ":" +
         std::to_string(other.port);
}

bool Cluster::is_redirection(std::string_view error) {
  return error.starts_with("CROSSSLOT ") || error.starts_with("MOVED ");
}

Result<void, std::string> Cluster::check_in_script(const Command& command, Args args,
                                                   bool crosses_slots) {
  RequestSlot slots;
  slots.add(command, args);
  if (slots.slot() == kNoSlot) return {};
  if (slots.crosses()) ++cross_slot_refusals_;
  if (slots.crosses() || topology_.owner_of(slots.slot()) != me_) {
    return std::string("ERR Script attempted to access a non local key in a cluster node");
  }
  if (crosses_slots) return {};
  if (running_slot_ == kNoSlot) running_slot_ = slots.slot();
  if (running_slot_ == slots.slot()) return {};
  ++cross_slot_refusals_;
  return std::string("ERR Script attempted to access keys that do not hash to the same slot");
}

void Cluster::note_slots(const Command& command, Args args) {
  if (on()) return;
  RequestSlot slots;
  slots.add(command, args);
  note_slots(slots);
}

}  // namespace weir::server
