// This server as an owner of hash slots: whether a request is for it, and who has what.
//
// With the option cluster-enabled off it counts requests that a cluster would refuse, and no more.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/cluster/request_slot.h"
#include "server/cluster/slot_map.h"
#include "server/command/command.h"
#include "server/config/config.h"
#include "server/core/run/topology_file.h"
#include "server/os/reloaded.h"
#include "server/session/session.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

class Cluster {
 public:
  Cluster(const Config* config, storage::Keyspace* keys, std::function<uint64_t()> random)
      : config_(*config), keys_(*keys), file_(config, keys, std::move(random)) {}

  // See TopologyFile.
  Result<void, std::string> open();
  Result<Reloaded, std::string> reload();

  bool on() const { return config_.cluster_enabled; }
  const SlotMap& map() const { return map_; }
  const Topology& topology() const { return file_.topology(); }

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
  bool is_moved(int slot) const { return slot != kNoSlot && map_.shard_of(slot) != map_.own(); }
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
  void show_topology();

  const Config& config_;
  storage::Keyspace& keys_;
  TopologyFile file_;
  SlotMap map_;
  int admitted_slot_ = kNoSlot;
  int running_slot_ = kNoSlot;  // of the keys that the running command has named so far
  uint64_t cross_slot_refusals_ = 0;
  uint64_t would_cross_slots_ = 0;
};

}  // namespace weir::server
