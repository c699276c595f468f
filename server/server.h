// Everything of a running weir but its sockets: configuration, clock, keyspace, sessions, and the
// turn that binds them.
//
// Whoever owns a Server feeds its sessions (receive), ends the turn (end_turn), sends what the
// sessions then release, and calls tick() from time to time. Tests do so in one thread on virtual
// time; the listener does so with sockets.
//
// Invariants
// 1. Replies made in a turn are released only when the turn is committed as the durability in force
// promises.
// 2. Nothing here blocks, except DEBUG SLEEP.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/busy.h"
#include "server/clock.h"
#include "server/config.h"
#include "server/error_figures.h"
#include "server/executor.h"
#include "server/latency/latency_monitor.h"
#include "server/limiter/policies.h"
#include "server/limiter/request_cache.h"
#include "server/limiter/top_keys.h"
#include "server/limiter/unique_ids.h"
#include "server/monitors.h"
#include "server/pubsub/key_events.h"
#include "server/pubsub/pubsub.h"
#include "server/rate_meter.h"
#include "server/session.h"
#include "server/slow_log.h"
#include "server/tracking/tracking.h"
#include "server/waiting/waiting.h"
#include "storage/keyspace.h"

namespace weir::server {

namespace acl {
class Acl;
}  // namespace acl

namespace script {
class Functions;
class Scripts;
}  // namespace script

// The Redis whose surface is served; clients choose their commands by it.
inline constexpr std::string_view kRedisVersion = "7.2.0";
inline constexpr std::string_view kWeirVersion = WEIR_VERSION;

struct Stats {
  uint64_t connections = 0;
  uint64_t connections_rejected = 0;
  uint64_t commands = 0;
  uint64_t error_replies = 0;
  uint64_t keyspace_hits = 0;
  uint64_t keyspace_misses = 0;
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
  uint64_t turns = 0;  // committed with changes
  uint64_t turns_failed = 0;
  uint64_t allowed = 0;  // limiter verdicts
  uint64_t denied = 0;
  uint64_t turns_run = 0;  // in which a session had something to say, changes or not
  int64_t turn_ns = 0;     // all of them together, from the first request to the replies' release
  int64_t turn_ns_max = 0;
  int64_t commit_ns = 0;  // the part of it that the log took
  int64_t commit_ns_max = 0;
  size_t working_set_bytes_max = 0;
  uint64_t expired_before = 0;  // of the keyspace's figures, when statistics were reset
  uint64_t evicted_before = 0;
};

enum class PauseMode { kNone, kWrites, kAll };

// What SHUTDOWN asked for.
struct ShutdownRequest {
  bool requested = false;
};

class Server {
 public:
  using StoreFactory = storage::Keyspace::StoreFactory;

  Server(Config config, Clock* clock, StoreFactory make_store);
  ~Server();

  // Opens the data. On an error the process should end with it.
  storage::Status open();

  // Sessions. A null answer: too many clients; `refusal` is the line to send.
  Session* connect(Peer peer, std::string* refusal);
  void disconnect(Session* session);
  const std::map<uint64_t, std::unique_ptr<Session>>& sessions() const { return sessions_; }

  // Commits what the sessions did since the last call, and releases replies. The sessions that may
  // have something to send or to end are in touched() until the next call.
  void end_turn();
  const std::vector<Session*>& touched() const { return touched_; }
  // Chores: expiry, write-back, syncs, time-outs, recovery. Call it at least hz times a second,
  // between turns.
  void tick();
  // The keyspace has work that should not wait for the next tick.
  bool wants_work() const { return keys_.wants_work(); }
  // No request should be read: write-back or the disk is too far behind.
  bool stalled() const { return keys_.overloaded(); }
  // Sessions with requests that were kept for this turn.
  std::vector<Session*> take_runnable();
  bool has_runnable() const { return !runnable_.empty(); }
  // Serves sessions that wait, as far as their instants have come; between turns.
  void serve_waiting();
  // How long until then, in nanoseconds; kNotDue when nothing but a command can end a wait.
  int64_t next_wait_ns();
  // While a script runs long (busy.h): `poll` reads from sessions that have no part in the turn,
  // and sends what end_busy_round() has released. Whoever owns the sockets sets it.
  void set_busy_poll(std::function<void()> poll) { busy_poll_ = std::move(poll); }
  // Answers those who were served since the last call or the poll's beginning.
  std::vector<Session*> end_busy_round();
  // The last turns' commit, sync and write-back at the end of the process.
  storage::Status close();

