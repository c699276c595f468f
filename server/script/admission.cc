#include "server/script/admission.h"

#include "server/script/shebang.h"

namespace weir::server::script {
namespace {

constexpr size_t kKeysAt = 3;

}  // namespace

std::optional<size_t> key_count(Call& call, int64_t count) {
  if (count > static_cast<int64_t>(call.args.size() - kKeysAt)) {
    call.reply.error("ERR Number of keys can't be greater than number of args");
    return std::nullopt;
  }
  if (count < 0) {
    call.reply.error("ERR Number of keys can't be negative");
    return std::nullopt;
  }
  return static_cast<size_t>(count);
}

bool may_run(const ScriptHost& host, Call& call, uint32_t flags, bool read_only) {
  if ((flags & kNoWrites) != 0) return true;
  if (read_only) {
    call.reply.error("ERR Can not execute a script with write flag using *_ro command.");
    return false;
  }
  if (!host.writes_denied()) return true;
  call.reply.error(host.storage_error());
  return false;
}

}  // namespace weir::server::script
