// The file cluster-topology, as this server reads it, and the directory's NODE, which remembers
// what was read.
//
// Nothing goes from server to server: which of them has which slots is in the file that all of them
// read, or this one has all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/cluster/node_file.h"
#include "server/cluster/topology.h"
#include "server/config/config.h"
#include "server/os/reloaded.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

class TopologyFile {
 public:
  TopologyFile(const Config* config, storage::Keyspace* keys, std::function<uint64_t()> random)
      : config_(*config), keys_(*keys), random_(std::move(random)) {}

  // Reads the topology and the directory's NODE, and writes the latter if it says something new.
  // Fails if the data are not this node's. REQUIRES: the keyspace is open.
  Result<void, std::string> open();
  // Reads the topology again: takes it as a whole, or fails and keeps what was there.
  Result<Reloaded, std::string> reload();

  const Topology& topology() const { return topology_; }
  // Answers this server's place among the topology's owners.
  size_t me() const { return me_; }
  // Answers this server's id of 40 digits.
  const std::string& id() const { return node_.id; }

 private:
  Result<Topology, std::string> read_topology() const;
  // Answers which owner of a topology this server is.
  Result<size_t, std::string> find_me(const Topology& topology) const;
  // Tells whether the directory may serve the topology as that owner, and if not why.
  Result<void, std::string> check_may_serve(const Topology& topology, size_t me) const;
  Result<void, std::string> check_held_keys(const Topology& topology, size_t me) const;
  // Looks for keys of slots that others have: for all of them if they are few, and while nobody is
  // served yet at least for the first.
  struct Held {
    uint64_t count = 0;
    bool all = true;  // it has looked at all of them
    int example = kNoSlot;
  };
  Held find_held_keys(const Owner& mine) const;
  Result<void, std::string> read_node();
  Result<void, std::string> write_node(const NodeFile& node);
  Result<void, std::string> serve(Topology topology, size_t me);
  void warn_without_tls_port() const;
  std::string path_of(std::string_view name) const;
  bool keeps_node() const { return keeps_files(config_.storage); }

  const Config& config_;
  storage::Keyspace& keys_;
  std::function<uint64_t()> random_;
  NodeFile node_;
  Topology topology_ = Topology::alone();
  size_t me_ = 0;
  bool opened_ = false;
};

}  // namespace weir::server