  // For sessions and commands.
  const Config& config() const { return config_; }
  Config& mutable_config() { return config_; }
  // Makes changed options take effect.
  void apply_config(const std::vector<std::string>& changed);
  Executor& executor() { return executor_; }
  acl::Acl& acl() { return *acl_; }
  script::Scripts& scripts() { return *scripts_; }
  script::Functions& functions() { return *functions_; }
  // For a script that has run long. False: somebody has ended it.
  bool serve_while_busy(const RunningScript& script);
  const RunningScript* long_script() const { return long_script_; }  // null: nobody is held up
  void kill_long_script() { long_script_killed_ = true; }
  // Another number: records may have changed otherwise than by commands.
  uint64_t data_epoch() const { return data_epoch_; }
  storage::Keyspace& keys() { return keys_; }
  Timeline& timeline() { return timeline_; }
  Waiting& waiting() { return waiting_; }
  // Blocks the session whose command is running until the waiter is done. REQUIRES: it may wait.
  void wait(Call& call, std::unique_ptr<Waiter> waiter);
  Pubsub& pubsub() { return pubsub_; }
  const Pubsub& pubsub() const { return pubsub_; }
  Monitors& monitors() { return monitors_; }
  SlowLog& slow_log() { return slow_log_; }
  LatencyMonitor& latency() { return latency_; }
  // `line`: the reply, or the error that becomes one.
  void note_error_reply(std::string_view line);
  const ErrorFigures& errors() const { return errors_; }
  Tracking& tracking() { return tracking_; }
  // Has the keyspace tell what notify-keyspace-events and tracking need.
  void set_wanted_events();
  // Publishes what has become of a key, if anybody wants to know: see pubsub/key_events.h.
  void notify(EventClass event_class, std::string_view event, int database, std::string_view key);
  // The keyspace's own: what time has ended, what is new.
  void publish_own_events();
  // Between commands: hands what was published to whoever listens.
  void deliver_messages();
  void enforce_output_limit(Session* session);
  Policies& policies() { return policies_; }
  RequestCache& request_cache() { return request_cache_; }
  UniqueIds& unique_ids() { return unique_ids_; }
  TopKeys& top_denied() { return top_denied_; }
  TopKeys& top_taken() { return top_taken_; }
  Clock& clock() { return *clock_; }
  Session* find_session(uint64_t id) const;
  void note_in_turn(Session* session);
  // Ends a session, whether it is part of the turn or not; its socket closes when the turn ends.
  void kill(Session* session);
  void note_protocol_error(const Session& session, const std::string& error);
  void note_cross_protocol_request(const Session& session);
  void note_query_buffer_overrun(const Session& session);
  bool writes_denied() const;
  std::string storage_error() const;
  const storage::Status& storage_failure() const { return storage_failure_; }
  std::string note_read_failure(const storage::Status& failure);
  void pause(PauseMode mode, int64_t until_steady_ns);
  void unpause();
  bool paused_for(const Session& session, Args args) const;
  uint64_t random();
  // SAVE and BGSAVE: a checkpoint into a directory beside the data; "" when started, else the error
  // line.
  std::string start_checkpoint();
  // SAVE: as start_checkpoint, and waits for it.
  std::string checkpoint_now();
  bool checkpoint_running() const { return checkpoint_running_; }
  bool checkpoint_pending() const { return checkpoint_wanted_ || checkpoint_running_; }
  bool last_checkpoint_ok() const { return last_checkpoint_ok_; }
  int64_t last_checkpoint_s() const { return last_checkpoint_s_; }
  int64_t started_wall_ns() const { return started_wall_ns_; }
  int64_t started_steady_ns() const { return started_steady_ns_; }
  const std::string& run_id() const { return run_id_; }
  // How long the oldest change has waited for a sync; 0 when all are synced.
  int64_t unsynced_ns() const;
  const RateMeter& command_rate() const { return command_rate_; }
  const RateMeter& input_rate() const { return input_rate_; }
  const RateMeter& output_rate() const { return output_rate_; }
  void reset_stats();

