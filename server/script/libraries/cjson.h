// cjson: JSON, as lua-cjson 2.1 reads and writes it.
#pragma once

struct lua_State;

namespace weir::server::script {

int json_encode(lua_State* L);
int json_decode(lua_State* L);

}  // namespace weir::server::script
