// Makes the answer of redis.call from the bytes of a reply.
#pragma once

#include <string_view>

struct lua_State;

namespace weir::server::script {

// Pushes one value for the one reply in `bytes`, which a ReplyWriter wrote: they are trusted. May
// raise (memory, stack).
//   status {ok=}, error {err=}, integer number, bulk string, null false (RESP3's: nil),
//   array a table from 1; RESP3: map {map=}, set {set=} with true for each element, double
//   {double=}, big number {big_number=}, verbatim {verbatim_string={string=, format=}}, boolean.
// REQUIRES: the function that runs may push names (names.h).
void push_reply(lua_State* L, std::string_view bytes);

}  // namespace weir::server::script
