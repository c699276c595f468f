// EVAL, EVALSHA and SCRIPT: puts names, bodies and the engine together.
//
// The engine is made for the first script: a server without scripts has none.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/command/command.h"
#include "server/command/error_replied.h"
#include "server/script/run/script_index.h"

namespace weir::server {
class ScriptHost;
}  // namespace weir::server

namespace weir::server::script {

class Engine;
struct Invocation;

struct ScriptMetrics {
  size_t scripts = 0;
  size_t body_bytes = 0;
  size_t engine_bytes = 0;
  uint64_t evicted = 0;
};

class Scripts {
 public:
  explicit Scripts(ScriptHost* host);
  ~Scripts();

  // Opens the index; to be called once the data is open.
  void open();

  // args: EVAL script numkeys key... arg...; or a name in the script's place. `read_only`: EVAL_RO.
  void eval(Call& call, bool read_only);
  void eval_by_name(Call& call, bool read_only);

  // What a script says of itself: whether it writes. Nothing: it says nothing, or is not known well
  // enough; nothing is compiled for the answer.
  std::optional<bool> declared_to_write(std::string_view body) const;
  std::optional<bool> declared_to_write_by_name(std::string_view name);

  void load(Call& call);
  bool exists(std::string_view name);
  void flush(Call& call);
  // What another shard has said of a script that is kept, by its SHA-1; no body: it is forgotten.
  Result<void, std::string> take(std::string_view name, std::optional<std::string_view> body);
  std::vector<std::string> kept_names() const { return index_.kept_names(); }
  // "": there is no such script.
  std::string_view body_of(std::string_view name);
  ScriptMetrics metrics() const;

 private:
  Engine& engine();
  // Follows the records when what the index says may not be in the log.
  void follow_data();
  void add(Call& call, Script script, std::string_view body);
  void forget(const std::vector<int>& references);
  Script* find(std::string_view name);
  // Compiles a script that is not compiled yet.
  Result<void, ErrorReplied> compile(Call& call, Script* script, std::string_view body);
  Result<void, std::string> compile(Script* script, std::string_view body);
  // Runs a script, which may be refused before it runs, or be stopped and taken back.
  void run(Call& call, const Script& script, size_t keys, bool read_only);
  IndexBounds bounds() const;

  ScriptHost* host_;
  ScriptIndex index_;
  std::unique_ptr<Engine> engine_;
  uint64_t data_epoch_ = 0;
  bool stale_ = false;
};

}  // namespace weir::server::script
