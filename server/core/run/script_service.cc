#include "server/core/run/script_service.h"

#include "server/core/disk/storage_health.h"
#include "server/core/run/busy_script.h"
#include "server/core/run/cluster.h"
#include "server/core/run/executor.h"
#include "server/core/shard/shard_role.h"

namespace weir::server {

uint64_t ScriptService::data_epoch() const { return parts_.health->data_epoch(); }

bool ScriptService::writes_denied() const { return parts_.health->writes_denied(); }

std::string ScriptService::storage_error() const { return parts_.health->error(); }

Result<void, std::string> ScriptService::check_slots(const Command& command, Args args,
                                                     bool crosses_slots) {
  return parts_.executor->cluster().check_in_script(command, args, crosses_slots);
}

void ScriptService::run_in_script(Session& session, const Command& command, Args args,
                                  resp::ReplyWriter& reply) {
  work().charge_probes(args.size());
  parts_.executor->run(session, command, args, reply);
  const std::string_view output = *reply.buffer();
  if (output.starts_with('-') && keys().failure().ok())
    parts_.executor->count_failed(command, output);
}

void ScriptService::note_refused_in_script(const Command* command, std::string_view error) {
  parts_.executor->count_rejected(command, error);
}

void ScriptService::note_counted_error() { parts_.executor->note_counted_error(); }

void ScriptService::roll_back() { parts_.executor->roll_back(); }

void ScriptService::heartbeat() { parts_.shard_role->heartbeat(); }

bool ScriptService::serve_while_busy(const RunningScript& script) {
  return parts_.busy->serve(script);
}

}  // namespace weir::server
