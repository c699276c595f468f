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

#include "server/command/event_class.h"
#include "server/config/config.h"
#include "server/core/checkpoints.h"
#include "server/core/client_bounds.h"
#include "server/core/durability.h"
#include "server/core/executor.h"
#include "server/core/holds.h"
#include "server/limiter/limiters.h"
#include "server/os/clock.h"
#include "server/os/random.h"
#include "server/os/rate_meter.h"
#include "server/os/version.h"
#include "server/pubsub/monitors.h"
#include "server/pubsub/pubsub.h"
#include "server/report/error_figures.h"
#include "server/report/latency_monitor.h"
#include "server/report/slow_log.h"
#include "server/script/busy.h"
#include "server/script/script_host.h"
#include "server/session/session.h"
#include "server/session/session_directory.h"
#include "server/session/session_host.h"
#include "server/tracking/tracking.h"
#include "server/waiting/waiting.h"
#include "storage/keyspace.h"

namespace weir::server {

class Descriptors;

namespace acl {
class Acl;
}  // namespace acl

namespace script {
class Functions;
class Scripts;
}  // namespace script

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
  uint64_t turns_run = 0;  // in which a session had something to say, changes or not
  int64_t turn_ns = 0;     // all of them together, from the first request to the replies' release
  int64_t turn_ns_max = 0;
  int64_t commit_ns = 0;  // the part of it that the log took
  int64_t commit_ns_max = 0;
  size_t working_set_bytes_max = 0;
  uint64_t internal_errors = 0;  // commands that met a bug
  uint64_t expired_before = 0;   // of the keyspace's figures, when statistics were reset
  uint64_t evicted_before = 0;
};

// What SHUTDOWN asked for.
struct ShutdownRequest {
  bool requested = false;
};

