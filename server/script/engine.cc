#include "server/script/engine.h"

#include <cstdlib>
#include <lua.hpp>

#include "server/script/sandbox.h"
#include "server/script/to_reply.h"
#include "server/server.h"
#include "server/session.h"
#include "storage/check.h"

namespace weir::server::script {
namespace {

constexpr int kInstructionsPerLook = 100'000;
constexpr size_t kCollectBeyondBytes = 8 << 20;  // of a script's garbage, at its end
constexpr const char* kChunkName = "@user_script";

// Registry slots; Lua's own luaL_ref hands out numbers from 1 on, so names are used.
constexpr const char* kWorld = "weir.world";
constexpr const char* kHandler = "weir.handler";
constexpr const char* kRunner = "weir.runner";

void* allocate(void* owner, void* block, size_t old_bytes, size_t bytes) {
  Budget& budget = static_cast<Context*>(owner)->budget;
  if (bytes == 0) {
    budget.used -= old_bytes;
    std::free(block);
    return nullptr;
  }
  if (bytes > old_bytes && budget.used + (bytes - old_bytes) > budget.bytes_max) {
    budget.exceeded = true;
    return nullptr;
  }
  void* moved = std::realloc(block, bytes);
  if (moved != nullptr) budget.used += bytes - old_bytes;
  return moved;
}

void look_at_the_clock(lua_State* L, lua_Debug*) {
  Context& context = context_of(L);
  if (context.session == nullptr) return;
  const int64_t limit_ms = context.server->config().script_time_limit_ms;
  const int64_t run_ns = context.server->clock().steady_ns() - context.begin_steady_ns;
  if (context.stop == Stop::kNone && limit_ms > 0 && run_ns > limit_ms * 1'000'000)
    context.stop = Stop::kTimeLimit;
  if (context.stop == Stop::kNone) return;
  hurry_to_stop(L);
  luaL_error(L, "the script was stopped");
}

// What tostring() makes of an error that is no table. Never raises, never calls a metamethod.
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
}

// Where the error was raised: in Lua, or by a function of C that Lua called.
void note_place(lua_State* L, Context& context) {
  lua_Debug place;
  if (lua_getstack(L, 1, &place) == 0) return;
  lua_getinfo(L, "Sl", &place);
  if (place.what[0] == 'C') {
    if (lua_getstack(L, 2, &place) == 0) return;
    lua_getinfo(L, "Sl", &place);
  }
  context.error_source = place.source;
  context.error_line = place.currentline;
}

int note_error(lua_State* L) {
  Context& context = context_of(L);
  context.error_noted = true;
  context.error_source.clear();
  lua_settop(L, 1);
  lua_istable(L, 1) ? note_table_error(L, context) : note_plain_error(L, context);
  note_place(L, context);
  return 1;
}

struct Running {
  const Invocation* invocation;
  resp::ReplyWriter* reply;
  size_t bytes_max;
  bool done;  // the reply is there
  bool fits;  // and it is whole
};

void set_list(lua_State* L, const char* name, Args texts) {
  lua_pushstring(L, name);
  lua_createtable(L, static_cast<int>(texts.size()), 0);
  int at = 0;
  for (const std::string_view text : texts) {
    push_text(L, text);
    lua_rawseti(L, -2, ++at);
  }
  lua_rawset(L, -3);
}

int run_script(lua_State* L) {
  auto* running = static_cast<Running*>(lua_touserdata(L, 1));
  lua_getfield(L, LUA_REGISTRYINDEX, kWorld);
  set_list(L, "KEYS", running->invocation->keys);
  set_list(L, "ARGV", running->invocation->arguments);
  lua_getfield(L, LUA_REGISTRYINDEX, kHandler);
  lua_rawgeti(L, LUA_REGISTRYINDEX, running->invocation->script);
  Context& context = context_of(L);
  const int status = lua_pcall(L, 0, 1, -2);
  context.budget.bytes_max = SIZE_MAX;
  if (status != 0) {
    // Without memory, and when handling an error fails, the handler has not noted it.
    if (status != LUA_ERRRUN) context.error_noted = false;
    return 0;
  }
  const ReplyRules rules = {.script_protocol = context.protocol, .bytes_max = running->bytes_max};
  running->fits = write_reply(L, *running->reply, rules);
  running->done = true;
  return 0;
}

int prepare(lua_State* L) {
  build_world(L);
  lua_setfield(L, LUA_REGISTRYINDEX, kWorld);
  lua_pushcfunction(L, note_error);
  lua_setfield(L, LUA_REGISTRYINDEX, kHandler);
  lua_pushcfunction(L, run_script);
  lua_setfield(L, LUA_REGISTRYINDEX, kRunner);
  return 0;
}

struct Compiling {
  std::string_view body;
  Reference reference;
  std::string* error;
};

int compile_script(lua_State* L) {
  auto* compiling = static_cast<Compiling*>(lua_touserdata(L, 1));
  lua_pushstring(L, kChunkName);  // the parser relies on somebody holding it
  const int status = luaL_loadbuffer(L, compiling->body.data(), compiling->body.size(), kChunkName);
  if (status == 0) {
    compiling->reference = luaL_ref(L, LUA_REGISTRYINDEX);
  } else {
    size_t size = 0;
    const char* text = lua_tolstring(L, -1, &size);
    compiling->error->assign(text, size);
  }
  return 0;
}

}  // namespace