  Stats stats;
  ShutdownRequest shutdown;

 private:
  struct Held {
    uint64_t turn;
    uint64_t session;
    size_t produced;
  };

  static constexpr std::string_view kLeadKey = "clock-lead-ns";

  void commit();
  void fail_turn(const storage::Status& failure);
  void fail_sync(const storage::Status& failure);
  void give_up_writing_back();
  void release_held();
  void touch(Session* session);
  // Ends the sessions whose replies wait for later turns: nobody can say what became of those.
  void drop_held_after(uint64_t turn);
  void drop_unsynced();
  void finish_session_turn(Session* session, bool durable, int64_t now_ns);
  bool durable(uint64_t turn) const;
  void sync_when_due();
  void close_idle_sessions();
  void set_event_classes(std::string_view letters);
  void set_slow_log_rules();
  void publish_event(std::string_view event, int database, std::string_view key);
  void sample_rates();
  void note_turn_length();
  void note_latency(std::string_view event, int64_t duration_ns);
  // The loop's part in writing back.
  void work_on_keys();
  void try_to_recover();
  void advance_checkpoint();
  void store_lead();

  Config config_;
  Clock* clock_;
  Timeline timeline_;
  storage::Keyspace keys_;
  Executor executor_;
  std::unique_ptr<acl::Acl> acl_;
  std::unique_ptr<script::Scripts> scripts_;
  std::unique_ptr<script::Functions> functions_;
  std::function<void()> busy_poll_;
  const RunningScript* long_script_ = nullptr;
  bool long_script_killed_ = false;
  int64_t noted_long_script_ns_ = 0;
  size_t busy_mark_ = 0;  // in in_turn_: those behind it came while a script ran long
  uint64_t data_epoch_ = 0;
  Waiting waiting_;
  Pubsub pubsub_;
  Monitors monitors_;
  SlowLog slow_log_;
  LatencyMonitor latency_;
  ErrorFigures errors_;
  Tracking tracking_;
  uint32_t event_classes_ = 0;
  Policies policies_;
  RequestCache request_cache_;
  UniqueIds unique_ids_;
  TopKeys top_denied_;
  TopKeys top_taken_;
  std::map<uint64_t, std::unique_ptr<Session>> sessions_;
  uint64_t next_session_ = 1;
  std::vector<Session*> in_turn_;
  std::vector<Session*> touched_;
  uint64_t turns_ended_ = 0;
  std::vector<uint64_t> runnable_;  // session ids, since sessions may end meanwhile
  std::vector<uint64_t> paused_;
  std::deque<Held> held_;
  int64_t last_sync_steady_ns_ = 0;
  int64_t unsynced_since_ns_ = 0;  // steady; 0: everything is synced
  int64_t stored_lead_ns_ = 0;
  storage::Status storage_failure_;
  int64_t next_recovery_steady_ns_ = 0;
  int64_t next_idle_check_steady_ns_ = 0;
  PauseMode pause_mode_ = PauseMode::kNone;
  int64_t pause_until_steady_ns_ = 0;
  bool checkpoint_wanted_ = false;
  bool checkpoint_running_ = false;
  bool last_checkpoint_ok_ = true;
  int64_t last_checkpoint_s_ = 0;
  std::string checkpoint_directory_;
  int64_t started_wall_ns_ = 0;
  int64_t started_steady_ns_ = 0;
  int64_t turn_begin_steady_ns_ = 0;  // 0: no turn is running
  RateMeter command_rate_;
  RateMeter input_rate_;
  RateMeter output_rate_;
  std::string run_id_;
  uint64_t random_state_ = 0;
};

}  // namespace weir::server
