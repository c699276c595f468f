#include "server/script/run/engine.h"

#include <algorithm>
#include <cstdlib>
#include <lua.hpp>

#include "base/check.h"
#include "base/time_units.h"
#include "server/config/config.h"
#include "server/os/clock.h"
#include "server/script/libraries/sandbox.h"
#include "server/script/lua/busy.h"
#include "server/script/lua/bytecode.h"
#include "server/script/lua/looks.h"
#include "server/script/lua/names.h"
#include "server/script/lua/script_host.h"
#include "server/script/lua/to_reply.h"
#include "server/session/session.h"

namespace weir::server::script {
namespace {

constexpr size_t kLargeBlockBytes = 64 << 10;
constexpr int64_t kLoadTimeNs = 500 * kNsPerMs;  // for loading a library, as Redis has it
constexpr size_t kCollectBeyondBytes = 8 << 20;  // of garbage that a script leaves at its end
constexpr std::string_view kLoadError = "ERR Error registering functions: ";

const char* chunk_name(World world) {
  return world == World::kScripts ? "@user_script" : "@user_function";
}

// A collection walks all living objects, which is much compared with what one small script leaves.
// So the collector lets a few hundred kilobytes gather. A script that makes much garbage must not
// let it gather, because it counts for script-memory-max. (Setting the pace touches one field,
// which the allocator may do.)
constexpr int kPatientPause = 500;
constexpr int kUsualPause = 200;
constexpr size_t kPatientUpToBytes = 4 << 20;

void set_pace(Context& context) {
  const bool patient = context.memory.used() <= kPatientUpToBytes;
  if (patient == context.patient) return;
  context.patient = patient;
  lua_gc(context.main, LUA_GCSETPAUSE, patient ? kPatientPause : kUsualPause);
}

void* allocate(void* owner, void* block, size_t old_bytes, size_t bytes) {
  Context& context = *static_cast<Context*>(owner);
  void* const moved = context.memory.resize(block, old_bytes, bytes);
  if (context.patient && bytes > old_bytes) set_pace(context);
  if (bytes >= kLargeBlockBytes) charge_block(context, bytes);
  return moved;
}

void note_place(lua_State* L, lua_Debug* place, Context& context) {
  lua_getinfo(L, "Sl", place);
  context.error_source = place->source;
  context.error_line = place->currentline;
}

// Notes what tostring() makes of an error that is no table. Never raises, never calls a metamethod.
void note_plain_error(lua_State* L, Context& context) {
  size_t size = 0;
  context.error = "ERR ";
  if (lua_isstring(L, 1) != 0) {
    const char* text = lua_tolstring(L, 1, &size);
    context.error.append(text, size);
  } else if (lua_isboolean(L, 1)) {
    context.error += lua_toboolean(L, 1) != 0 ? "true" : "false";
  } else {
    context.error += luaL_typename(L, 1);
  }
}

void note_table_error(lua_State* L, Context& context) {
  lua_pushliteral(L, "err");
  lua_rawget(L, 1);
  size_t size = 0;
  const char* text = lua_tolstring(L, -1, &size);
  context.error = text == nullptr ? std::string("ERR the script raised a table without 'err'")
                                  : std::string(text, size);
  context.error_counted = is_marked_as_counted(L, 1);
}

// Notes where the error was raised: in Lua, or by a function of C that Lua called.
void note_error_place(lua_State* L, Context& context) {
  lua_Debug place;
  if (lua_getstack(L, 1, &place) == 0) return;
  lua_getinfo(L, "S", &place);
  // The third frame is the engine's: no Lua calls a function of C that a library has registered.
  const bool by_c = place.what[0] == 'C';
  if (by_c && (lua_getstack(L, 3, &place) == 0 || lua_getstack(L, 2, &place) == 0)) return;
  note_place(L, &place, context);
}

int note_error(lua_State* L) {
  Context& context = context_of(L);
  if (context.stop == Stop::kTimeLimit || context.stop == Stop::kKilled) return 1;
  context.error_noted = true;
  context.error_source.clear();
  context.error_counted = false;
  lua_settop(L, 1);
  lua_istable(L, 1) ? note_table_error(L, context) : note_plain_error(L, context);
  note_error_place(L, context);
  return 1;
}

struct Running {
  const Invocation* invocation;
  resp::ReplyWriter* reply;
  size_t bytes_max;
  bool done;  // the reply has been written
  bool fits;  // the reply is whole
};

void push_list(lua_State* L, Args texts) {
  lua_createtable(L, static_cast<int>(texts.size()), 0);
  int at = 0;
  for (const std::string_view text : texts) {
    push_text(L, text);
    lua_rawseti(L, -2, ++at);
  }
}

// Pushes the arguments: scripts find them in two globals, functions get them as parameters.
int push_arguments(lua_State* L, const Context& context, const Invocation& invocation) {
  if (context.world == World::kFunctions) {
    push_list(L, invocation.keys);
    push_list(L, invocation.arguments);
    return 2;
  }
  lua_rawgeti(L, LUA_REGISTRYINDEX, context.world_table);
  push_name(L, Name::kKeys);
  push_list(L, invocation.keys);
  lua_rawset(L, -3);
  push_name(L, Name::kArgv);
  push_list(L, invocation.arguments);
  lua_rawset(L, -3);
  lua_pop(L, 1);
  return 0;
}

int run_script(lua_State* L) {
  auto* running = static_cast<Running*>(lua_touserdata(L, 1));
  Context& context = context_of(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, context.error_handler);
  const int handler = lua_gettop(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, running->invocation->script);
  const int arguments = push_arguments(L, context, *running->invocation);
  const int status = lua_pcall(L, arguments, 1, handler);
  context.memory.allow_all();
  if (status != 0) {
    // Without memory, and when handling an error fails, the handler has not noted the error.
    if (status != LUA_ERRRUN) context.error_noted = false;
    return 0;
  }
  context.error_counted = false;  // of an error that the script has caught
  const ReplyRules rules = {.script_protocol = context.protocol, .bytes_max = running->bytes_max};
  running->fits = write_reply(L, *running->reply, rules);
  running->done = true;
  return 0;
}

int prepare(lua_State* L) {
  Context& context = context_of(L);
  build_world(L, context.world);
  context.world_table = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_pushcfunction(L, note_error);
  context.error_handler = luaL_ref(L, LUA_REGISTRYINDEX);
  push_with_names(L, run_script);
  context.runner = luaL_ref(L, LUA_REGISTRYINDEX);
  if (context.world == World::kScripts) return 0;
  push_loading_world(L);
  context.loading_world = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

struct Compiling {
  std::string_view body;
  Reference reference;
  std::string* error;
};

// Scripts see their globals through a stand-in, which refuses to be written. One that assigns to
// none may read the table itself: nothing else can give it away, or write it (lua/bytecode.h).
void see_globals_directly(lua_State* L) {
  const Context& context = context_of(L);
  if (context.world != World::kScripts || may_assign_globals(L)) return;
  lua_rawgeti(L, LUA_REGISTRYINDEX, context.world_table);
  lua_setfenv(L, -2);
}

int compile_script(lua_State* L) {
  auto* compiling = static_cast<Compiling*>(lua_touserdata(L, 1));
  const char* name = chunk_name(context_of(L).world);
  lua_pushstring(L, name);  // the parser relies on the stack to keep the name
  const int status = load_watched(L, compiling->body, name);
  if (status == 0) {
    see_globals_directly(L);
    compiling->reference = luaL_ref(L, LUA_REGISTRYINDEX);
  } else {
    size_t size = 0;
    const char* text = lua_tolstring(L, -1, &size);
    compiling->error->assign(text, size);
  }
  return 0;
}

struct Loading {
  Reference script;
  bool done;
};

int load_library(lua_State* L) {
  auto* loading = static_cast<Loading*>(lua_touserdata(L, 1));
  const Context& context = context_of(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, context.loading_world);
  show_world(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, context.error_handler);
  lua_rawgeti(L, LUA_REGISTRYINDEX, loading->script);
  loading->done = lua_pcall(L, 0, 0, -2) == 0;
  return 0;
}

int end_loading(lua_State* L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, context_of(L).world_table);
  show_world(L);
  return 0;
}

}  // namespace

Engine::Engine(ScriptHost* host, World world) {
  context_.host = host;
  context_.work = &host->work();
  context_.world = world;
  context_.main = lua_newstate(allocate, &context_);
  // As with every other allocation, where the machine has no memory left the process ends.
  WEIR_CHECK(context_.main != nullptr);
  WEIR_CHECK(lua_cpcall(context_.main, prepare, nullptr) == 0);
  watch(context_.main);
}

Engine::~Engine() { lua_close(context_.main); }

Result<Reference, std::string> Engine::compile(std::string_view body) {
  std::string spaced;  // a space makes bytecode text, which is refused as such
  if (body.starts_with(LUA_SIGNATURE[0])) body = spaced.assign(" ").append(body);
  std::string error;
  Compiling compiling = {.body = body, .reference = kNotCompiled, .error = &error};
  begin();
  context_.time_limit_ns = context_.host->config().script_time_limit_ms * kNsPerMs;
  context_.memory.allow_all();
  if (lua_cpcall(context_.main, compile_script, &compiling) != 0) error = "not enough memory";
  if (context_.stop != Stop::kNone) error = "it takes longer than script-time-limit-ms";
  end();
  if (compiling.reference == kNotCompiled) return error;
  return compiling.reference;
}

void Engine::forget(Reference script) { luaL_unref(context_.main, LUA_REGISTRYINDEX, script); }

void Engine::begin() {
  context_.active = true;
  context_.protocol = 2;
  context_.begin_steady_ns = context_.host->clock().steady_ns();
  context_.stop = Stop::kNone;
  context_.work_ns = context_.command_ns = 0;
  context_.block_bytes_max = 0;
  context_.served_at_run_ns = 0;
  context_.heartbeat_at_run_ns = 0;
  context_.json = {};
  context_.error_noted = context_.error_counted = false;
  context_.memory.allow(static_cast<size_t>(context_.host->config().script_memory_max));
}

void Engine::begin(Call& call, const Invocation& invocation) {
  begin();
  context_.session = &call.session;
  call.session.wait_state().permit(false);
  context_.read_only = invocation.read_only;
  context_.crosses_slots = invocation.crosses_slots;
  context_.time_limit_ns = context_.host->config().script_time_limit_ms * kNsPerMs;
  context_.random.reset();
}

void Engine::end() {
  lua_settop(context_.main, 0);
  if (context_.stop != Stop::kNone) watch(context_.main);
  charge_meter(context_);
  context_.active = false;
  context_.session = nullptr;
  context_.running = nullptr;
  context_.registering = nullptr;
  context_.memory.allow_all();
  set_pace(context_);
}

bool Engine::run(Call& call, const Invocation& invocation) {
  lua_State* L = context_.main;
  const int database = call.session.client().database();
  const size_t bytes_before = context_.memory.used();
  const size_t reply_begin = call.reply.buffer()->size();
  begin(call, invocation);
  const RunningScript shown = {.is_function = context_.world == World::kFunctions,
                               .name = invocation.name,
                               .command = call.args,
                               .begin_steady_ns = context_.begin_steady_ns};
  context_.running = &shown;
  // The writer must not throw while Lua runs, so write_reply() checks the bound itself.
  const size_t reply_max = call.reply.size_max();
  const size_t script_max =
      reply_begin + static_cast<size_t>(context_.host->config().script_memory_max);
  call.reply.set_size_max(SIZE_MAX);
  Running running = {.invocation = &invocation,
                     .reply = &call.reply,
                     .bytes_max = std::min(script_max, reply_max),
                     .done = false,
                     .fits = true};
  lua_rawgeti(L, LUA_REGISTRYINDEX, context_.runner);
  lua_pushlightuserdata(L, &running);
  const bool ran = lua_pcall(L, 1, 0, 0) == 0;
  if (context_.stop == Stop::kNone && context_.memory.exceeded()) context_.stop = Stop::kMemory;
  if (context_.stop == Stop::kNone && running.done && !running.fits) context_.stop = Stop::kReply;
  end();
  call.reply.set_size_max(reply_max);
  call.session.client().select(database);
  const bool too_long = call.reply.buffer()->size() > reply_max;
  if (running.done && (too_long || (!running.fits && reply_max < script_max)))
    throw resp::ReplyTooLong();
  if (context_.stop != Stop::kNone || !ran || !running.done) {
    call.reply.buffer()->resize(reply_begin);
    call.reply.error(failure(invocation));
  }
  if (context_.error_counted && context_.stop == Stop::kNone) context_.host->note_counted_error();
  if (context_.memory.used() > bytes_before + kCollectBeyondBytes) lua_gc(L, LUA_GCCOLLECT, 0);
  return context_.stop == Stop::kNone;
}

Result<void, std::string> Engine::load(std::string_view code,
                                       std::vector<Registration>* functions) {
  const auto script = compile(code);
  if (!script) return "ERR Error compiling function: " + script.error();
  begin();
  context_.read_only = true;
  context_.time_limit_ns = kLoadTimeNs;
  context_.registering = functions;
  Loading loading = {.script = *script, .done = false};
  if (lua_cpcall(context_.main, load_library, &loading) != 0) context_.error_noted = false;
  end();
  // The state has neither a bound of memory nor a hook after end(), so that this fails only where
  // the machine has no memory left. Scripts must never see what the loading of functions sees.
  WEIR_CHECK(lua_cpcall(context_.main, end_loading, nullptr) == 0);
  forget(*script);
  if (loading.done) return {};
  const std::string failed(kLoadError);
  if (context_.stop == Stop::kTimeLimit) return failed + "ERR FUNCTION LOAD timeout";
  return failed + (context_.error_noted ? context_.error : std::string("not enough memory"));
}

// A killed script has Redis' text, and what Redis cannot say after it.
std::string Engine::stop_text() const {
  const Config& config = context_.host->config();
  const std::string memory_max =
      "script-memory-max (" + std::to_string(config.script_memory_max) + " bytes)";
  switch (context_.stop) {
    case Stop::kKilled:
      return "ERR Script killed by user with SCRIPT KILL...";
    case Stop::kCommandFailed:
      return "ERR a command could not be run;";
    case Stop::kMemory:
      return "ERR the script needs more memory than " + memory_max + ", its changes are undone;";
    case Stop::kReply:
      return "ERR the script's reply is larger than " + memory_max + ", its changes are undone;";
    default:
      return "ERR the script ran longer than script-time-limit-ms (" +
             std::to_string(config.script_time_limit_ms) +
             ") and was stopped, its changes are undone;";
  }
}

std::string Engine::place_text() const {
  return ", on " + context_.error_source + ":" + std::to_string(context_.error_line) + ".";
}

std::string Engine::failure(const Invocation& invocation) const {
  const std::string name = " script: " + std::string(invocation.name);
  if (context_.stop == Stop::kKilled)
    return stop_text() + name + place_text() + " Its changes are undone.";
  if (context_.stop != Stop::kNone) return stop_text() + name;
  if (!context_.error_noted)
    return "ERR the script failed while an error was being handled;" + name;
  const std::string text = context_.error.substr(0, context_.error.find('\0'));
  return context_.error_source.empty() ? text : text + name + place_text();
}

}  // namespace weir::server::script
