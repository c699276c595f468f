// WEIR SNAPSHOT: another member of the shard copies this member's data (core/shard/snapshots.h).
#include <charconv>
#include <string>

#include "base/ascii.h"
#include "base/crc64.h"
#include "server/command/arguments.h"
#include "server/commands/command_lists.h"
#include "server/core/run/server.h"
#include "server/core/shard/snapshots.h"

namespace weir::server {
namespace {

constexpr std::string_view kNoSnapshots = "ERR this server is a member of no shard";

std::string hex_of(uint64_t number) {
  char digits[17] = {};
  std::to_chars(digits, digits + 16, number, 16);
  return digits;
}

void begin(Call& call, Snapshots* snapshots) {
  const auto begun = snapshots->begin(call.args[3]);
  if (!begun) return call.reply.error(begun.error());
  call.reply.map(4);
  call.reply.bulk("made");
  call.reply.integer(begun->is_made ? 1 : 0);
  call.reply.bulk("log_index");
  call.reply.integer(static_cast<int64_t>(begun->place.log_index));
  call.reply.bulk("crc");
  call.reply.bulk(hex_of(begun->place.crc));
  call.reply.bulk("files");
  call.reply.array(begun->files->size());
  for (const SnapshotFile& file : *begun->files) {
    call.reply.array(2);
    call.reply.bulk(file.path);
    call.reply.integer(static_cast<int64_t>(file.bytes));
  }
}

void read(Call& call, Snapshots* snapshots) {
  const auto offset = integer_argument(call, call.args[5]);
  if (!offset) return;
  const auto length = integer_argument(call, call.args[6]);
  if (!length) return;
  if (*offset < 0 || *length < 0) return call.reply.error("ERR offset and length are not negative");
  const auto piece = snapshots->read(call.args[3], call.args[4], static_cast<uint64_t>(*offset),
                                     static_cast<uint64_t>(*length));
  if (!piece) return call.reply.error(piece.error());
  call.reply.array(2);
  call.reply.bulk(hex_of(crc64_xz(piece->bytes)));
  call.reply.bulk(piece->bytes);
}

void end(Call& call, Snapshots* snapshots) {
  const auto ended = snapshots->end(call.args[3]);
  ended ? call.reply.status("OK") : call.reply.error(ended.error());
}

struct Step {
  std::string_view word;
  size_t arguments;  // of the whole command
  void (*run)(Call& call, Snapshots* snapshots);
};

constexpr Step kSteps[] = {{"BEGIN", 4, begin}, {"READ", 7, read}, {"END", 4, end}};

void snapshot(Call& call) {
  Membership* member = server_of(call).shard_role().membership();
  Snapshots* snapshots = member == nullptr ? nullptr : member->snapshots();
  if (snapshots == nullptr) return call.reply.error(kNoSnapshots);
  for (const Step& step : kSteps) {
    if (equals_ignoring_case(call.args[2], step.word) && call.args.size() == step.arguments)
      return step.run(call, snapshots);
  }
  call.reply.error(
      "ERR syntax error: WEIR SNAPSHOT takes BEGIN id, READ id file offset length, or END id");
}

constexpr Command kWeirSnapshotCommands[] = {
    {.name = "weir|snapshot",
     .arity = -4,
     .flags = kAdmin | kNoScript | kNoMulti,
     .audit = Audit::kNo,
     .group = "server",
     .usage = "<BEGIN id | READ id file offset length | END id>",
     .summary = "Gives another member of the shard a copy of this member's data, in pieces.",
     .since = "weir 0.1",
     .run = snapshot},
};

}  // namespace

Commands weir_snapshot_commands() { return kWeirSnapshotCommands; }

}  // namespace weir::server
