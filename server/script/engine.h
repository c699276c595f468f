// A Lua state: compiles scripts or loads libraries, and runs them within bounds of time and memory.
//
// It knows nothing of names and bodies; scripts.h and functions.h keep those. Lua is seen in this
// folder only.
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
#include <vector>

#include "server/command.h"
#include "server/script/context.h"

namespace weir::server::script {

// A compiled script, or a function.
using Reference = int;
inline constexpr Reference kNotCompiled = -1;

struct Invocation {
  Reference script = kNotCompiled;
  std::string_view name;  // a SHA-1, or a function's
  Args keys;
  Args arguments;
  bool read_only = false;
};

class Engine {
 public:
  Engine(Server* server, World world);
  ~Engine();
  Engine(const Engine&) = delete;

  // The reference, or nothing and what the compiler says.
  std::optional<Reference> compile(std::string_view body, std::string* error);
  void forget(Reference script);

  // Runs a library's code, which registers functions; they are added to *functions. False: what it
  // says must be forgotten, and *error is the error line.
  bool load(std::string_view code, std::vector<Registration>* functions, std::string* error);

  // Runs a script to its end; the reply is what it returned or why it failed. False: it was
  // stopped, and what it wrote must be taken back.
  bool run(Call& call, const Invocation& invocation);

  size_t bytes() const { return context_.memory.used(); }

 private:
  void begin();
  void begin(Call& call, const Invocation& invocation);
  void end();
  // Why it did not come to its end: the error line.
  std::string failure(const Invocation& invocation) const;
  std::string stop_text() const;
  std::string place_text() const;

  Context context_;
};

}  // namespace weir::server::script
