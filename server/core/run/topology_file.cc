#include "server/core/run/topology_file.h"

#include <cstring>
#include <filesystem>
#include <utility>

#include "base/ascii.h"
#include "server/cluster/epoch_jump.h"
#include "server/core/run/slot_walk.h"
#include "server/os/addresses.h"
#include "server/os/log.h"
#include "server/os/plain_file.h"
#include "server/os/replace_file.h"

namespace weir::server {
namespace {

constexpr std::string_view kNodeFile = "NODE";
constexpr size_t kNodeFileBytesMax = 4096;
// While clients wait, so many keys of others are looked for; ten times as many places at most.
constexpr size_t kHeldLooksMax = 5'000;
constexpr size_t kHeldLooksOfRange = 16;  // what it may take to find a range empty

std::vector<SlotRange> ranges_without(const std::vector<SlotRange>& ranges) {
  std::vector<SlotRange> others;
  int next = 0;
  for (const SlotRange& range : ranges) {
    if (next < range.first) others.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next < kSlots) others.push_back({next, kSlots - 1});
  return others;
}

}  // namespace

std::string TopologyFile::path_of(std::string_view name) const {
  return (std::filesystem::path(config_.dir) / name).string();
}

Result<Topology, std::string> TopologyFile::read_topology() const {
  if (config_.cluster_topology.empty()) return Topology::alone();
  const std::string path = path_of(config_.cluster_topology);
  std::string text;
  if (const auto read = read_plain_file(path, kTopologyBytesMax, "1mb", &text); !read)
    return "cluster-topology: " + read.error();
  auto topology = Topology::parse(text, path);
  const bool is_far =
      topology && node_.epoch != 0 && topology->epoch() - node_.epoch > kEpochStepMax;
  if (!is_far || says_jump(text)) return topology;
  const std::string epoch = "epoch " + std::to_string(topology->epoch());
  return path + ": the file has " + epoch + ", and this server has seen epoch " +
         std::to_string(node_.epoch) +
         ": none between the two would be taken afterwards; if it is meant, the line is '" + epoch +
         " jump'";
}

Result<size_t, std::string> TopologyFile::find_me(const Topology& topology) const {
  if (config_.cluster_topology.empty()) return size_t{0};
  int64_t port = config_.port != 0 ? config_.port : config_.tls_port;
  if (config_.cluster_announce_port > 0) port = config_.cluster_announce_port;
  const bool announces =
      !config_.cluster_announce_ip.empty() || !config_.cluster_announce_hostname.empty();
  const OwnHosts own;
  std::string found;
  size_t me = 0;
  size_t count = 0;
  for (size_t at = 0; at < topology.owners().size(); ++at) {
    const Owner& owner = topology.owners()[at];
    if (owner.port != port) continue;
    const bool is_host =
        announces ? equals_ignoring_case(owner.host, config_.cluster_announce_ip) ||
                        equals_ignoring_case(owner.host, config_.cluster_announce_hostname)
                  : own.has(owner.host);
    if (!is_host) continue;
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

TopologyFile::Held TopologyFile::find_held_keys(const Owner& mine) const {
  Held held;
  size_t looks = 0;
  const auto count = [&held](std::string_view key) {
    if (held.count++ == 0) held.example = hash_slot(key);
  };
  const std::vector<SlotRange> ranges = ranges_without(mine.ranges);
  const size_t looks_max = kHeldLooksMax + kHeldLooksOfRange * ranges.size();
  for (const SlotRange& range : ranges) {
    for (SlotWalk walk(&keys_, range); walk.next(count);) {
      if (!keys_.failure().ok()) return held;
      looks += walk.step();
      const bool enough = looks >= looks_max && (opened_ || held.count > 0);
      if (!enough) continue;
      held.all = false;
      return held;
    }
  }
  return held;
}

Result<void, std::string> TopologyFile::check_held_keys(const Topology& topology, size_t me) const {
  const Held held = find_held_keys(topology.owners()[me]);
  if (!keys_.failure().ok()) return keys_.failure().message();
  const std::string where = path_of(config_.cluster_topology);
  if (held.count == 0 && held.all) return {};
  if (held.count == 0) {
    return where +
           ": too many expired keys are not removed yet to tell whether this server holds keys of "
           "slots that the file gives to others; try again later, or start it anew with the file";
  }
  const Owner& other = topology.owners()[topology.owner_of(held.example)];
  return where + ": this server holds " + (held.all ? "" : "at least ") +
         std::to_string(held.count) + " keys of slots that the file gives to others, as slot " +
         std::to_string(held.example) + " to '" + other.name +
         "'; slots move with their server's whole directory";
}

Result<void, std::string> TopologyFile::check_may_serve(const Topology& topology, size_t me) const {
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

Result<void, std::string> TopologyFile::read_node() {
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

Result<void, std::string> TopologyFile::write_node(const NodeFile& node) {
  if (node == node_) return {};
  if (keeps_node()) {
    const std::string path = path_of(kNodeFile);
    if (const int error = replace_file(path, node_file_text(node), Links::kAreReplaced); error != 0)
      return "cannot write " + path + ": " + std::strerror(error);
  }
  node_ = node;
  return {};
}

Result<void, std::string> TopologyFile::serve(Topology topology, size_t me) {
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
  log_info("cluster: node {}{}{}, {} of {} owners, epoch {}", node_.id,
           node_.name.empty() ? "" : " ", node_.name, me_ + 1, topology_.owners().size(),
           topology_.epoch());
  warn_without_tls_port();
  return {};
}

void TopologyFile::warn_without_tls_port() const {
  const Owner& mine = topology_.owners()[me_];
  if (config_.cluster_topology.empty() || config_.tls_port == 0 || mine.tls_port != 0) return;
  if (mine.port == config_.tls_port) return;
  log_warning(
      "cluster: {} names no tls-port of '{}': clients that come over TLS are led to port {}",
      config_.cluster_topology, mine.name, mine.port);
}

Result<void, std::string> TopologyFile::open() {
  if (const auto read = read_node(); !read) return read;
  const auto served = reload();
  if (!served) return served.error();
  opened_ = true;
  return {};
}

Result<Reloaded, std::string> TopologyFile::reload() {
  auto topology = read_topology();
  if (!topology) return topology.error();
  const auto me = find_me(*topology);
  if (!me) return me.error();
  if (const auto may = check_may_serve(*topology, *me); !may) return may.error();
  if (opened_ && *me == me_ && topology->digest() == topology_.digest()) return Reloaded::kSame;
  if (const auto served = serve(std::move(*topology), *me); !served) return served.error();
  return Reloaded::kNew;
}

}  // namespace weir::server
