// Transactions: MULTI, EXEC, DISCARD, WATCH, UNWATCH. The queue belongs to the session; the
// executor runs it.
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

void multi(Call& call) {
  if (call.session.transaction().open())
    return call.reply.error("ERR MULTI calls can not be nested");
  call.session.transaction().begin();
  call.reply.status("OK");
}

void exec(Call& call) {
  Transaction& transaction = call.session.transaction();
  if (!transaction.open()) return call.reply.error("ERR EXEC without MULTI");
  const bool changed =
      transaction.watched_changed(call.keys.watches(), call.keys.running().now_ms());
  if (transaction.aborted()) {
    call.reply.error("EXECABORT Transaction discarded because of previous errors.");
  } else if (changed) {
    call.reply.null_array();
  } else {
    server_of(call).executor().run_queued(call);
    if (call.keys.failure().is_retry()) return;  // the command will be run again
  }
  transaction.clear(call.keys);
}

void discard(Call& call) {
  if (!call.session.transaction().open()) return call.reply.error("ERR DISCARD without MULTI");
  call.session.transaction().clear(call.keys);
  call.reply.status("OK");
}

void watch(Call& call) {
  if (call.session.transaction().open())
    return call.reply.error("ERR WATCH inside MULTI is not allowed");
  for (const std::string_view key : call.args.subspan(1)) {
    call.session.transaction().watch(call.keys, call.database, key);
  }
  call.reply.status("OK");
}

void unwatch(Call& call) {
  call.session.transaction().unwatch(call.keys);
  call.reply.status("OK");
}

constexpr Command transactions_row(Command command) {
  command.flags |= kNoScript | kLoading;
  command.group = "transactions";
  return command;
}

constexpr Command kTransactionsCommands[] = {
    transactions_row(
        {.name = "multi",
         .arity = 1,
         .flags = kFast | kNotQueued | kAllowBusy,
         .summary = "Begins a transaction: the commands that follow are queued until EXEC.",
         .since = "1.2.0",
         .run = multi}),
    transactions_row(
        {.name = "exec",
         .arity = 1,
         .flags = kNotQueued | kSkipSlowLog | kRunsQueued,
         .summary = "Runs all that is queued at one instant, with nothing in between, and keeps "
                    "all of it or nothing through a crash.",
         .since = "1.2.0",
         .run = exec}),
    transactions_row({.name = "discard",
                      .arity = 1,
                      .flags = kFast | kNotQueued | kAllowBusy,
                      .summary = "Forgets what is queued and what is watched.",
                      .since = "2.0.0",
                      .run = discard}),
    transactions_row(
        {.name = "watch",
         .arity = -2,
         .flags = kFast | kNotQueued | kAllowBusy,
         .keys = {1, -1, 1, 0, KeyUse::kLooks},
         .usage = "key [key ...]",
         .summary = "Lets the next EXEC do nothing if one of the keys changes before it.",
         .since = "2.2.0",
         .run = watch}),
    transactions_row({.name = "unwatch",
                      .arity = 1,
                      .flags = kFast | kAllowBusy,
                      .summary = "Watches no key any more.",
                      .since = "2.2.0",
                      .run = unwatch}),
};

}  // namespace

Commands transactions_commands() { return kTransactionsCommands; }

}  // namespace weir::server
