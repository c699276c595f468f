#include "server/script/run/scripts.h"

#include "base/ascii.h"
#include "server/command/arguments.h"
#include "server/config/config.h"
#include "server/limiter/take/limiters.h"
#include "server/os/log.h"
#include "server/script/lua/script_host.h"
#include "server/script/lua/sha1.h"
#include "server/script/lua/shebang.h"
#include "server/script/run/admission.h"
#include "server/script/run/engine.h"
#include "server/session/session.h"

namespace weir::server::script {
namespace {

constexpr size_t kNameDigits = 40;
constexpr size_t kScriptKeysAt = 3;
constexpr std::string_view kNoScriptError = "NOSCRIPT No matching script. Please use EVAL.";

Result<size_t, ErrorReplied> parsed_key_count(Call& call) {
  const auto count = integer_argument(call, call.args[2]);
  if (!count) return count.error();
  return key_count(call, *count);
}

}  // namespace

Scripts::Scripts(ScriptHost* host) : host_(host), index_(&host->keys()) {}

Scripts::~Scripts() = default;

void Scripts::open() {
  data_epoch_ = host_->data_epoch();
  index_.reload();
}

Engine& Scripts::engine() {
  if (!engine_) engine_ = std::make_unique<Engine>(host_, World::kScripts);
  return *engine_;
}

void Scripts::forget(const std::vector<int>& references) {
  for (const int reference : references) {
    if (reference != kNotCompiled) engine().forget(reference);
  }
}

void Scripts::follow_data() {
  if (!stale_ && host_->data_epoch() == data_epoch_) return;
  stale_ = false;
  data_epoch_ = host_->data_epoch();
  forget(index_.reload());
}

Script* Scripts::find(std::string_view name) {
  follow_data();
  if (name.size() != kNameDigits) return nullptr;
  if (Script* script = index_.find(name)) return script;
  const std::string lower = to_lower(name);
  return lower == name ? nullptr : index_.find(lower);
}

// A script that is taken back with its command, because a record could not be read, is not added.
void Scripts::add(Call& call, Script script, std::string_view body) {
  forget(index_.add(std::move(script), body, bounds()));
  stale_ = !call.keys.failure().ok();
}

IndexBounds Scripts::bounds() const {
  const Config& config = host_->config();
  return {.entries_max = static_cast<size_t>(config.script_cache_entries_max),
          .bytes_max = static_cast<size_t>(config.script_cache_bytes_max)};
}

Result<void, ErrorReplied> Scripts::compile(Call& call, Script* script, std::string_view body) {
  const auto compiled = compile(script, body);
  if (!compiled) return reply_error(call, compiled.error());
  return {};
}

Result<void, std::string> Scripts::compile(Script* script, std::string_view body) {
  if (script->reference != kNotCompiled) return {};
  const auto shebang = parse_shebang(body);
  if (!shebang) return shebang.error();
  const auto reference = engine().compile(body.substr(shebang->body_at));
  if (!reference) return "ERR Error compiling script (new function): " + reference.error();
  script->reference = *reference;
  script->has_shebang = shebang->present;
  script->no_writes = (shebang->flags & kNoWrites) != 0;
  script->no_cluster = (shebang->flags & kNoCluster) != 0;
  script->crosses_slots = !shebang->present || (shebang->flags & kAllowCrossSlotKeys) != 0;
  return {};
}

void Scripts::run(Call& call, const Script& script, size_t keys, bool read_only) {
  // A script that says nothing of itself is judged by what it does.
  const bool may_write = script.has_shebang && !script.no_writes;
  const uint32_t flags =
      (may_write ? 0u : uint32_t{kNoWrites}) | (script.no_cluster ? uint32_t{kNoCluster} : 0u);
  if (!check_may_run(*host_, call, flags, read_only)) return;
  const Invocation invocation = {.script = script.reference,
                                 .name = script.name,
                                 .keys = call.args.subspan(kScriptKeysAt, keys),
                                 .arguments = call.args.subspan(kScriptKeysAt + keys),
                                 .read_only = read_only || script.no_writes,
                                 .crosses_slots = script.crosses_slots};
  if (!engine().run(call, invocation)) host_->roll_back();
}

void Scripts::eval(Call& call, bool read_only) {
  const auto keys = parsed_key_count(call);
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
  // This comes after the run, which may have taken back everything before it. A body is kept by a
  // record: while the disk takes none, a script that only reads runs and is not kept.
  if (!call.keys.failure().ok() || host_->writes_denied()) return forget({script.reference});
  add(call, std::move(script), body);
}

void Scripts::eval_by_name(Call& call, bool read_only) {
  if (call.args[1].size() != kNameDigits) return call.reply.error(kNoScriptError);
  const auto keys = parsed_key_count(call);
  if (!keys) return;
  Script* script = find(call.args[1]);
  if (script == nullptr) return call.reply.error(kNoScriptError);
  if (script->reference == kNotCompiled && !compile(call, script, index_.body(*script))) return;
  run(call, *script, *keys, read_only);
}

std::optional<bool> Scripts::declared_to_write(std::string_view body) const {
  const auto shebang = parse_shebang(body);
  if (!shebang || !shebang->present) return std::nullopt;
  return (shebang->flags & kNoWrites) == 0;
}

std::optional<bool> Scripts::declared_to_write_by_name(std::string_view name) {
  const Script* script = find(name);
  if (script == nullptr || !script->has_shebang) return std::nullopt;
  return !script->no_writes;
}

void Scripts::load(Call& call) {
  const std::string_view body = call.args[2];
  std::string name = sha1_hex(body);
  if (call.keys.options().follows) {  // others' turns: what they load comes in those
    Script script;
    if (!compile(call, &script, body)) return;
    forget({script.reference});
    return call.reply.bulk(name);
  }
  Script* const known = find(name);
  if (known != nullptr && known->kept) return call.reply.bulk(name);
  Script script;
  script.name = name;
  script.kept = true;
  if (known == nullptr && !compile(call, &script, body)) return;
  const auto noted = call.limiters.settings.note(
      {.kind = SettingKind::kScript, .name = name, .content = std::string(body)});
  if (!noted) {
    forget({script.reference});
    return call.reply.error(noted.error());
  }
  if (known != nullptr) {
    index_.keep(known);
    stale_ = !call.keys.failure().ok();
  } else {
    add(call, std::move(script), body);
  }
  call.reply.bulk(name);
}

bool Scripts::exists(std::string_view name) { return find(name) != nullptr; }

void Scripts::flush(Call& call) {
  follow_data();
  SettingsJournal& settings = call.limiters.settings;
  if (settings.is_on()) {
    for (const std::string& name : index_.kept_names())
      (void)settings.note({.kind = SettingKind::kScript, .name = name, .is_deleted = true});
  }
  forget(index_.clear());
  stale_ = !host_->keys().failure().ok();
}

Result<void, std::string> Scripts::take(std::string_view name,
                                        std::optional<std::string_view> body) {
  follow_data();
  Script* const known = index_.find(name);
  if (!body) {
    if (known != nullptr && known->kept) forget(index_.remove(known));
  } else if (sha1_hex(*body) != name) {
    return std::string("ERR the script has another SHA-1");
  } else if (known != nullptr) {
    index_.keep(known);
  } else {
    Script script;
    script.name = name;
    script.kept = true;
    if (auto compiled = compile(&script, *body); !compiled) return compiled;
    forget(index_.add(std::move(script), *body, bounds()));
  }
  stale_ = !host_->keys().failure().ok();
  return {};
}

std::string_view Scripts::body_of(std::string_view name) {
  follow_data();
  const Script* const script = index_.find(name);
  return script == nullptr ? std::string_view() : index_.body(*script);
}

ScriptMetrics Scripts::metrics() const {
  return {.scripts = index_.count(),
          .body_bytes = index_.bytes(),
          .engine_bytes = engine_ ? engine_->bytes() : 0,
          .evicted = index_.evicted()};
}

}  // namespace weir::server::script
