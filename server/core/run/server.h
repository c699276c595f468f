// Everything of a running weir but its sockets, put together: configuration, clock, keyspace,
// sessions, and the turn that binds them.
//
// The owner of a Server feeds its sessions (receive), ends the turn (end_turn), sends what the
// sessions then release, and calls tick() from time to time. Tests do so in one thread on virtual
// time; the daemon does so with sockets.
//
// The parts do the work and say in their headers what they promise. This class has only what
// concerns several of them.
//
// Invariant: between open() and close() nothing sleeps or waits for a sync of the log, except SAVE
// and DEBUG SLEEP, and tick() where it reopens a store that has failed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/acl/acl.h"
#include "server/command/event_class.h"
#include "server/config/config.h"
#include "server/core/clients/messages.h"
#include "server/core/clients/sessions.h"
#include "server/core/disk/opening_lines.h"
#include "server/core/disk/turn.h"
#include "server/core/run/executor.h"
#include "server/core/run/persistence.h"
#include "server/core/run/reload.h"
#include "server/core/run/scripting.h"
#include "server/core/run/session_service.h"
#include "server/core/shard/shard_role.h"
#include "server/limiter/take/limiters.h"
#include "server/os/clock.h"
#include "server/os/random.h"
#include "server/os/version.h"
#include "server/report/report.h"
#include "server/waiting/waiting.h"
#include "storage/keyspace/keyspace.h"

namespace weir::server {

// What SHUTDOWN asked for.
struct ShutdownRequest {
  bool requested = false;
};

// What a member of several machines puts in the place of the store's own log, of this machine's
// syncs and of its clock. All of it outlives the server.
struct Replication {
  storage::TurnLog* log = nullptr;  // null: the store's own
  DurabilityFactory make_durability;
  Membership* membership = nullptr;   // null: this server is of no shard
  InstantSource* instants = nullptr;  // null: this machine's clock
};

class Server final : public CallHost {
 public:
  using StoreFactory = storage::Keyspace::StoreFactory;

  // `lists`: the rows of all commands (commands/command_lists.h).
  Server(Config config, Clock* clock, StoreFactory make_store, std::span<const Commands> lists,
         const Seeds& seeds = Seeds::fresh(), const Replication& replication = {});

  // Opens the data. If that fails, the process should end with the error.
  storage::Status open(OpeningLines::Tell tell = {});
  // Commits and syncs the last turns, at the end of the process.
  storage::Status close();

  // Begins a session, or answers the line that refuses it.
  Result<Session*, std::string> connect(Peer peer);
  void disconnect(Session* session);

  // Serves sessions that wait, as far as their instants have come. Call it between turns.
  void serve_waiting();
  // Answers how long it is until a session's wait may end, pending replies may leave, or the
  // shard's log is to be asked, in nanoseconds; kNotDue when time alone changes nothing.
  int64_t next_wait_ns();
  // Commits what the sessions did since the last call, and releases replies.
  void end_turn();
  // Does the chores that no turn does: the ends of pauses and of idle sessions, the store's
  // recovery, checkpoints, samples of rates. Call it at least hz times a second, between turns.
  void tick();
  // Makes changed options take effect.
  void apply_config(const std::vector<std::string>& changed);

  void notify(EventClass event_class, std::string_view event, int database,
              std::string_view key) override;
  void wait(Call& call, std::unique_ptr<Waiter> waiter) override;
  uint64_t random() override { return random_.next(); }
  void count_look_up(bool found) override { report_.note_look_up(found); }

  // The parts.
  Config& config() { return config_; }
  Clock& clock() { return clock_; }
  Timeline& timeline() { return timeline_; }
  storage::Keyspace& keys() { return keys_; }
  Report& report() { return report_; }
  Waiting& waiting() { return waiting_; }
  Limiters& limiters() { return limiters_; }
  Executor& executor() { return executor_; }
  Sessions& sessions() { return sessions_; }
  acl::Acl& acl() { return acl_; }
  Messages& messages() { return messages_; }
  Persistence& persistence() { return persistence_; }
  Turn& turn() { return turn_; }
  Scripting& scripting() { return scripting_; }
  ShardRole& shard_role() { return shard_role_; }
  Reload& reload() { return reload_; }

  ShutdownRequest shutdown;

 private:
  void work_a_slice();
  void drop_overrides();
  void look_at_files();
  Result<Reloaded, std::string> read_policies();
  Result<Reloaded, std::string> reload_topology();

  Config config_;
  Clock& clock_;
  Timeline timeline_;
  storage::Keyspace keys_;
  Random random_;
  Report report_;
  Waiting waiting_;
  Limiters limiters_;
  CommandTable commands_;
  SessionService session_service_;
  Sessions sessions_;
  acl::Acl acl_;
  Messages messages_;
  Persistence persistence_;
  Turn turn_;
  Scripting scripting_;
  ShardRole shard_role_;
  Executor executor_;
  Reload reload_;
};

// Answers the server that runs a command.
inline Server& server_of(const Call& call) { return call.host.server(); }

}  // namespace weir::server
