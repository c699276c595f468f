// EVAL, EVALSHA and SCRIPT: names, bodies and the engine put together.
//
// The engine is made when the first script comes: a server without scripts pays nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/command.h"
#include "server/script/script_index.h"

namespace weir::server::script {

class Engine;
struct Invocation;

struct ScriptFigures {
  size_t scripts = 0;
  size_t body_bytes = 0;
  size_t engine_bytes = 0;
  uint64_t evicted = 0;
};

class Scripts {
 public:
  explicit Scripts(Server* server);
  ~Scripts();

  // Once the data is open.
  void open();

  // args: EVAL script numkeys key... arg...; or a name in the script's place. `read_only`: EVAL_RO.
  void eval(Call& call, bool read_only);
  void eval_by_name(Call& call, bool read_only);

  void load(Call& call);
  bool exists(std::string_view name);
  void flush();
  ScriptFigures figures() const;

 private:
  Engine& engine();
  // What the index says may not be in the log any more.
  void follow_data();
  void add(Call& call, Script script, std::string_view body);
  void forget(const std::vector<int>& references);
  Script* find(std::string_view name);
  // Compiles what is not compiled yet; false: the error has been replied.
  bool compile(Call& call, Script* script, std::string_view body);
  // False: it was refused before it ran, or stopped and taken back.
  void run(Call& call, const Script& script, size_t keys, bool read_only);
  IndexBounds bounds() const;

  Server* server_;
  ScriptIndex index_;
  std::unique_ptr<Engine> engine_;
  uint64_t data_epoch_ = 0;
  bool stale_ = false;
};

}  // namespace weir::server::script
