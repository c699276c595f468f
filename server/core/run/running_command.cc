#include "server/core/run/running_command.h"

#include <exception>
#include <new>
#include <utility>

#include "base/check.h"
#include "server/core/clients/sessions.h"
#include "server/core/disk/storage_health.h"

namespace weir::server {

RunningCommand::RunningCommand(const ExecutorNeeds& needs, CommandCounts* counts, AuditTrail* audit)
    : needs_(needs),
      counts_(*counts),
      effects_(needs.messages, needs.limiters, needs.report, audit) {}

void RunningCommand::begin(int64_t now_ns) {
  needs_.messages->publish_own_events();
  needs_.keys->running().begin_command(now_ns);
  effects_.begin();
}

void RunningCommand::roll_back() {
  needs_.keys->running().roll_back();
  effects_.drop_messages();
}

void RunningCommand::begin_next(int64_t now_ns) {
  needs_.messages->publish_own_events();
  needs_.keys->running().begin_next_of_transaction(now_ns);
  effects_.begin_next();
}

void RunningCommand::bound_reply(Session* session) {
  reply_too_long_ = false;
  session->replies().bound(needs_.sessions->bounds().reply_bytes_max(*session));
}

// REQUIRES: an exception is being handled.
void RunningCommand::note_exception(const Session& session, const resp::ReplyWriter& reply) {
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

Hold RunningCommand::take_back_for_retry(size_t reply_begin, Replies* replies) {
  const storage::Status& failure = needs_.keys->failure();
  if (!failure.is_retry()) return Hold::kNone;
  const bool opening = failure.code() == storage::Status::Code::kNotYet;
  needs_.keys->running().roll_back();
  effects_.drop();
  replies->cut(reply_begin);
  return opening ? Hold::kOpening : Hold::kWriteBack;
}

std::string RunningCommand::failure_line(const storage::Status& failure) {
  using Code = storage::Status::Code;
  if (failure.code() == Code::kAborted) return failure.message();
  if (failure.code() == Code::kTooMuch)
    return "OOM command not allowed when used memory > 'maxmemory': " + failure.message();
  return needs_.health->note_read_failure(failure);
}

void RunningCommand::settle(Session& session, const Command& command, size_t reply_begin) {
  storage::Keyspace& keys = *needs_.keys;
  if (!keys.failure().ok()) {
    roll_back();
    session.replies().cut(reply_begin);
    session.replies().writer().error(failure_line(keys.failure()));
  }
  const bool counted = std::exchange(error_counted_, false);
  const std::string_view reply = session.replies().since(reply_begin);
  if (reply.starts_with('-')) {
    if (!counted) counts_.note_error(reply);
    ++counts_.of(command).failed;
    if (!command.has(kKeepsOnError)) roll_back();
  }
  if (std::exchange(reply_too_long_, false)) needs_.sessions->bounds().kill_for_output(&session);
}

}  // namespace weir::server
