// Invariants
// 1. Every command goes through the executor's run(), at the script's instant and with its row's
//    flags checked.
// 2. Nothing here holds an object with a destructor while Lua may raise: the arguments, the reply
//    and a problem's text live in the Context.
#include "server/script/libraries/redis_call.h"

#include <lua.hpp>

#include "server/acl/acl.h"
#include "server/acl/user.h"
#include "server/command/command_errors.h"
#include "server/command/command_table.h"
#include "server/command/key_bound.h"
#include "server/config/config.h"
#include "server/script/lua/context.h"
#include "server/script/lua/looks.h"
#include "server/script/lua/number_text.h"
#include "server/script/lua/script_host.h"
#include "server/script/lua/to_lua.h"
#include "server/session/session.h"

namespace weir::server::script {
namespace {

constexpr int kArgumentDigits = 17;

std::string_view number_text(double number, NumberText* text) {
  return {text->bytes, write_number_text(number, kArgumentDigits, text->bytes)};
}

// Fills context.args from the stack; its strings stay where they are. Never raises.
bool collect_arguments(lua_State* L, Context& context) {
  const int count = lua_gettop(L);
  context.args.resize(static_cast<size_t>(count));
  if (context.numbers.size() < static_cast<size_t>(count))
    context.numbers.resize(static_cast<size_t>(count));
  std::string_view* arg = context.args.data();
  for (int i = 1; i <= count; ++i, ++arg) {
    const int type = lua_type(L, i);
    if (type == LUA_TSTRING) {
      size_t size = 0;
      const char* bytes = lua_tolstring(L, i, &size);
      *arg = {bytes, size};
    } else if (type == LUA_TNUMBER) {
      *arg = number_text(lua_tonumber(L, i), &context.numbers[static_cast<size_t>(i - 1)]);
    } else {
      context.problem = "ERR Lua redis lib command arguments must be strings or integers";
      return false;
    }
  }
  if (count > 0) return true;
  context.problem = "ERR Please specify at least one argument for this redis lib call";
  return false;
}

Result<void, std::string> check_admission(Context& context, const Command* command) {
  if (command == nullptr) return "ERR Unknown Redis command called from script";
  if (!arity_fits(*command, context.args.size()) || command->run == nullptr)
    return "ERR Wrong number of args calling Redis command from script";
  if (command->has(kNoScript)) return "ERR This Redis command is not allowed from script";
  if (auto fits = check_keys(*command, context.args, context.host->config().key_bytes_max); !fits)
    return fits;
  if (!context.session->client().user().unrestricted()) {
    auto allowed = context.host->acl().allow_in_script(*context.session, *command, context.args);
    if (!allowed) return allowed;
  }
  if (context.read_only && command->has(kWrites | kMayReplicate))
    return "ERR Write commands are not allowed from read-only scripts.";
  if (command->has(kWrites) && context.host->writes_denied()) return context.host->storage_error();
  if (context.host->config().cluster_enabled)
    return context.host->check_slots(*command, context.args, context.crosses_slots);
  return {};
}

// Finds a command's row by its name. Containers are left out: their row depends on more than the
// name.
const Command* find_row(Context& context, const CommandTable& table) {
  const std::string_view name = context.args[0];
  if (name.empty()) return nullptr;
  const size_t place = static_cast<uint8_t>(name.front()) + 7u * static_cast<uint8_t>(name.back()) +
                       31 * name.size();
  KnownRow& known = context.rows[place % context.rows.size()];
  if (known.spelling == name) return known.command;
  const Command* command = table.resolve(context.args);
  if (command != nullptr && !command->has(kContainer) && !command->is_subcommand()) {
    known.spelling = name;
    known.command = command;
  }
  return command;
}

// Runs the command in context.args; its reply is in context.nested. False: there is a problem.
// Never raises.
bool run_command(Context& context) {
  const Command* command = find_row(context, context.host->commands());
  if (const auto admitted = check_admission(context, command); !admitted) {
    context.problem = admitted.error();
    context.host->note_refused_in_script(command, context.problem);
    return false;
  }
  context.nested.clear();
  context.nested_reply.set_protocol(context.protocol);
  context.nested_reply.set_size_max(static_cast<size_t>(context.host->config().script_memory_max));
  context.host->run_in_script(*context.session, *command, context.args, context.nested_reply);
  context.work->charge_bytes(context.nested.size());
  if (context.host->keys().failure().ok()) return true;
  context.stop = Stop::kCommandFailed;
  context.problem = "ERR a command could not be run";
  return false;
}

// Pushes a problem. What is wrong before a command runs is an error like any other; the errors of a
// command carry a mark.
void push_problem(lua_State* L, Context& context) {
  push_error_table(L, context.problem);
  mark_as_counted(L);
}

// Some commands take far longer: few should pass without a look.
constexpr size_t kCommandNs = 50'000;

int run_from_stack(lua_State* L, bool raises) {
  context_of(L).command_ns += kCommandNs;
  charge(L, kCommandNs);
  Context& context = context_of(L);
  bool failed = true;
  const bool collected = collect_arguments(L, context);
  const bool ran = collected && run_command(context);
  lua_settop(L, 0);  // as many arguments as unpack() gives would leave the reply no room
  if (!collected) {
    push_error_table(L, context.problem);
  } else if (!ran) {
    if (context.stop != Stop::kNone) hurry_to_stop(L);
    push_problem(L, context);
  } else {
    failed = context.nested.starts_with('-');
    push_reply(L, context.nested);
  }
  return failed && raises ? lua_error(L) : 1;
}

}  // namespace

int call_command(lua_State* L) { return run_from_stack(L, true); }

int try_command(lua_State* L) { return run_from_stack(L, false); }

int check_command(lua_State* L) {
  Context& context = context_of(L);
  if (!collect_arguments(L, context)) {
    push_error_table(L, context.problem);
    return lua_error(L);
  }
  const Command* command = context.host->commands().resolve(context.args);
  if (command == nullptr)
    return raise_error_table(L, "ERR Invalid command passed to redis.acl_check_cmd()");
  lua_pushboolean(L, context.session->client().user().check(*command, context.args).allowed());
  return 1;
}

}  // namespace weir::server::script
