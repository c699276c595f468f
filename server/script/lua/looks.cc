#include "server/script/lua/looks.h"

#include <algorithm>
#include <lua.hpp>
#include <utility>

#include "base/time_units.h"
#include "server/config/config.h"
#include "server/os/clock.h"
#include "server/script/lua/busy.h"
#include "server/script/lua/context.h"
#include "server/script/lua/script_host.h"

namespace weir::server::script {
namespace {

constexpr int kInstructionsPerLook = 1'000;
// Coroutines are seldom. Each has a hook of its own, which does not know that others made a large
// block, so it is called often.
constexpr int kInstructionsPerCoroutinesLook = 16;
constexpr size_t kInstructionNs = 10;
constexpr size_t kWorkPerLookNs = 200'000;
constexpr size_t kUnitNs = 100;  // of a WorkMeter
// An instruction may read a whole string, a byte in about a nanosecond: arithmetic and comparisons
// do. So few are let run where there is a large one.
constexpr size_t kBytesPerLook = 16 << 20;

int instructions_per_look(lua_State* L, const Context& context) {
  const int most = L == context.main ? kInstructionsPerLook : kInstructionsPerCoroutinesLook;
  const size_t fitting = kBytesPerLook / std::max<size_t>(context.block_bytes_max, 1);
  return static_cast<int>(std::clamp<size_t>(fitting, 1, static_cast<size_t>(most)));
}

// Other clients are served now and then while a script runs long; one of them may end it.
Stop reason_to_stop(Context& context) {
  ScriptHost& host = *context.host;
  const int64_t run_ns = host.clock().steady_ns() - context.begin_steady_ns;
  if (context.time_limit_ns > 0 && run_ns > context.time_limit_ns) return Stop::kTimeLimit;
  if (run_ns - context.heartbeat_at_run_ns >= ScriptHost::kHeartbeatNs) {
    context.heartbeat_at_run_ns = run_ns;
    host.heartbeat();
  }
  const int64_t busy_ns = host.config().busy_reply_threshold * kNsPerMs;
  if (context.running == nullptr || busy_ns <= 0 || run_ns <= busy_ns) return Stop::kNone;
  if (run_ns - context.served_at_run_ns < kNsPerMs) return Stop::kNone;
  context.served_at_run_ns = run_ns;
  return host.serve_while_busy(*context.running) ? Stop::kNone : Stop::kKilled;
}

// Looks at the clock. `place` is that of the Lua code that is running.
void look(lua_State* L, Context& context, lua_Debug* place) {
  charge_meter(context);
  if (context.stop == Stop::kNone) {
    context.stop = reason_to_stop(context);
    if (context.stop == Stop::kNone) return;
    lua_getinfo(L, "Sl", place);
    context.error_source = place->source;
    context.error_line = place->currentline;
  }
  hurry_to_stop(L);
  luaL_error(L, "the script was stopped");
}

void look_between_instructions(lua_State* L, lua_Debug* place) {
  Context& context = context_of(L);
  const int instructions = lua_gethookcount(L);
  if (context.stop == Stop::kNone && instructions != instructions_per_look(L, context)) watch(L);
  context.work_ns += static_cast<size_t>(instructions) * kInstructionNs;
  if (context.active) look(L, context, place);
}

// The part of a text that the compiler has not read yet.
struct Unread {
  std::string_view text;
};

const char* read_piece(lua_State* L, void* from, size_t* size) {
  constexpr size_t kPieceBytes = 1024;
  constexpr size_t kLookPieceNs = 50'000;
  auto* unread = static_cast<Unread*>(from);
  charge(L, kLookPieceNs);
  const std::string_view piece = unread->text.substr(0, kPieceBytes);
  unread->text.remove_prefix(piece.size());
  *size = piece.size();
  return piece.empty() ? nullptr : piece.data();
}

void look_after(lua_State* L, int instructions) {
  lua_sethook(L, look_between_instructions, LUA_MASKCOUNT, instructions);
}

}  // namespace

void charge_meter(Context& context) {
  const size_t own_ns = std::exchange(context.work_ns, 0) - std::exchange(context.command_ns, 0);
  context.work->charge_entries(own_ns / kUnitNs);
}

void watch(lua_State* L) { look_after(L, instructions_per_look(L, context_of(L))); }

void hurry_to_stop(lua_State* L) {
  look_after(L, 1);
  look_after(context_of(L).main, 1);
}

void charge(lua_State* L, size_t work_ns) {
  Context& context = context_of(L);
  context.work_ns += work_ns;
  if (context.work_ns < kWorkPerLookNs || !context.active) return;
  lua_Debug place;
  if (lua_getstack(L, 1, &place) != 0 || lua_getstack(L, 0, &place) != 0) look(L, context, &place);
}

int load_watched(lua_State* L, std::string_view text, const char* name) {
  Unread unread = {text};
  return lua_load(L, read_piece, &unread, name);
}

void charge_block(Context& context, size_t bytes) {
  if (!context.active) return;
  context.block_bytes_max = std::max(context.block_bytes_max, bytes);
  context.work_ns += bytes / 2;
  if (context.work_ns < kWorkPerLookNs || context.stop != Stop::kNone) return;
  charge_meter(context);
  look_after(context.main, 1);
}

}  // namespace weir::server::script
