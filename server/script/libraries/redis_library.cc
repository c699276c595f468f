// redis: what a script asks of the server apart from running commands.
#include <lua.hpp>

#include "base/ascii.h"
#include "server/os/log.h"
#include "server/os/version.h"
#include "server/script/libraries/redis_call.h"
#include "server/script/libraries/sandbox.h"
#include "server/script/lua/context.h"
#include "server/script/lua/looks.h"
#include "server/script/lua/names.h"
#include "server/script/lua/sha1.h"

namespace weir::server::script {
namespace {

constexpr std::string_view kLineEnds = "\r\n";

std::string_view text_at(lua_State* L, int index) {
  size_t size = 0;
  const char* bytes = lua_tolstring(L, index, &size);
  return {bytes == nullptr ? "" : bytes, size};
}

bool is_one_string(lua_State* L) { return lua_gettop(L) == 1 && lua_type(L, 1) == LUA_TSTRING; }

int answer_wrong_arguments(lua_State* L) {
  push_error_table(L, "ERR wrong number or type of arguments");
  return 1;
}

// The text is the whole error line, with its code. A text of one word stays what it is, where Redis
// 7 puts ERR before it and Redis 6 did not: clients compare it as a whole.
int error_reply(lua_State* L) {
  if (!is_one_string(L)) return answer_wrong_arguments(L);
  std::string_view text = text_at(L, 1);
  text = text.substr(0, text.find('\0'));
  if (text.starts_with('-')) text.remove_prefix(1);
  text = trimmed(text, kLineEnds);
  push_error_table(L, text.empty() ? std::string_view("ERR ") : text);
  return 1;
}

int status_reply(lua_State* L) {
  if (!is_one_string(L)) return answer_wrong_arguments(L);
  lua_newtable(L);
  lua_pushliteral(L, "ok");
  lua_pushvalue(L, 1);
  lua_rawset(L, -3);
  return 1;
}

// This is an inner function, so that the string is gone before anything can raise.
void hex_into(std::string_view bytes, char out[40]) { sha1_hex(bytes).copy(out, 40); }

int sha1_of(lua_State* L) {
  if (lua_gettop(L) != 1) return raise_error_table(L, "ERR wrong number of arguments");
  char digits[40];
  const std::string_view text = text_at(L, 1);
  charge(L, 2 * text.size());
  hex_into(text, digits);
  lua_pushlstring(L, digits, sizeof digits);
  return 1;
}

constexpr size_t kLoggedByteNs = 4;

void log_line(int level, std::string_view text) {
  constexpr EventLevel kLevels[] = {EventLevel::kDebug, EventLevel::kDebug, EventLevel::kInfo,
                                    EventLevel::kWarning};
  log_event(kLevels[level], "script: {}", text);
}

int log(lua_State* L) {
  const int arguments = lua_gettop(L);
  if (arguments < 2) return raise_error_table(L, "ERR redis.log() requires two arguments or more.");
  if (lua_isnumber(L, 1) == 0)
    return raise_error_table(L, "ERR First argument must be a number (log level).");
  const lua_Number level = lua_tonumber(L, 1);
  if (!(level >= 0 && level < 4)) return raise_error_table(L, "ERR Invalid debug level.");
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  for (int i = 2; i <= arguments; ++i) {
    size_t size = 0;
    const char* bytes = lua_tolstring(L, i, &size);
    if (i > 2) luaL_addchar(&buffer, ' ');
    if (bytes != nullptr) luaL_addlstring(&buffer, bytes, size);
  }
  luaL_pushresult(&buffer);
  charge(L, kLoggedByteNs * lua_objlen(L, -1));
  log_line(static_cast<int>(level), text_at(L, -1));
  return 0;
}

int set_protocol(lua_State* L) {
  if (lua_gettop(L) != 1) return raise_error_table(L, "ERR redis.setresp() requires one argument.");
  const lua_Number protocol = lua_tonumber(L, 1);
  if (protocol != 2 && protocol != 3)
    return raise_error_table(L, "ERR RESP version must be 2 or 3.");
  context_of(L).protocol = static_cast<int>(protocol);
  return 0;
}

int replicate_commands(lua_State* L) {
  lua_pushboolean(L, 1);
  return 1;
}

int set_replication(lua_State* L) {
  if (lua_gettop(L) != 1)
    return raise_error_table(L, "ERR redis.set_repl() requires two arguments.");
  const lua_Number flags = lua_tonumber(L, 1);
  if (!(flags >= 0 && flags <= 3)) {
    return raise_error_table(
        L, "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.");
  }
  return 0;
}

int refuse_breakpoint(lua_State* L) {
  return raise_error_table(L, "ERR redis.breakpoint() is refused: there is no script debugger");
}

int refuse_debug(lua_State* L) {
  return raise_error_table(L, "ERR redis.debug() is refused: there is no script debugger");
}

constexpr luaL_Reg kCalls[] = {{"call", call_command}, {"pcall", try_command}};

constexpr luaL_Reg kRedisFunctions[] = {{"acl_check_cmd", check_command},
                                        {"error_reply", error_reply},
                                        {"status_reply", status_reply},
                                        {"sha1hex", sha1_of},
                                        {"log", log},
                                        {"setresp", set_protocol},
                                        {"set_repl", set_replication}};

constexpr luaL_Reg kScriptFunctions[] = {{"replicate_commands", replicate_commands},
                                         {"breakpoint", refuse_breakpoint},
                                         {"debug", refuse_debug}};

constexpr luaL_Reg kLoadingFunctions[] = {{"register_function", register_function}, {"log", log}};

struct NamedNumber {
  const char* name;
  int value;
};

constexpr NamedNumber kLogLevels[] = {
    {"LOG_DEBUG", 0}, {"LOG_VERBOSE", 1}, {"LOG_NOTICE", 2}, {"LOG_WARNING", 3}};

constexpr NamedNumber kReplication[] = {
    {"REPL_NONE", 0}, {"REPL_AOF", 1}, {"REPL_SLAVE", 2}, {"REPL_REPLICA", 2}, {"REPL_ALL", 3}};

// Answers "7.2.0" as 0x070200.
int version_number() {
  int number = 0;
  int part = 0;
  for (const char c : kRedisVersion) {
    if (c == '.') {
      number = (number | part) << 8;
      part = 0;
    } else {
      part = part * 10 + (c - '0');
    }
  }
  return number | part;
}

template <size_t N>
void set_functions(lua_State* L, const luaL_Reg (&functions)[N]) {
  for (const luaL_Reg& function : functions) {
    lua_pushcfunction(L, function.func);
    lua_setfield(L, -2, function.name);
  }
}

template <size_t N>
void set_numbers(lua_State* L, const NamedNumber (&numbers)[N]) {
  for (const NamedNumber& number : numbers) {
    lua_pushnumber(L, number.value);
    lua_setfield(L, -2, number.name);
  }
}

void set_version(lua_State* L) {
  set_text_field(L, "REDIS_VERSION", kRedisVersion);
  lua_pushnumber(L, version_number());
  lua_setfield(L, -2, "REDIS_VERSION_NUM");
}

}  // namespace

void push_redis_library(lua_State* L, World world) {
  lua_newtable(L);
  for (const luaL_Reg& call : kCalls) {
    push_with_names(L, call.func);
    lua_setfield(L, -2, call.name);
  }
  set_functions(L, kRedisFunctions);
  if (world == World::kScripts) set_functions(L, kScriptFunctions);
  set_numbers(L, kLogLevels);
  set_numbers(L, kReplication);
  set_version(L);
}

void push_loading_redis_library(lua_State* L) {
  lua_newtable(L);
  set_functions(L, kLoadingFunctions);
  set_numbers(L, kLogLevels);
  set_version(L);
}

}  // namespace weir::server::script
