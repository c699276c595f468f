// This server as an owner of hash slots: whether a request is for it, and who has what.
//
// With the option cluster-enabled off it counts requests that a cluster would refuse, and no more.
// Nothing goes from server to server: which of them has which slots is in the file cluster-topology
// that all of them read, or this one has all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/cluster/node_file.h"
#include "server/cluster/request_slot.h"
#include "server/cluster/topology.h"
#include "server/command/command.h"
#include "server/config/config.h"
#include "server/os/reloaded.h"
#include "server/session/session.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

class Cluster {
 public:
  Cluster(const Config* config, storage::Keyspace* keys, std::function<uint64_t()> random)
      : config_(*config), keys_(*keys), random_(std::move(random)) {}

  // Reads the topology and the directory's NODE, and writes the latter if it says something new.
  // Fails if the data are not this node's. REQUIRES: the keyspace is open.
  Result<void, std::string> open();
  // Reads the topology again: takes it as a whole, or fails and keeps what was there.
  Result<Reloaded, std::string> reload();

  bool on() const { return config_.cluster_enabled; }
  const Topology& topology() const { return topology_; }
  // Answers this server's place among the topology's owners.
  size_t me() const { return me_; }
  // Answers an owner's id of 40 digits.
  std::string id_of(size_t owner) const;

  // Most requests name one key in one place, or none. Tells whether this one does, and is this
  // server's: then admit() need not be asked. REQUIRES: on()
  bool admits_at_once(const Command& command, Args args) {
    const KeyPositions& keys = command.keys;
    const bool is_plain =
        keys.first == keys.last && keys.numkeys == 0 && !command.has(kMovableKeys | kRunsQueued);
    if (!is_plain) return false;
    const auto place = static_cast<size_t>(keys.first);
    admitted_slot_ = place == 0 ? kNoSlot : hash_slot(args[place]);
    return !is_moved(admitted_slot_);
  }
  // Tells whether a request is this server's, and if not answers the error that leads to whoever
  // has it, or says that nobody can. EXEC is all that is queued. REQUIRES: on()
  // A client that has come over TLS is led to where TLS is spoken.
  Result<void, std::string> admit(const Session& session, const Command& command, Args args);
  // Tells whether a slot is another's; kNoSlot is nobody's.
  bool is_moved(int slot) const { return slot != kNoSlot && topology_.owner_of(slot) != me_; }
  bool is_moved(const Command& command, Args args) const;
  // Answers the error that leads to the owner of a slot, or to that of a request's keys.
  std::string moved_error(int slot, bool over_tls) const;
  std::string moved_error(const Call& call) const;
  // The request that was admitted last runs now.
  void begin_command() { running_slot_ = admitted_slot_; }
  // See ScriptHost::check_slots.
  Result<void, std::string> check_in_script(const Command& command, Args args, bool crosses_slots);
  // Tells whether an error is one of admit().
  static bool is_redirection(std::string_view error);

  // Counts a request that has run although a cluster would have refused it. Off costs as much as
  // the slots of a few keys, for rows that may name several.
  void note_slots(const Command& command, Args args);
  void note_slots(const RequestSlot& together) {
    if (!on() && together.crosses()) ++would_cross_slots_;
  }
  uint64_t cross_slot_refusals() const { return cross_slot_refusals_; }
  uint64_t would_cross_slots() const { return would_cross_slots_; }

 private:
  Result<void, std::string> look_at_databases() const;
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
  int admitted_slot_ = kNoSlot;
  int running_slot_ = kNoSlot;  // of the keys that the running command has named so far
  uint64_t cross_slot_refusals_ = 0;
  uint64_t would_cross_slots_ = 0;
  bool opened_ = false;
};

}  // namespace weir::server
