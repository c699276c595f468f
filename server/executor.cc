#include "server/executor.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "server/acl/acl.h"
#include "server/arguments.h"
#include "server/command_facts.h"
#include "server/redaction.h"
#include "server/server.h"
#include "server/session.h"
#include "storage/opening.h"

namespace weir::server {
namespace {

constexpr uint64_t kTimedOneIn = 16;
constexpr int64_t kNsPerS = 1'000'000'000;

bool is_exec(const Command& command) { return command.name == "exec"; }

// Whether the command needs a long collection that is not in memory and not read to its end
// (storage/opening.h). Then nothing of it is left, and it has to be run again.
bool taken_back_to_open(Server* server, size_t reply_begin, std::string* output) {
  if (!storage::still_opening(server->keys().failure())) return false;
  server->executor().roll_back();
  output->resize(reply_begin);
  return true;
}

bool queues_writes(const Session& session) { return (session.transaction.flags() & kWrites) != 0; }

}  // namespace

int Call::database() const { return session.database; }

Executor::Executor(Server* server) : server_(server), figures_(table_.count()) {}

std::string unknown_command_error(const CommandTable& table, Args args) {
  constexpr size_t kShownMax = 128;
  const Command* container = table.find(args[0]);
  if (container != nullptr && args.size() > 1) {
    return "ERR unknown subcommand '" + std::string(shown_part(args[1]).substr(0, kShownMax)) +
           "'. Try " + resp::to_upper(container->name) + " HELP.";
  }
  std::string shown;
  for (size_t i = 1; i < args.size() && shown.size() < kShownMax; ++i) {
    const size_t room = kShownMax - shown.size();
    shown.append("'").append(shown_part(args[i]).substr(0, room)).append("' ");
  }
  return "ERR unknown command '" + std::string(shown_part(args[0]).substr(0, kShownMax)) +
         "', with args beginning with: " + shown;
}

bool is_cross_protocol_request(Args args) {
  return resp::equals_ignoring_case(args[0], "post") ||
         resp::equals_ignoring_case(args[0], "host:");
}

std::string arity_error(const Command& command) {
  return "ERR wrong number of arguments for '" + std::string(command.name) + "' command";
}

bool arity_fits(const Command& command, size_t args) {
  const auto count = static_cast<int>(std::min<size_t>(args, 1 << 30));
  return command.arity >= 0 ? count == command.arity : count >= -command.arity;
}

std::string Executor::refusal(Session& session, const Command* command, Args args) {
  if (command == nullptr) return unknown_command_error(table_, args);
  if (!arity_fits(*command, args.size()) || command->run == nullptr) return arity_error(*command);
  if (!session.authenticated && !command->has(kNoAuth) && server_->acl().asks_for_login())
    return "NOAUTH Authentication required.";
  if (session.transaction.open() && command->has(kNoMulti))
    return "ERR Command not allowed inside a transaction";
  if (!session.user->unrestricted()) {
    std::string denied = server_->acl().refusal(session, *command, args);
    if (!denied.empty()) return denied;
  }
  const bool writes = command->has(kWrites) || (is_exec(*command) && queues_writes(session));
  if (writes && server_->writes_denied()) return server_->storage_error();
  if (session.protocol() == 2 && session.subscribed() && !command->has(kWhenSubscribed)) {
    return "ERR Can't execute '" + std::string(command->name) +
           "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this "
           "context";
  }
  if (session.monitors && command->has(kReads | kWrites | kMayReplicate))
    return "ERR Replica can't interact with the keyspace";
  return {};
}

// Whatever is refused on the way into a transaction is missing from it, so that EXEC will refuse
// the rest; and a refused EXEC ends it.
void Executor::reject(Session& session, const Command* command, std::string_view error) {
  if (command != nullptr) ++figures_of(*command).rejected;
  server_->note_error_reply(error);
  session.transaction.abort();
  if (command == nullptr || !is_exec(*command)) return session.reply_.error(error);
  session.transaction.clear(server_->keys());
  if (error.starts_with("ERR ")) error.remove_prefix(4);
  session.reply_.error("EXECABORT Transaction discarded because of: " + std::string(error));
}

void Executor::queue(Session& session, const Command& command, Args args) {
  Transaction& transaction = session.transaction;
  session.reply_.status("QUEUED");
  if (transaction.aborted() || transaction.watched_changed(server_->keys())) return;
  transaction.queue(command, args);
  const int64_t bytes_max = server_->config().client_query_buffer_limit;
  if (transaction.memory_bytes() <= static_cast<size_t>(bytes_max)) return;
  server_->note_query_buffer_overrun(session);
  session.kill();
}

// Most requests are for the same command as the one before.
const Command* Executor::resolve(Args args) {
  if (recent_ != nullptr && !args.empty() && args[0] == recent_spelling_) {
    return recent_;
  }
  const Command* command = table_.resolve(args);
  const bool plain = command != nullptr && !command->has(kContainer) &&
                     command->name.find('|') == std::string_view::npos;
  if (plain) {
    recent_ = command;
    recent_spelling_ = args[0];
    recent_index_ = table_.index_of(*command);
  }
  return command;
}

CommandFigures& Executor::figures_of(const Command& command) {
  return figures_[&command == recent_ ? recent_index_ : table_.index_of(command)];
}

bool Executor::execute(Session& session, Args args) {
  const Command* command = resolve(args);
  if (command == nullptr && is_cross_protocol_request(args)) {
    server_->note_cross_protocol_request(session);
    session.kill();
    return false;
  }
  const size_t reply_begin = session.output_.size();
  server_->stats.commands += 1;
  ++session.commands_run;
  if (server_->long_script() != nullptr) {
    execute_while_busy(session, command, args);
    return false;
  }
  if (std::string error = refusal(session, command, args); !error.empty()) {
    reject(session, command, error);
    return command != nullptr && command->has(kWrites);
  }
  session.last_command = command;
  if (session.transaction.open() && !command->has(kNotQueued)) {
    queue(session, *command, args);
    return false;
  }
  const uint32_t flags = command->flags | session.transaction.flags();
  const int64_t now_ns = server_->timeline().now_ns();
  begin(now_ns);
  session.may_wait = !session.denies_waiting;
  const uint64_t hits = server_->stats.keyspace_hits;
  const uint64_t misses = server_->stats.keyspace_misses;
  run(session, *command, args, session.reply_);
  session.may_wait = false;
  if (session.waiting() && !server_->keys().failure().ok()) {  // the error is the answer
    server_->waiting().forget(session.id);
    session.forget_wait();
  }
  if (taken_back_to_open(server_, reply_begin, &session.output_)) {
    session.paused_ = true;  // runs it again in a later turn, so that others come in between
    server_->stats.keyspace_hits = hits;
    server_->stats.keyspace_misses = misses;
    --server_->stats.commands;
    --session.commands_run;
    --figures_of(*command).calls;
    return false;
  }
  settle(session, *command, reply_begin);
  if (server_->waiting().anybody_ready(now_ns)) serve_waiting();
  return (flags & (kReads | kWrites | kMayReplicate)) != 0;
}

// Nothing here may begin or settle a command of the keyspace: the script's is still open.
void Executor::execute_while_busy(Session& session, const Command* command, Args args) {
  std::string error = refusal(session, command, args);
  if (error.empty() && !command->has(kAllowBusy)) error = busy_error(*server_->long_script());
  if (!error.empty()) return reject(session, command, error);
  session.last_command = command;
  if (session.transaction.open() && !command->has(kNotQueued))
    return queue(session, *command, args);
  const size_t reply_begin = session.output_.size();
  const Command* const outer = std::exchange(outer_, nullptr);
  run(session, *command, args, session.reply_);
  outer_ = outer;
  if (session.output_.size() <= reply_begin || session.output_[reply_begin] != '-') return;
  server_->note_error_reply(std::string_view(session.output_).substr(reply_begin));
  ++figures_of(*command).failed;
}

void Executor::begin(int64_t now_ns) {
  server_->publish_own_events();
  server_->keys().begin_command(now_ns);
  message_mark_ = server_->pubsub().mark();
}

void Executor::roll_back() {
  server_->keys().roll_back();
  server_->pubsub().drop_after(message_mark_);
}

// One that fails is taken back alone: each begins where the one before it has ended.
void Executor::run_queued(Call& call) {
  Session& session = call.session;
  session.transaction.unwatch(call.keys);
  session.may_wait = false;
  const std::vector<QueuedCommand>& queued = session.transaction.queued();
  call.reply.array(static_cast<int64_t>(queued.size()));
  for (const QueuedCommand& next : queued) {
    const size_t reply_begin = session.output_.size();
    const std::vector<std::string_view> args(next.args.begin(), next.args.end());
    const std::string denied = server_->acl().refusal_at_exec(session, *next.command, args);
    do {
      begin(call.now_ns);
      if (!denied.empty()) {
        session.reply_.error(denied);
      } else {
        run(session, *next.command, args, session.reply_);
      }
    } while (taken_back_to_open(server_, reply_begin, &session.output_));
    settle(session, *next.command, reply_begin);
  }
  begin(call.now_ns);  // with no failure of a reading left
}

// What a command leaves behind when its reply is known.
void Executor::settle(Session& session, const Command& command, size_t reply_begin) {
  storage::Keyspace& keys = server_->keys();
  if (!keys.failure().ok()) {
    roll_back();
    session.output_.resize(reply_begin);
    session.reply_.error(server_->note_read_failure(keys.failure()));
  }
  if (session.output_.size() > reply_begin && session.output_[reply_begin] == '-') {
    server_->note_error_reply(std::string_view(session.output_).substr(reply_begin));
    ++figures_of(command).failed;
    if (!command.has(kKeepsOnError)) roll_back();
  }
}

void Executor::serve_waiting() { server_->waiting().serve(server_->timeline().now_ns(), *this); }

// Somebody who is gone can still give back what was taken for him.
bool Executor::act(Waiter& waiter, Act act) {
  std::optional<Session> nobody;
  Session* session = server_->find_session(waiter.session);
  if (session != nullptr && session->dead()) session = nullptr;
  if (session == nullptr) act = Act::kAbandon;
  if (act == Act::kAbandon) {
    session = &nobody.emplace(server_, waiter.session, Peer());
    session->database = waiter.database;
  } else {
    session->begin_turn_if_needed();
  }
  storage::Keyspace& keys = server_->keys();
  begin(server_->timeline().now_ns());
  const size_t reply_begin = session->output_.size();
  const std::vector<std::string_view> args(waiter.args.begin(), waiter.args.end());
  Call call{.server = *server_,
            .session = *session,
            .keys = keys,
            .reply = session->reply_,
            .command = *waiter.command,
            .args = args,
            .now_ns = keys.now_ns()};
  bool done = true;
  const auto try_once = [&] {
    if (act == Act::kTry) done = waiter.try_again(call);
    const bool in_error = waiter.unblocked == Waiter::Unblocked::kAsError;
    if (act == Act::kTimeOut && !in_error) waiter.time_out(call);
    if (act == Act::kAbandon || in_error) waiter.abandon(call);
    if (act == Act::kTimeOut && in_error)
      call.reply.error("UNBLOCKED client unblocked via CLIENT UNBLOCK");
  };
  server_->tracking().follow(call, try_once);
  while (taken_back_to_open(server_, reply_begin, &session->output_)) {
    waiter.successor.reset();
    begin(call.now_ns);
    server_->tracking().follow(call, try_once);
  }
  if (!keys.failure().ok()) {  // the error is the answer
    waiter.successor.reset();
    done = true;
  }
  settle(*session, *waiter.command, reply_begin);
  if (done && !nobody && waiter.successor == nullptr) session->end_wait(reply_begin);
  return done;
}

// Whoever waits for what a command may have changed is looked at behind it.
void Executor::signal_keys(const Session& session, const Command& command, Args args) {
  if (!has_keys(command)) return server_->waiting().signal_all();
  for (const std::string_view key : keys_of(command, args)) {
    server_->waiting().signal(session.database, key);
  }
}

void Executor::run(Session& session, const Command& command, Args args, resp::ReplyWriter& reply) {
  CommandFigures& figures = figures_of(command);
  const bool timed = figures.calls++ % kTimedOneIn == 0;
  Call call{.server = *server_,
            .session = session,
            .keys = server_->keys(),
            .reply = reply,
            .command = command,
            .args = args,
            .now_ns = server_->keys().now_ns()};
  const bool is_watched = server_->monitors().any();
  if (is_watched && command.has(kSkipMonitor)) server_->monitors().show(call, is_in_script());
  const int64_t begin_ns = begin_look_ns(timed);
  const Command* const outer = std::exchange(outer_, &command);
  if (server_->tracking().any()) {
    server_->tracking().follow(call, [&] { command.run(call); });
  } else {
    command.run(call);
  }
  outer_ = outer;
  if (timed) note_timed(&figures, server_->clock().steady_ns() - begin_ns);
  if (server_->slow_log().may_be_slow(server_->clock().coarse_steady_ns() - begin_ns))
    note_if_slow(call, begin_ns);
  const bool ran = !storage::still_opening(call.keys.failure());
  if (is_watched && ran && !command.has(kSkipMonitor | kAdmin))
    server_->monitors().show(call, is_in_script());
  if (command.has(kWrites) && !command.has(kWakesNobody) && !server_->waiting().empty()) {
    signal_keys(session, command, args);
  }
}

// A look at the exact clock costs as much as a small command: what was looked up for the instant
// is used, and inside scripts and EXEC the coarse clock, where it will do.
int64_t Executor::begin_look_ns(bool timed) const {
  Clock& clock = server_->clock();
  if (timed) return clock.steady_ns();
  const bool looked = outer_ == nullptr && server_->long_script() == nullptr;
  if (looked) return server_->timeline().looked_steady_ns();
  return server_->slow_log().wants_exact_begin() ? clock.steady_ns() : clock.coarse_steady_ns();
}

void Executor::note_timed(CommandFigures* figures, int64_t duration_ns) {
  figures->timed_ns += duration_ns;
  ++figures->timed;
  if (!server_->config().latency_tracking) return;
  if (figures->durations == nullptr) figures->durations = std::make_unique<DurationHistogram>();
  figures->durations->add(duration_ns);
}

// A session that waits is doing nothing, however long it does so.
void Executor::note_if_slow(const Call& call, int64_t begin_ns) {
  const int64_t duration_ns = server_->clock().steady_ns() - begin_ns;
  if (server_->latency().on()) {
    const int64_t unix_s = server_->clock().wall_ns() / kNsPerS;
    server_->latency().note(call.command.has(kFast) ? "fast-command" : "command", unix_s,
                            duration_ns);
  }
  const bool logs = server_->slow_log().is_slow(duration_ns) && !call.session.waiting();
  if (!logs || call.command.has(kSkipSlowLog)) return;
  const std::vector<std::string_view> args = redacted(call.command, call.args);
  SlowLog::Entry entry{.unix_s = call.now_ns / kNsPerS,
                       .duration_us = duration_ns / 1000,
                       .args = {args.begin(), args.end()},
                       .address = is_in_script() ? "?:0" : call.session.peer.address,
                       .client_name = is_in_script() ? "" : call.session.name};
  server_->slow_log().add(std::move(entry));
}

bool Executor::is_in_script() const { return outer_ != nullptr && !is_exec(*outer_); }

void Executor::reset_figures() {
  for (CommandFigures& figures : figures_) figures = {};
}

}  // namespace weir::server
