// When a running script's clock is looked at: every so many instructions, and after so much work
// that functions of C did for it.
//
// Instructions alone do not tell the time: one call may copy megabytes or search them. Such
// functions charge for what they do, and the allocator charges large blocks of memory. Where a
// script has a large string, which one addition may read whole, fewer instructions run from look to
// look.
//
// Invariant: once a script is to stop, every further look raises, so that no pcall keeps it alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

struct lua_State;

namespace weir::server::script {

struct Context;

// Makes the clock be looked at from now on, as often as is usual for what the script holds.
void watch(lua_State* L);

// Makes every instruction of the script raise from now on.
void hurry_to_stop(lua_State* L);

// Charges work in nanoseconds, roughly. May look at the clock, and raise; other clients may be
// served meanwhile.
void charge(lua_State* L, size_t work_ns);

// Hands what was charged to the server's WorkMeter.
void charge_meter(Context& context);

// Charges work of the allocator, which may not raise: the script's next instruction looks.
void charge_block(Context& context, size_t bytes);

// Does what lua_load() does, but looks at the clock on the way: there are texts that the compiler
// is slow with.
int load_watched(lua_State* L, std::string_view text, const char* name);

}  // namespace weir::server::script
