// A Lua state: compiles scripts or loads libraries, and runs them within bounds of time and memory.
//
// It knows nothing of names and bodies, which scripts.h and functions.h keep. Lua is seen in this
// folder only.
//
// The interpreter is PUC Lua 5.1, as Redis' is, because its answers show it: the order of pairs(),
// and so that of the keys of cjson and of maps, -nan, the compiler's words. LuaJIT would also read
// literals that load its FFI. What is given up is about half of a script's own running time.
//
// Invariants
// 1. Whatever a script does, the state can serve the next one, which sees nothing of it: what
//    scripts share is read-only, and the rest is set anew for each run.
// 2. Outside a protected call nothing here touches Lua in a way that could raise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/command/command.h"
#include "server/script/lua/context.h"

namespace weir::server {
class ScriptHost;
}  // namespace weir::server

namespace weir::server::script {

// A compiled script, or a function.
using Reference = int;
inline constexpr Reference kNotCompiled = -1;

struct Invocation {
  Reference script = kNotCompiled;
  std::string_view name;  // a SHA-1, or a function's name
  Args keys;
  Args arguments;
  bool read_only = false;
  bool crosses_slots = true;  // see ScriptHost::check_slots
};

class Engine {
 public:
  Engine(ScriptHost* host, World world);
  ~Engine();
  Engine(const Engine&) = delete;

  // Compiles a script, or fails with what the compiler says.
  Result<Reference, std::string> compile(std::string_view body);
  void forget(Reference script);

  // Runs a library's code, which registers functions; they are added to *functions. If it
  // fails with an error line, the functions that it names must be forgotten.
  Result<void, std::string> load(std::string_view code, std::vector<Registration>* functions);

  // Runs a script to its end; the reply is what it returned or why it failed. False: it was
  // stopped, and what it wrote must be taken back.
  bool run(Call& call, const Invocation& invocation);

  size_t bytes() const { return context_.memory.used(); }

 private:
  void begin();
  void begin(Call& call, const Invocation& invocation);
  void end();
  // Answers why the script did not come to its end, as an error line.
  std::string failure(const Invocation& invocation) const;
  std::string stop_text() const;
  std::string place_text() const;

  Context context_;
};

}  // namespace weir::server::script
