// redis.call, redis.pcall and redis.acl_check_cmd: the way from a script to a command.
#pragma once

struct lua_State;

namespace weir::server::script {

int call_command(lua_State* L);   // raises the error that the command answers
int try_command(lua_State* L);    // answers the error
int check_command(lua_State* L);  // tells whether the user may run it

}  // namespace weir::server::script
