// SAVE, BGSAVE, LASTSAVE: checkpoints beside the data. SHUTDOWN: the end.
//
// Nothing here is needed for durability: the log has every change already.
#include <string>

#include "base/ascii.h"
#include "base/time_units.h"
#include "server/command/arguments.h"
#include "server/command/option_table.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

void save(Call& call) {
  const auto made = server_of(call).persistence().checkpoints.make_now(
      [&] { server_of(call).turn().commit_early(); });
  if (!made) return call.reply.error(made.error());
  call.reply.status("OK");
}

void bgsave(Call& call) {
  const bool scheduled = call.args.size() == 2 && equals_ignoring_case(call.args[1], "SCHEDULE");
  if (call.args.size() > 1 && !scheduled) return call.reply.error(kSyntaxError);
  const auto asked = server_of(call).persistence().checkpoints.ask();
  if (!asked) return call.reply.error(asked.error());
  call.reply.status("Background saving started");
}

// Before the first checkpoint the answer is when the server started, with all its data on disk.
void lastsave(Call& call) {
  const int64_t saved_s = server_of(call).persistence().checkpoints.last_s();
  call.reply.integer(saved_s != 0 ? saved_s : server_of(call).report().started_wall_ns / kNsPerS);
}

struct ShutdownOptions {
  bool save = false;
  bool nosave = false;
  bool force = false;
  bool now = false;
  bool abort = false;
};

constexpr OptionRow<ShutdownOptions> kShutdownOptions[] = {
    {.word = "SAVE", .flag = &ShutdownOptions::save},
    {.word = "NOSAVE", .flag = &ShutdownOptions::nosave},
    {.word = "NOW", .flag = &ShutdownOptions::now},
    {.word = "FORCE", .flag = &ShutdownOptions::force},
    {.word = "ABORT", .flag = &ShutdownOptions::abort}};

Result<ShutdownOptions, ErrorReplied> shutdown_options(Call& call) {
  ShutdownOptions options;
  if (const auto done = read_options(call, 1, kShutdownOptions, &options); !done)
    return done.error();
  const bool stops = options.save || options.nosave || options.force || options.now;
  if ((options.abort && stops) || (options.save && options.nosave))
    return reply_error(call, kSyntaxError);
  return options;
}

// The connection just closes: no client is left to answer.
void shutdown(Call& call) {
  const auto options = shutdown_options(call);
  if (!options) return;
  // What a long script has done so far is undone, so a client has to ask for that explicitly.
  const RunningScript* script = server_of(call).scripting().busy.current();
  if (script != nullptr && !options->nosave && !options->now)
    return call.reply.error(busy_error(*script));
  // A shutdown waits for nothing, so there is never one that could be aborted.
  if (options->abort) return call.reply.error("ERR No shutdown in progress.");
  if (options->save) {
    const auto made = server_of(call).persistence().checkpoints.make_now(
        [&] { server_of(call).turn().commit_early(); });
    if (!made && !options->force) return call.reply.error(made.error());
  }
  server_of(call).shutdown.requested = true;
  server_of(call).scripting().busy.kill();  // if one runs, it has no time any more
  call.session.close_after_reply();
}

constexpr uint32_t kPersistenceFlags = kAdmin | kNoScript;

constexpr Command kPersistenceCommands[] = {
    {.name = "save",
     .arity = 1,
     .flags = kPersistenceFlags | kNoMulti | kNoAsyncLoading,
     .audit = Audit::kYes,
     .group = "server",
     .summary = "Writes a checkpoint of all data and waits for it.",
     .since = "1.0.0",
     .run = save},
    {.name = "bgsave",
     .arity = -1,
     .flags = kPersistenceFlags | kNoAsyncLoading,
     .audit = Audit::kYes,
     .group = "server",
     .usage = "[SCHEDULE]",
     .summary = "Starts writing a checkpoint of all data.",
     .since = "1.0.0",
     .run = bgsave},
    {.name = "lastsave",
     .arity = 1,
     .flags = kDangerous | kFast | kLoading,
     .audit = Audit::kNo,
     .group = "server",
     .categories = "admin",
     .summary = "Answers when the last checkpoint was written, in Unix seconds.",
     .since = "1.0.0",
     .tips = "nondeterministic_output",
     .run = lastsave},
    {.name = "shutdown",
     .arity = -1,
     .flags = kPersistenceFlags | kLoading | kNoMulti | kAllowBusy,
     .audit = Audit::kYes,
     .group = "server",
     .usage = "[NOSAVE|SAVE] [NOW] [FORCE] [ABORT]",
     .summary = "Stops the server with every change on disk; SAVE writes a checkpoint first.",
     .since = "1.0.0",
     .run = shutdown},
};

}  // namespace

Commands persistence_commands() { return kPersistenceCommands; }

}  // namespace weir::server
