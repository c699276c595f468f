#include "server/core/run/executor.h"

#include <algorithm>
#include <string>
#include <utility>

#include "server/acl/acl.h"
#include "server/command/arguments.h"
#include "server/command/command_errors.h"
#include "server/command/command_facts.h"
#include "server/config/config.h"
#include "server/core/clients/sessions.h"
#include "server/core/run/busy_script.h"
#include "server/core/run/cluster.h"
#include "server/core/shard/shard_role.h"
#include "server/os/clock.h"
#include "server/os/log.h"
#include "server/session/session.h"

namespace weir::server {
namespace {

// A failure that takes a whole transaction back, not one of its commands.
bool is_for_all(const storage::Status& failure) {
  using Code = storage::Status::Code;
  return failure.code() == Code::kTooMuch || failure.code() == Code::kBehind;
}

void note_cross_protocol_request(const Session& session) {
  log_warning(
      "client {} ({}) closed: it sent POST or Host:, as a web page does that makes a browser talk "
      "to this port (possible SECURITY ATTACK by cross-protocol scripting)",
      session.id, session.client().peer().address);
}

}  // namespace

Executor::Executor(const ExecutorNeeds& needs)
    : needs_(needs),
      cluster_(std::make_unique<Cluster>(needs.config, needs.keys, needs.clock,
                                         needs.shard_role->membership(),
                                         [host = needs.host] { return host->random(); })),
      admission_({.commands = needs.commands,
                  .config = needs.config,
                  .acl = needs.acl,
                  .cluster = cluster_.get(),
                  .shard_role = needs.shard_role,
                  .health = needs.health}),
      counts_({.commands = needs.commands,
               .config = needs.config,
               .clock = needs.clock,
               .timeline = needs.timeline,
               .report = needs.report}),
      audit_trail_(&needs.host->audit(), needs.clock),
      running_(needs, &counts_, &audit_trail_),
      waiting_sessions_(needs, &running_, cluster_.get()) {
  needs.shard_role->end_waits_by(
      [cluster = cluster_.get()](const Session& session, Waiter& waiter) {
        return cluster->end_of_wait(session, waiter);
      });
}

Executor::~Executor() = default;

// A command that is refused on the way into a transaction is missing from it, so EXEC will refuse
// the rest; and a refused EXEC ends the transaction.
void Executor::reject(Session& session, const Command* command, std::string_view error) {
  count_rejected(command, error);
  session.transaction().abort();
  if (command == nullptr || !command->has(kRunsQueued))
    return session.replies().writer().error(error);
  session.transaction().clear(*needs_.keys);
  if (Cluster::is_redirection(error)) return session.replies().writer().error(error);
  if (error.starts_with("ERR ")) error.remove_prefix(4);
  session.replies().writer().error("EXECABORT Transaction discarded because of: " +
                                   std::string(error));
}

void Executor::queue(Session& session, const Command& command, Args args) {
  Transaction& transaction = session.transaction();
  session.replies().writer().status("QUEUED");
  if (transaction.aborted() || transaction.watched_touched()) return;
  transaction.queue(command, args);
  const int64_t bytes_max = needs_.config->client_query_buffer_limit;
  if (transaction.queued().memory_bytes() <= static_cast<size_t>(bytes_max)) return;
  needs_.sessions->host().note_query_buffer_overrun(session);
  session.kill();
}

// Most requests are for the same command as the one before.
const Command* Executor::resolve(Args args) {
  if (recent_ != nullptr && !args.empty() && args[0] == recent_spelling_) {
    return recent_;
  }
  const Command* command = table().resolve(args);
  const bool plain = command != nullptr && !command->has(kContainer) && !command->is_subcommand();
  if (plain) {
    recent_ = command;
    recent_spelling_ = args[0];
    recent_metrics_ = &counts_.of(*command);
  }
  return command;
}

CommandMetrics& Executor::metrics_of(const Command& command) {
  return &command == recent_ ? *recent_metrics_ : counts_.of(command);
}

CommandMetrics& Executor::counted_metrics(const Command& command) {
  CommandMetrics& metrics = metrics_of(command);
  if (outer_ != nullptr) running_.effects().note(&metrics);
  return metrics;
}

Ran Executor::execute(Session& session, Args args) {
  const Command* command = resolve(args);
  if (command == nullptr && is_cross_protocol_request(args)) {
    note_cross_protocol_request(session);
    session.kill();
    return {};
  }
  needs_.report->stats.commands += 1;
  session.activity().count_command();
  if (needs_.busy->current() != nullptr) {
    execute_while_busy(session, command, args);
    return {.command = command};
  }
  if (const auto admitted = admission_.admit({session, command, args}); !admitted) {
    reject(session, command, admitted.error());
    // In a shard no error of this kind has to do with what the turn does, or waits for its commit.
    const bool is_alone = needs_.shard_role->membership() == nullptr;
    return {.touched_data = is_alone && command != nullptr && command->has(kWrites),
            .command = command};
  }
  session.activity().note_command(command);
  if (session.transaction().open() && !command->has(kNotQueued)) {
    queue(session, *command, args);
    return {.command = command};
  }
  const uint32_t flags = command->flags | session.transaction().flags();
  if (needs_.config->cluster_enabled) cluster_->begin_command();
  const int64_t now_ns = needs_.timeline->now_ns();
  running_.begin(now_ns);
  running_.bound_reply(&session);
  session.wait_state().permit(true);
  run(session, *command, args, session.replies().writer());
  const size_t reply_begin = session.replies().reply_begin();
  session.replies().unbound();
  session.wait_state().permit(false);
  const ShardRole::Outcome outcome = needs_.shard_role->after(*command);
  if (outcome.is_taken_back) running_.effects().drop_verdicts();
  if (session.wait_state().waiting() && !needs_.keys->failure().ok()) {  // the error is the answer
    needs_.waiting->forget(session.id);
    session.wait_state().end();
  }
  if (needs_.keys->failure().is_retry()) {
    // The session runs the command again in a later turn, so that others come in between.
    const Hold hold = running_.take_back_for_retry(reply_begin, &session.replies());
    --needs_.report->stats.commands;
    session.activity().uncount_command();
    return {.hold = hold, .command = command};
  }
  if (may_name_several_keys(*command)) cluster_->note_slots(*command, args);
  running_.settle(session, *command, reply_begin);
  if (needs_.waiting->anybody_ready(now_ns)) serve_waiting();
  const bool may_depend =
      !outcome.is_taken_back && (flags & (kReads | kWrites | kMayReplicate)) != 0;
  return {.touched_data = outcome.waits_for_commits || may_depend,
          .command = command,
          .early_permits = outcome.early_permits};
}

// Nothing here may begin or settle a command of the keyspace: the script's is still open.
void Executor::execute_while_busy(Session& session, const Command* command, Args args) {
  if (const auto admitted = admission_.admit({session, command, args}); !admitted)
    return reject(session, command, admitted.error());
  if (!command->has(kAllowBusy))
    return reject(session, command, busy_error(*needs_.busy->current()));
  session.activity().note_command(command);
  if (session.transaction().open() && !command->has(kNotQueued))
    return queue(session, *command, args);
  const size_t reply_begin = session.replies().savepoint();
  const Command* const outer = std::exchange(outer_, nullptr);
  run(session, *command, args, session.replies().writer());
  outer_ = outer;
  const std::string_view reply = session.replies().since(reply_begin);
  if (reply.starts_with('-')) count_failed(*command, reply);
}

// A queued command that fails is taken back alone, because each begins where the one before it has
// ended. But what would be too much for one command is too much for all of them together, and takes
// all of them back.
void Executor::run_queued(Call& call) {
  Session& session = call.session;
  session.wait_state().permit(false);
  const storage::TurnInProgress::Savepoint first = call.keys.running().savepoint();
  const Effects::Beginning first_effects = running_.effects().here();
  const QueuedCommands& queued = session.transaction().queued();
  RequestSlot slots;
  call.reply.array(static_cast<int64_t>(queued.count()));
  for (QueuedCommands::Walk next(queued); next.next();) {
    const size_t reply_begin = session.replies().savepoint();
    const Args args = next.args();
    const auto allowed = needs_.acl->allow_at_exec(session, next.command(), args);
    do {
      running_.begin_next(call.now_ns);
      if (!allowed) {
        session.replies().writer().error(allowed.error());
      } else {
        call.work().charge_probes(args.size());
        run(session, next.command(), args, session.replies().writer());
      }
    } while (call.keys.failure().code() == storage::Status::Code::kNotYet &&
             running_.take_back_for_retry(reply_begin, &session.replies()) != Hold::kNone);
    const storage::Status failure = call.keys.failure();
    if (running_.is_reply_too_long() || is_for_all(failure)) {
      call.keys.running().roll_back(first);
      running_.effects().drop_messages_after(first_effects);
      running_.begin_next(call.now_ns);
      running_.effects().reach_back_to(first_effects, failure.is_retry());
      return call.keys.running().fail(failure);
    }
    running_.settle(session, next.command(), reply_begin);
    slots.add(next.command(), args);
  }
  cluster_->note_slots(slots);
  running_.begin_next(call.now_ns);  // with no failure of a reading left
}

// Marks the waiters that wait for what a command may have changed, so that they are tried after it.
void Executor::signal_keys(const Session& session, const Command& command, Args args) {
  if (!has_keys(command)) {
    needs_.host->work().charge_entries(needs_.waiting->size());
    return needs_.waiting->signal_all();
  }
  for (const std::string_view key : keys_of(command, args)) {
    needs_.waiting->signal(session.client().database(), key);
  }
}

void Executor::run(Session& session, const Command& command, Args args, resp::ReplyWriter& reply) {
  CommandMetrics& metrics = counted_metrics(command);
  const bool timed = CommandCounts::is_timed(metrics);
  Call call{.host = *needs_.host,
            .limiters = *needs_.limiters,
            .session = session,
            .keys = *needs_.keys,
            .reply = reply,
            .command = command,
            .args = args,
            .database = session.client().database(),
            .now_ns = needs_.keys->running().now_ns()};
  const bool is_monitored = needs_.messages->monitors().any();
  if (is_monitored && command.has(kSkipMonitor))
    needs_.messages->monitors().show(call, within() == Within::kScript);
  const bool was_looked_up = outer_ == nullptr && needs_.busy->current() == nullptr;
  const int64_t begin_ns = counts_.begin_ns(timed, was_looked_up);
  const size_t reply_begin = reply.buffer()->size();
  const Command* const outer = std::exchange(outer_, &command);
  if (needs_.messages->tracking().any()) {
    needs_.messages->tracking().follow(
        call, [&] { running_.attempt(session, reply, [&] { command.run(call); }); });
  } else {
    running_.attempt(session, reply, [&] { command.run(call); });
  }
  outer_ = outer;
  if (call.keys.failure().is_retry()) return needs_.host->audit().clear();  // as if it had not run
  if (must_audit(command)) [[unlikely]]
    audit(call, reply_begin);
  counts_.note_end(call, &metrics, within(), timed, begin_ns);
  if (!call.trace.empty()) [[unlikely]]
    counts_.note_span(call, within(), begin_ns,
                      std::string_view(*reply.buffer()).substr(reply_begin));
  if (is_monitored && !command.has(kSkipMonitor | kAdmin))
    needs_.messages->monitors().show(call, within() == Within::kScript);
  const bool wrote = command.has(kWrites) && !session.wait_state().waiting();
  if (wrote && !command.has(kWakesNobody) && !needs_.waiting->empty()) {
    signal_keys(session, command, args);
  }
}

void Executor::audit(const Call& call, size_t reply_begin) {
  // The commit of a command that needs it early (SAVE) has replaced what stood before its reply.
  if (within() == Within::kNothing) reply_begin = call.session.replies().reply_begin();
  const std::string_view written = *call.reply.buffer();
  const bool failed = written.substr(std::min(reply_begin, written.size())).starts_with('-');
  if (failed || !call.keys.failure().ok()) return needs_.host->audit().clear();
  audit_trail_.note(call, within());
}

Within Executor::within() const {
  if (outer_ == nullptr) return Within::kNothing;
  return outer_->has(kRunsQueued) ? Within::kTransaction : Within::kScript;
}

void Executor::count_failed(const Command& command, std::string_view error) {
  counts_.note_error(error);
  ++counted_metrics(command).failed;
}

void Executor::count_rejected(const Command* command, std::string_view error) {
  counts_.note_error(error);
  if (command != nullptr) ++counted_metrics(*command).rejected;
}

}  // namespace weir::server
