// What the server does for scripts and libraries of functions: the ScriptHost, made of the server's
// parts.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "server/script/lua/script_host.h"

namespace weir::server {

class BusyScript;
class Executor;
class ShardRole;
class StorageHealth;

class ScriptService final : public ScriptHost {
 public:
  struct Parts {
    Executor* executor;
    ShardRole* shard_role;
    const StorageHealth* health;
    BusyScript* busy;
  };
  ScriptService(const Needs& needs, const Parts& parts) : ScriptHost(needs), parts_(parts) {}

  uint64_t data_epoch() const override;
  bool writes_denied() const override;
  std::string storage_error() const override;
  Result<void, std::string> check_slots(const Command& command, Args args,
                                        bool crosses_slots) override;
  void run_in_script(Session& session, const Command& command, Args args,
                     resp::ReplyWriter& reply) override;
  void note_refused_in_script(const Command* command, std::string_view error) override;
  void note_counted_error() override;
  void roll_back() override;
  void heartbeat() override;
  bool serve_while_busy(const RunningScript& script) override;

 private:
  Parts parts_;
};

}  // namespace weir::server
