// Names that every call of a script needs, as strings that Lua has already: to push one takes no
// look for its bytes among all strings.
#pragma once

struct lua_State;

namespace weir::server::script {

enum class Name {
  kErr,
  kOk,
  kDouble,
  kMap,
  kSet,
  kBigNumber,
  kVerbatim,
  kKeys,
  kArgv,
  kOkText,  // the status of most commands
  kLast = kOkText
};

// Pushes a function that may push names.
void push_with_names(lua_State* L, int (*function)(lua_State*));

// Pushes a name. REQUIRES: push_with_names() has made the function of C that is running.
void push_name(lua_State* L, Name name);

}  // namespace weir::server::script