class Server final : public SessionHost,
                     public SessionDirectory,
                     public CallHost,
                     public ScriptHost {
 public:
  using StoreFactory = storage::Keyspace::StoreFactory;

  // `families`: the rows of all commands (commands/families.h).
  Server(Config config, Clock* clock, StoreFactory make_store, std::span<const Commands> families,
         const Seeds& seeds = Seeds::fresh());
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
  std::vector<Session*> take_runnable() { return holds_.take_runnable(); }
  bool has_runnable() const { return holds_.has_runnable(); }
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
  const Config& config() const override { return config_; }
  Config& mutable_config() { return config_; }
  // Whoever knows how many clients the process has room for; null where there is no bound.
  void set_descriptors(Descriptors* descriptors) { descriptors_ = descriptors; }
  Descriptors* descriptors() const { return descriptors_; }
  // Makes changed options take effect.
  void apply_config(const std::vector<std::string>& changed);
  Executor& executor() { return executor_; }
  acl::Acl& acl() { return *acl_; }
  script::Scripts& scripts() { return *scripts_; }
  script::Functions& functions() { return *functions_; }
  // For a script that has run long. False: somebody has ended it.
  bool serve_while_busy(const RunningScript& script) override;
  const RunningScript* long_script() const { return long_script_; }  // null: nobody is held up
  void kill_long_script() { long_script_killed_ = true; }
  // Another number: records may have changed otherwise than by commands.
  uint64_t data_epoch() const override { return data_epoch_; }
  storage::Keyspace& keys() override { return keys_; }
  const storage::Keyspace& keys() const { return keys_; }
  Timeline& timeline() { return timeline_; }
  Waiting& waiting() { return waiting_; }
  void wait(Call& call, std::unique_ptr<Waiter> waiter) override;
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
  void notify(EventClass event_class, std::string_view event, int database,
              std::string_view key) override;
  void count_look_up(bool found) override {
    ++(found ? stats.keyspace_hits : stats.keyspace_misses);
  }
  // The keyspace's own: what time has ended, what is new.
  void publish_own_events();
  // Between commands: hands what was published to whoever listens.
  void deliver_messages() override;
  void enforce_output_limit(Session* session) override;
  std::string describe(const Session& session) const override;
  Limiters& limiters() { return limiters_; }
  Clock& clock() const override { return *clock_; }
  Session* find_session(uint64_t id) const override;
  void each_session(const std::function<void(Session&)>& visit) const override;
  std::shared_ptr<const acl::User> default_user() const override;
  bool asks_for_login() const override;
  void note_in_turn(Session* session) override;
  bool execute(Session& session, Args args) override {
    const bool touched_data = executor_.execute(session, args);
    note_pressure();
    return touched_data;
  }
  void count_received(size_t bytes) override { stats.bytes_in += bytes; }
  void count_sent(size_t bytes) override { stats.bytes_out += bytes; }
  void kill(Session* session) override;
  void note_protocol_error(const Session& session, const std::string& error) override;
  const CommandTable& commands() const override { return executor_.table(); }
  std::string refusal_in_script(Session& session, const Command& command, Args args) override;
  void run_in_script(Session& session, const Command& command, Args args,
                     resp::ReplyWriter& reply) override {
    executor_.run(session, command, args, reply);
  }
  void roll_back() override { executor_.roll_back(); }
  void note_cross_protocol_request(const Session& session);
  void note_query_buffer_overrun(const Session& session) override;
  bool writes_denied() const override;
  std::string storage_error() const override;
  const storage::Status& storage_failure() const { return storage_failure_; }
  std::string note_read_failure(const storage::Status& failure);
  Holds& holds() { return holds_; }
  Hold hold_for(const Session& session, Args args) const override;
  bool turn_is_full() const override {
    // Sessions that are served while a script runs long have no part in its turn.
    return keys_.turn_bytes() > kTurnBytesMax && long_script_ == nullptr;
  }
  // To be called when any of this has changed.
  void note_pressure() { is_pressed_ = keys_.owes_too_much() || turn_is_full() || holds_.paused(); }
  void count_client_bytes(int64_t change) override;
  ClientBounds& client_bounds() { return client_bounds_; }
  // A bug was met (base/check.h); the command that met it is taken back.
  void note_internal_error(std::string_view what);
  uint64_t random() override { return random_.next(); }
  // BGSAVE: "" when a checkpoint was asked for, else the error line.
  std::string start_checkpoint();
  // SAVE: as start_checkpoint, and waits for it.
  std::string checkpoint_now();
  const Checkpoints& checkpoints() const { return checkpoints_; }
  int64_t started_wall_ns() const { return started_wall_ns_; }
  int64_t started_steady_ns() const { return started_steady_ns_; }
  const std::string& run_id() const { return run_id_; }
  int64_t unsynced_ns() const { return durability_.unsynced_ns(clock_->steady_ns()); }
  const RateMeter& command_rate() const { return command_rate_; }
  const RateMeter& input_rate() const { return input_rate_; }
  const RateMeter& output_rate() const { return output_rate_; }
  void reset_stats();

  Stats stats;
  ShutdownRequest shutdown;

 private:
  static constexpr size_t kTurnBytesMax = 64 << 20;  // of changes; then the turn ends

  struct Held {
    uint64_t turn;
    uint64_t session;
    size_t produced;
  };

  static constexpr std::string_view kLeadKey = "clock-lead-ns";

  void commit();
  void fail_turn(const std::vector<uint64_t>& begun_waits);
  void fail_sync(const storage::Status& failure);
  void give_up_writing_back();
  void release_held();
  void touch(Session* session);
  // Ends the sessions whose replies wait for later turns: nobody can say what became of those.
  void drop_held_after(uint64_t turn);
  void drop_unsynced();
  void finish_session_turn(Session* session, bool durable, int64_t now_ns);
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
  Descriptors* descriptors_ = nullptr;
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
  Random random_;
  Limiters limiters_;
  ClientBounds client_bounds_;
  Holds holds_;
  Durability durability_;
  Checkpoints checkpoints_;
  std::map<uint64_t, std::unique_ptr<Session>> sessions_;
  uint64_t next_session_ = 1;
  std::vector<Session*> in_turn_;
  std::vector<Session*> touched_;
  uint64_t turns_ended_ = 0;
  std::deque<Held> held_;
  int64_t stored_lead_ns_ = 0;
  storage::Status storage_failure_;
  int64_t next_recovery_steady_ns_ = 0;
  int64_t next_idle_check_steady_ns_ = 0;
  int64_t started_wall_ns_ = 0;
  int64_t started_steady_ns_ = 0;
  int64_t turn_begin_steady_ns_ = 0;  // 0: no turn is running
  RateMeter command_rate_;
  RateMeter input_rate_;
  RateMeter output_rate_;
  std::string run_id_;
};

// The server that runs a command. REQUIRES: it is one's own Call, not a test's.
inline Server& server_of(const Call& call) { return static_cast<Server&>(call.host); }

}  // namespace weir::server
