// INFO.
#include "server/commands/command_lists.h"
#include "server/core/metrics/metric_sections.h"
#include "server/core/run/server.h"

namespace weir::server {
namespace {

void info(Call& call) { call.reply.verbatim(info_text(server_of(call), call.args.subspan(1))); }

constexpr Command kInfoCommands[] = {
    {.name = "info",
     .arity = -1,
     .flags = kLoading | kDangerous,
     .audit = Audit::kNo,
     .group = "server",
     .usage = "[section [section ...]]",
     .summary = "Answers metrics and facts about the server; all of them with \"all\".",
     .since = "1.0.0",
     .tips = "nondeterministic_output request_policy:all_shards response_policy:special",
     .run = info},
};

}  // namespace

Commands info_commands() { return kInfoCommands; }

}  // namespace weir::server
