// The Lua state: compiles scripts and runs them, within bounds of time and memory.
//
// It knows nothing of names and bodies; scripts.h keeps those. Lua is seen in this folder only.
//
// Invariants
// 1. Whatever a script does, the state serves the next one; nothing of one script is seen by
// another.
// 2. Outside a protected call nothing here touches Lua in a way that could raise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/command.h"
#include "server/script/context.h"

namespace weir::server::script {

// A compiled script.
using Reference = int;
inline constexpr Reference kNotCompiled = -1;

struct Invocation {
  Reference script = kNotCompiled;
  std::string_view sha;
  Args keys;
  Args arguments;
  bool read_only = false;
};

class Engine {
 public:
  explicit Engine(Server* server);
  ~Engine();
  Engine(const Engine&) = delete;

  // The reference, or nothing and what the compiler says.
  std::optional<Reference> compile(std::string_view body, std::string* error);
  void forget(Reference script);

  // Runs a script to its end; the reply is what it returned or why it failed. False: it was
  // stopped, and what it wrote must be taken back.
  bool run(Call& call, const Invocation& invocation);

  size_t bytes() const { return context_.budget.used; }

 private:
  void begin(Call& call, const Invocation& invocation);
  void reply_error(Call& call, const Invocation& invocation);
  std::string stop_error(const Invocation& invocation) const;

  Context context_;
};

// From now on every instruction of a script raises, so that no pcall keeps it alive.
void hurry_to_stop(lua_State* L);

}  // namespace weir::server::script
