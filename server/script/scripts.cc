#include "server/script/scripts.h"

#include "resp/numbers.h"
#include "server/arguments.h"
#include "server/script/engine.h"
#include "server/script/sha1.h"
#include "server/script/shebang.h"
#include "server/server.h"

namespace weir::server::script {
namespace {

constexpr size_t kNameDigits = 40;
constexpr size_t kKeysAt = 3;
constexpr std::string_view kNoScriptError = "NOSCRIPT No matching script. Please use EVAL.";

// How many of the arguments are keys, or nothing when the error has been replied.
std::optional<size_t> key_count(Call& call) {
  const auto count = integer_argument(call, call.args[2]);
  if (!count) return std::nullopt;
  if (*count > static_cast<int64_t>(call.args.size() - kKeysAt)) {
    call.reply.error("ERR Number of keys can't be greater than number of args");
    return std::nullopt;
  }
  if (*count < 0) {
    call.reply.error("ERR Number of keys can't be negative");
    return std::nullopt;
  }
  return static_cast<size_t>(*count);
}

}  // namespace

Scripts::Scripts(Server* server) : server_(server), index_(&server->keys()) {}

Scripts::~Scripts() = default;

void Scripts::open() { index_.reload(); }

Engine& Scripts::engine() {
  if (!engine_) engine_ = std::make_unique<Engine>(server_);
  return *engine_;
}

void Scripts::forget(const std::vector<int>& references) {
  for (const int reference : references) {
    if (reference != kNotCompiled) engine().forget(reference);
  }
}

void Scripts::follow_failures() {
  if (server_->stats.turns_failed == failures_seen_) return;
  failures_seen_ = server_->stats.turns_failed;
  forget(index_.reload());
}

Script* Scripts::find(std::string_view name) {
  follow_failures();
  if (name.size() != kNameDigits) return nullptr;
  Script* script = index_.find(name);
  if (script == nullptr) {
    const std::string lower = resp::to_lower(name);
    if (lower != name) return find(lower);
  }
  if (script == nullptr || index_.has_record(*script)) return script;
  forget(index_.reload());
  return index_.find(name);
}

IndexBounds Scripts::bounds() const {
  const Config& config = server_->config();
  return {.entries_max = static_cast<size_t>(config.script_cache_entries_max),
          .bytes_max = static_cast<size_t>(config.script_cache_bytes_max)};
}

bool Scripts::compile(Call& call, Script* script, std::string_view body) {
  if (script->reference != kNotCompiled) return true;
  std::string error;
  const auto shebang = parse_shebang(body, &error);
  if (!shebang) {
    call.reply.error(error);
    return false;
  }
  const auto reference = engine().compile(body.substr(shebang->body_at), &error);
  if (!reference) {
    call.reply.error("ERR Error compiling script (new function): " + error);
    return false;
  }
  script->reference = *reference;
  script->has_shebang = shebang->present;
  script->no_writes = shebang->no_writes;
  return true;
}

void Scripts::run(Call& call, const Script& script, size_t keys, bool read_only) {
  if (script.has_shebang && !script.no_writes) {
    if (read_only)
      return call.reply.error("ERR Can not execute a script with write flag using *_ro command.");
    if (server_->writes_denied()) return call.reply.error(server_->storage_error());
  }
  const Invocation invocation = {.script = script.reference,
                                 .sha = script.name,
                                 .keys = call.args.subspan(kKeysAt, keys),
                                 .arguments = call.args.subspan(kKeysAt + keys),
                                 .read_only = read_only || script.no_writes};
  if (!engine().run(call, invocation)) server_->executor().roll_back();
}

void Scripts::eval(Call& call, bool read_only) {
  const auto keys = key_count(call);
  if (!keys) return;
  const std::string_view body = call.args[1];
  std::string name = sha1_hex(body);
  if (Script* known = find(name)) {
    if (compile(call, known, body)) run(call, *known, *keys, read_only);
    return;
  }
  Script script;
  script.name = std::move(name);
  if (!compile(call, &script, body)) return;
  run(call, script, *keys, read_only);
  // Behind the run, which may have taken back everything before it.
  if (!call.keys.failure().ok()) return forget({script.reference});
  forget(index_.add(std::move(script), body, bounds()));
}

void Scripts::eval_by_name(Call& call, bool read_only) {
  if (call.args[1].size() != kNameDigits) return call.reply.error(kNoScriptError);
  const auto keys = key_count(call);
  if (!keys) return;
  Script* script = find(call.args[1]);
  if (script == nullptr) return call.reply.error(kNoScriptError);
  if (script->reference == kNotCompiled && !compile(call, script, index_.body(*script))) return;
  run(call, *script, *keys, read_only);
}

void Scripts::load(Call& call) {
  const std::string_view body = call.args[2];
  std::string name = sha1_hex(body);
  if (Script* known = find(name)) {
    index_.keep(known);
    return call.reply.bulk(name);
  }
  Script script;
  script.name = name;
  script.kept = true;
  if (!compile(call, &script, body)) return;
  forget(index_.add(std::move(script), body, bounds()));
  call.reply.bulk(name);
}

bool Scripts::exists(std::string_view name) { return find(name) != nullptr; }

void Scripts::flush() {
  follow_failures();
  forget(index_.clear());
}

ScriptFigures Scripts::figures() const {
  return {.scripts = index_.count(),
          .body_bytes = index_.bytes(),
          .engine_bytes = engine_ ? engine_->bytes() : 0,
          .evicted = index_.evicted()};
}

}  // namespace weir::server::script
