#include "server/script/run/admission.h"

#include "server/config/config.h"
#include "server/script/lua/shebang.h"

namespace weir::server::script {
namespace {

constexpr size_t kKeysAt = 3;

}  // namespace

Result<size_t, ErrorReplied> key_count(Call& call, int64_t count) {
  if (count > static_cast<int64_t>(call.args.size() - kKeysAt))
    return reply_error(call, "ERR Number of keys can't be greater than number of args");
  if (count < 0) return reply_error(call, "ERR Number of keys can't be negative");
  return static_cast<size_t>(count);
}

Result<void, ErrorReplied> check_may_run(const ScriptHost& host, Call& call, uint32_t flags,
                                         bool read_only) {
  if ((flags & kNoCluster) != 0 && host.config().cluster_enabled)
    return reply_error(call, "ERR Can not run script on cluster, 'no-cluster' flag is set.");
  if ((flags & kNoWrites) != 0) return {};
  if (read_only)
    return reply_error(call, "ERR Can not execute a script with write flag using *_ro command.");
  if (!host.writes_denied()) return {};
  return reply_error(call, host.storage_error());
}

}  // namespace weir::server::script