void hurry_to_stop(lua_State* L) {
  lua_sethook(L, look_at_the_clock, LUA_MASKCOUNT, 1);
  lua_sethook(context_of(L).main, look_at_the_clock, LUA_MASKCOUNT, 1);
}

Engine::Engine(Server* server) {
  context_.server = server;
  context_.main = lua_newstate(allocate, &context_);
  WEIR_CHECK(context_.main != nullptr);
  WEIR_CHECK(lua_cpcall(context_.main, prepare, nullptr) == 0);
  lua_sethook(context_.main, look_at_the_clock, LUA_MASKCOUNT, kInstructionsPerLook);
}

Engine::~Engine() { lua_close(context_.main); }

std::optional<Reference> Engine::compile(std::string_view body, std::string* error) {
  Compiling compiling = {.body = body, .reference = kNotCompiled, .error = error};
  if (body.starts_with(LUA_SIGNATURE[0])) {
    *error = "bytecode is not accepted";
    return std::nullopt;
  }
  context_.budget.bytes_max = SIZE_MAX;
  if (lua_cpcall(context_.main, compile_script, &compiling) != 0) {
    *error = "not enough memory";
    lua_settop(context_.main, 0);
  }
  if (compiling.reference == kNotCompiled) return std::nullopt;
  return compiling.reference;
}

void Engine::forget(Reference script) { luaL_unref(context_.main, LUA_REGISTRYINDEX, script); }

void Engine::begin(Call& call, const Invocation& invocation) {
  context_.session = &call.session;
  call.session.may_wait = false;
  context_.read_only = invocation.read_only;
  context_.protocol = 2;
  context_.begin_steady_ns = context_.server->clock().steady_ns();
  context_.stop = Stop::kNone;
  context_.random = context_.server->random();
  context_.json = {};
  context_.error_noted = false;
  context_.budget.exceeded = false;
  context_.budget.bytes_max =
      context_.budget.used + static_cast<size_t>(context_.server->config().script_memory_max);
}

bool Engine::run(Call& call, const Invocation& invocation) {
  lua_State* L = context_.main;
  const int database = call.session.database;
  const size_t bytes_before = context_.budget.used;
  const size_t reply_begin = call.reply.buffer()->size();
  begin(call, invocation);
  Running running = {
      .invocation = &invocation,
      .reply = &call.reply,
      .bytes_max = reply_begin + static_cast<size_t>(context_.server->config().script_memory_max),
      .done = false,
      .fits = true};
  lua_getfield(L, LUA_REGISTRYINDEX, kRunner);
  lua_pushlightuserdata(L, &running);
  const bool ran = lua_pcall(L, 1, 0, 0) == 0;
  lua_settop(L, 0);
  if (context_.stop != Stop::kNone)
    lua_sethook(L, look_at_the_clock, LUA_MASKCOUNT, kInstructionsPerLook);
  context_.session = nullptr;
  call.session.database = database;
  context_.budget.bytes_max = SIZE_MAX;
  if (context_.stop != Stop::kNone || !ran || !running.done || !running.fits) {
    call.reply.buffer()->resize(reply_begin);
    if (running.done && !running.fits) {
      context_.error_noted = true;
      context_.error_source.clear();
      context_.error = "ERR the script's reply is larger than script-memory-max";
    }
    reply_error(call, invocation);
  }
  if (context_.budget.used > bytes_before + kCollectBeyondBytes) lua_gc(L, LUA_GCCOLLECT, 0);
  return context_.stop == Stop::kNone;
}

std::string Engine::stop_error(const Invocation& invocation) const {
  const std::string name = " script: " + std::string(invocation.sha);
  if (context_.stop == Stop::kReadFailed) return "ERR reading the data failed;" + name;
  return "ERR the script ran longer than script-time-limit-ms (" +
         std::to_string(context_.server->config().script_time_limit_ms) +
         ") and was stopped, its changes are undone;" + name;
}

void Engine::reply_error(Call& call, const Invocation& invocation) {
  if (context_.stop != Stop::kNone) return call.reply.error(stop_error(invocation));
  if (!context_.error_noted) {
    const bool memory = context_.budget.exceeded;
    return call.reply.error(
        std::string(memory ? "ERR the script needs more memory than script-memory-max allows;"
                           : "ERR the script failed while an error was being handled;") +
        " script: " + std::string(invocation.sha));
  }
  std::string text = context_.error.substr(0, context_.error.find('\0'));
  if (!context_.error_source.empty()) {
    text += " script: " + std::string(invocation.sha) + ", on " + context_.error_source + ":" +
            std::to_string(context_.error_line) + ".";
  }
  call.reply.error(text);
}

}  // namespace weir::server::script
