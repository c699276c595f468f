// What becomes of a command when it has run: of its changes, its reply, what it has thrown, and how
// long it took.
#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/time_units.h"
#include "server/command/redaction.h"
#include "server/core/clients/messages.h"
#include "server/core/clients/sessions.h"
#include "server/core/disk/storage_health.h"
#include "server/core/run/busy_script.h"
#include "server/core/run/executor.h"
#include "server/core/shard/office.h"
#include "server/limiter/take/limiters.h"
#include "server/os/clock.h"
#include "server/report/report.h"
#include "server/session/session.h"

namespace weir::server {

// REQUIRES: an exception is being handled.
void Executor::note_exception(const Session& session, const resp::ReplyWriter& reply) {
  using storage::Status;
  storage::Keyspace& keys = *needs_.keys;
  try {
    throw;
  } catch (const storage::ChangeRefused&) {
    // keys.failure() says why.
  } catch (const resp::ReplyTooLong&) {
    reply_too_long_ |= &reply == &session.replies().writer();
    keys.running().fail(Status::aborted(
        "ERR the reply to a command of the script is larger than script-memory-max, the "
        "script's changes are undone"));
  } catch (const std::bad_alloc&) {
    keys.running().fail(
        Status::too_much("the system gives no more memory, what the command changed is undone"));
  } catch (const BrokenCheck& broken) {
    needs_.report->note_internal_error(broken.what());
    keys.running().fail(Status::aborted("ERR internal error: " + broken.place()));
  } catch (const std::exception& other) {
    needs_.report->note_internal_error(other.what());
    keys.running().fail(Status::aborted(std::string("ERR internal error: ") + other.what()));
  }
}

Hold Executor::take_back_for_retry(size_t reply_begin, Replies* replies) {
  const storage::Status& failure = needs_.keys->failure();
  if (!failure.is_retry()) return Hold::kNone;
  const bool opening = failure.code() == storage::Status::Code::kNotYet;
  roll_back();
  forget_try();
  replies->cut(reply_begin);
  return opening ? Hold::kOpening : Hold::kWriteBack;
}

Executor::Marks Executor::marks_now() const {
  const Stats& stats = needs_.report->stats;
  return {.message = needs_.messages->pubsub().mark(),
          .monitor = needs_.messages->monitors().mark(),
          .nested = nested_.size(),
          .slow = needs_.report->slow_log.mark(),
          .hits = stats.keyspace_hits,
          .misses = stats.keyspace_misses};
}

void Executor::reset_figures() {
  for (CommandFigures& figures : figures_) figures = {};
}

void Executor::note_nested(CommandFigures* figures) {
  if (std::exchange(figures->noted_in, run_) == run_) return;
  nested_.push_back({.figures = figures,
                     .calls = figures->calls,
                     .timed = figures->timed,
                     .timed_ns = figures->timed_ns,
                     .rejected = figures->rejected,
                     .failed = figures->failed});
}

void Executor::forget_try() {
  Stats& stats = needs_.report->stats;
  stats.keyspace_hits = marks_.hits;
  stats.keyspace_misses = marks_.misses;
  needs_.limiters->verdicts.take_back();
  needs_.messages->monitors().drop_after(marks_.monitor);
  needs_.report->slow_log.drop_after(marks_.slow);
  for (; nested_.size() > marks_.nested; nested_.pop_back()) {
    const NestedBefore& before = nested_.back();
    before.figures->calls = before.calls;
    before.figures->timed = before.timed;
    before.figures->timed_ns = before.timed_ns;
    before.figures->rejected = before.rejected;
    before.figures->failed = before.failed;
  }
  ++run_;
}

std::string Executor::failure_line(const storage::Status& failure) {
  using Code = storage::Status::Code;
  if (failure.code() == Code::kAborted) return failure.message();
  if (failure.code() == Code::kTooMuch)
    return "OOM command not allowed when used memory > 'maxmemory': " + failure.message();
  return needs_.health->note_read_failure(failure);
}

void Executor::count_failed(const Command& command, std::string_view error) {
  needs_.report->note_error_reply(error);
  CommandFigures& figures = figures_of(command);
  if (outer_ != nullptr) note_nested(&figures);
  ++figures.failed;
}

void Executor::count_rejected(const Command* command, std::string_view error) {
  needs_.report->note_error_reply(error);
  if (command == nullptr) return;
  CommandFigures& figures = figures_of(*command);
  if (outer_ != nullptr) note_nested(&figures);
  ++figures.rejected;
}

// Ends a command whose reply is known: takes back what it changed if it has failed, and counts its
// error.
void Executor::settle(Session& session, const Command& command, size_t reply_begin) {
  storage::Keyspace& keys = *needs_.keys;
  if (!keys.failure().ok()) {
    roll_back();
    session.replies().cut(reply_begin);
    session.replies().writer().error(failure_line(keys.failure()));
  }
  const bool counted = std::exchange(error_counted_, false);
  const std::string_view reply = session.replies().since(reply_begin);
  if (reply.starts_with('-')) {
    if (!counted) needs_.report->note_error_reply(reply);
    ++figures_of(command).failed;
    if (!command.has(kKeepsOnError)) roll_back();
  }
  if (std::exchange(reply_too_long_, false)) needs_.sessions->bounds().kill_for_output(&session);
}

void Executor::note_timed(CommandFigures* figures, int64_t duration_ns) {
  figures->timed_ns += duration_ns;
  ++figures->timed;
  if (!needs_.config->latency_tracking) return;
  if (figures->durations == nullptr) figures->durations = std::make_unique<DurationHistogram>();
  figures->durations->add(duration_ns);
}

// A command that waits is not slow, however long it waits: its session does nothing meanwhile.
void Executor::note_if_slow(const Call& call, int64_t begin_ns) {
  const int64_t duration_ns = needs_.clock->steady_ns() - begin_ns;
  if (needs_.report->latency.on()) {
    const int64_t unix_s = needs_.clock->wall_ns() / kNsPerS;
    needs_.report->latency.note(call.command.has(kFast) ? "fast-command" : "command", unix_s,
                                duration_ns);
  }
  if (duration_ns > LoopWatch::kLongNs && outer_ == nullptr) {
    needs_.report->note_part("command " + std::string(call.command.name), duration_ns);
    call.session.activity().note_long();
  }
  const bool logs =
      needs_.report->slow_log.is_slow(duration_ns) && !call.session.wait_state().waiting();
  if (!logs || call.command.has(kSkipSlowLog)) return;
  // Two more than are kept, because what is secret may be told by the two words before it.
  const Args first = call.args.first(std::min(call.args.size(), SlowLog::kArgsMax + 2));
  SlowLog::Entry entry{.unix_s = call.wall_ns() / kNsPerS,
                       .duration_us = duration_ns / kNsPerUs,
                       .address = is_in_script() ? "?:0" : call.session.client().peer().address,
                       .client_name = is_in_script() ? "" : call.session.client().name()};
  needs_.report->slow_log.add(std::move(entry), redacted(call.command, first), call.args.size());
}

}  // namespace weir::server
