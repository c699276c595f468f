// What becomes of a command when it has run: its changes, its reply, and what it has thrown.
#include <exception>
#include <new>
#include <utility>

#include "base/check.h"
#include "server/core/executor.h"
#include "server/core/server.h"
#include "server/session/session.h"

namespace weir::server {

// REQUIRES: an exception is being handled.
void Executor::note_exception(const Session& session, const resp::ReplyWriter& reply) {
  using storage::Status;
  storage::Keyspace& keys = server_->keys();
  try {
    throw;
  } catch (const storage::ChangeRefused&) {
    // keys.failure() says why.
  } catch (const resp::ReplyTooLong&) {
    reply_too_long_ |= &reply == &session.reply_;
    keys.fail(Status::aborted(
        "ERR the reply to a command of the script is larger than script-memory-max"));
  } catch (const std::bad_alloc&) {
    keys.fail(Status::too_much("the system gives no more memory"));
  } catch (const BrokenCheck& broken) {
    server_->report().note_internal_error(broken.what());
    keys.fail(Status::aborted("ERR internal error: " + broken.place()));
  } catch (const std::exception& other) {
    server_->report().note_internal_error(other.what());
    keys.fail(Status::aborted(std::string("ERR internal error: ") + other.what()));
  }
}

Hold Executor::take_back_for_retry(size_t reply_begin, std::string* output) {
  const storage::Status& failure = server_->keys().failure();
  if (!failure.is_retry()) return Hold::kNone;
  const bool opening = failure.code() == storage::Status::Code::kNotYet;
  roll_back();
  output->resize(reply_begin);
  return opening ? Hold::kOpening : Hold::kWriteBack;
}

std::string Executor::failure_line(const storage::Status& failure) {
  using Code = storage::Status::Code;
  if (failure.code() == Code::kAborted) return failure.message();
  if (failure.code() == Code::kTooMuch)
    return "OOM command not allowed when used memory > 'maxmemory': " + failure.message();
  return server_->persistence().health.note_read_failure(failure);
}

// What a command leaves behind when its reply is known.
void Executor::settle(Session& session, const Command& command, size_t reply_begin) {
  storage::Keyspace& keys = server_->keys();
  if (!keys.failure().ok()) {
    roll_back();
    session.output_.tail()->resize(reply_begin);
    session.reply_.error(failure_line(keys.failure()));
  }
  const std::string& output = *session.output_.tail();
  if (output.size() > reply_begin && output[reply_begin] == '-') {
    server_->report().note_error_reply(std::string_view(output).substr(reply_begin));
    ++figures_of(command).failed;
    if (!command.has(kKeepsOnError)) roll_back();
  }
  if (std::exchange(reply_too_long_, false)) server_->sessions().bounds().kill_for_output(&session);
}

}  // namespace weir::server
