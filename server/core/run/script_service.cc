#include "server/core/run/script_service.h"

#include "server/acl/acl.h"
#include "server/core/run/cluster.h"
#include "server/core/run/server.h"

namespace weir::server {

const Config& ScriptService::config() const { return server_.config(); }

Clock& ScriptService::clock() const { return server_.clock(); }
WorkMeter& ScriptService::work() { return server_.work(); }

storage::Keyspace& ScriptService::keys() { return server_.keys(); }

uint64_t ScriptService::data_epoch() const { return server_.persistence().health.data_epoch(); }

uint64_t ScriptService::random() { return server_.random(); }

const CommandTable& ScriptService::commands() const { return server_.executor().table(); }

Result<void, std::string> ScriptService::allow_in_script(Session& session, const Command& command,
                                                         Args args) {
  return server_.acl().allow_in_script(session, command, args);
}

Result<void, std::string> ScriptService::check_slots(const Command& command, Args args,
                                                     bool crosses_slots) {
  return server_.executor().cluster().check_in_script(command, args, crosses_slots);
}

void ScriptService::run_in_script(Session& session, const Command& command, Args args,
                                  resp::ReplyWriter& reply) {
  server_.work().charge_probes(args.size());
  server_.executor().run(session, command, args, reply);
  const std::string_view output = *reply.buffer();
  if (output.starts_with('-') && server_.keys().failure().ok())
    server_.executor().count_failed(command, output);
}

void ScriptService::note_refused_in_script(const Command* command, std::string_view error) {
  server_.executor().count_rejected(command, error);
}

void ScriptService::note_counted_error() { server_.executor().note_counted_error(); }

void ScriptService::roll_back() { server_.executor().roll_back(); }

bool ScriptService::writes_denied() const { return server_.persistence().health.writes_denied(); }

std::string ScriptService::storage_error() const { return server_.persistence().health.error(); }

void ScriptService::beat() { server_.office().beat(); }

bool ScriptService::serve_while_busy(const RunningScript& script) {
  return server_.scripting().busy.serve(script);
}

}  // namespace weir::server
