// This server as an owner of hash slots: whether a request is for it, and who has what. The members
// of a shard have its slots together: all, or those that it was founded with; the primary serves.
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
#include "server/core/shard/membership.h"
#include "server/os/clock.h"
#include "server/os/reloaded.h"
#include "server/session/session.h"
#include "server/waiting/waiting.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

class Cluster {
 public:
  // `membership` is null for a server of no shard.
  Cluster(const Config* config, storage::Keyspace* keys, Clock* clock, const Membership* membership,
          std::function<uint64_t()> random)
      : config_(*config),
        keys_(*keys),
        clock_(*clock),
        membership_(membership),
        file_(config, keys, std::move(random)) {}

  // See TopologyFile. A member of a shard has no topology.
  Result<void, std::string> open();
  Result<Reloaded, std::string> reload();

  bool on() const { return config_.cluster_enabled; }
  bool is_of_shard() const { return membership_ != nullptr; }
  // The cluster's id; "" where there is no shard.
  std::string id() const;
  const SlotMap& map() const { return map_; }
  // Has the map show this server's shard as its members are now, or were a moment ago if nothing
  // has happened to the role. REQUIRES: on()
  void look_at_members();
  // Tells whether slots are served by others, too: not by the standbys of the own shard.
  bool has_others() const { return has_part_ || map_.shards().size() > 1; }
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
  // Answers the error that leads to the owner of a slot, or to that of a request's keys; "" if it
  // names none.
  std::string moved_error(int slot, bool over_tls);
  std::string moved_error(const Session& session, const Command& command, Args args);
  // The same for a wait that ends with the role in the shard; "" where there is no cluster.
  std::string end_of_wait(const Session& session, Waiter& waiter);
  // What a member that does not serve answers to the request that was admitted last: keys lead to
  // the shard's primary, and what names none is answered as `without_keys` says.
  // Who is not one to follow has to connect anew after a while, and to ask where the primary is.
  Result<void, std::string> lead(Session& session, Result<void, std::string> without_keys);
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
  void look_at_others(int64_t now_ns, std::string_view cluster);
  // Tells whether who was led to this primary would come back to this server.
  bool leads_here(const ShownMember& primary) const;

  const Config& config_;
  storage::Keyspace& keys_;
  Clock& clock_;
  const Membership* const membership_;
  TopologyFile file_;
  SlotMap map_;
  // Of the shard, when the map was told of it last.
  MemberView shown_;
  int64_t shown_at_ns_ = 0;
  KnownRevision others_revision_;  // likewise, and of the others
  int64_t others_at_ns_ = INT64_MIN / 2;
  bool has_part_ = false;  // the shard has not all slots
  int admitted_slot_ = kNoSlot;
  int running_slot_ = kNoSlot;  // of the keys that the running command has named so far
  uint64_t cross_slot_refusals_ = 0;
  uint64_t would_cross_slots_ = 0;
};

}  // namespace weir::server
