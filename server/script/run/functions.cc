#include "server/script/run/functions.h"

#include "base/ascii.h"
#include "resp/numbers.h"
#include "server/config/config.h"
#include "server/limiter/take/limiters.h"
#include "server/os/log.h"
#include "server/script/lua/script_host.h"
#include "server/script/lua/shebang.h"
#include "server/script/run/admission.h"
#include "server/script/run/engine.h"
#include "server/script/run/function_dump.h"
#include "server/session/session.h"
#include "storage/format/codec.h"

namespace weir::server::script {
namespace {

constexpr char kLibraryFormat = 1;
constexpr std::string_view kRecord = "functions";
constexpr size_t kFunctionKeysAt = 3;

std::string encoded(const Libraries& libraries) {
  std::string value(1, kLibraryFormat);
  for (const auto& [name, library] : libraries) {
    storage::put_varint(&value, library->code.size());
    value.append(library->code);
  }
  return value;
}

// Decodes the record; nothing when its format is not known.
std::optional<std::vector<std::string>> decoded(std::string_view value) {
  if (value.empty() || value[0] != kLibraryFormat) return std::nullopt;
  storage::Reader reader(value.substr(1));
  std::vector<std::string> codes;
  while (!reader.at_end() && reader.ok()) codes.emplace_back(reader.bytes(reader.varint()));
  return codes;
}

// Answers the first of the library's functions that another library has too, in any case.
const std::string* name_in_both(const Library& added, const Libraries& libraries) {
  for (const Registration& ours : added.functions) {
    for (const auto& [name, other] : libraries) {
      if (name == added.name) continue;
      for (const Registration& theirs : other->functions) {
        if (equals_ignoring_case(ours.name, theirs.name)) return &ours.name;
      }
    }
  }
  return nullptr;
}

Result<void, std::string> note_differences(const Libraries& before, const Libraries& after,
                                           SettingsJournal* settings) {
  if (!settings->is_on()) return {};
  for (const auto& [name, library] : before) {
    if (after.contains(name)) continue;
    auto noted = settings->note({.kind = SettingKind::kLibrary, .name = name, .is_deleted = true});
    if (!noted) return noted;
  }
  for (const auto& [name, library] : after) {
    const auto old = before.find(name);
    if (old != before.end() && old->second->code == library->code) continue;
    auto noted =
        settings->note({.kind = SettingKind::kLibrary, .name = name, .content = library->code});
    if (!noted) return noted;
  }
  return {};
}

// The very library has come from another shard lately: clients that send it to all nodes meet their
// own change.
bool is_met(const Libraries& libraries, std::string_view name, std::string_view code,
            const SettingsJournal& settings) {
  const auto found = libraries.find(name);
  return found != libraries.end() && found->second->code == code &&
         settings.has_met(SettingKind::kLibrary, name, false);
}

}  // namespace

Library::~Library() {
  for (const Registration& function : functions) {
    if (function.reference != kNotCompiled) engine->forget(function.reference);
  }
}

Functions::Functions(ScriptHost* host) : host_(host) {}

Functions::~Functions() = default;

std::shared_ptr<Engine> Functions::engine() {
  std::shared_ptr<Engine> engine = engine_.lock();
  if (engine == nullptr) {
    engine = std::make_shared<Engine>(host_, World::kFunctions);
    engine_ = engine;
  }
  return engine;
}

void Functions::open() { reload(); }

// A library that does not load any more, after an upgrade for instance, is kept without its
// functions.
void Functions::reload() {
  stale_ = false;
  data_epoch_ = host_->data_epoch();
  const storage::Ref record = host_->keys().look_up_system(kRecord);
  Libraries libraries;
  if (record.exists()) {
    const auto codes = decoded(record.value());
    if (!codes) log_error("the libraries of functions have a format that is not known");
    for (const std::string& code : codes.value_or(std::vector<std::string>())) {
      std::string name;
      const auto added = add_to(&libraries, code, false, &name);
      if (added) continue;
      log_error("library '{}' of functions: {}", name, added.error());
      auto empty = std::make_shared<Library>();
      empty->name = name;
      empty->code = code;
      libraries.emplace(name, std::move(empty));
    }
  }
  use(std::move(libraries));
}

void Functions::follow_data() {
  if (stale_ || host_->data_epoch() != data_epoch_) reload();
}

const Libraries& Functions::libraries() {
  follow_data();
  return libraries_;
}

size_t Functions::engine_bytes() const {
  const std::shared_ptr<Engine> engine = engine_.lock();
  return engine == nullptr ? 0 : engine->bytes();
}

size_t Functions::function_count() {
  size_t count = 0;
  for (const auto& [name, library] : libraries()) count += library->functions.size();
  return count;
}

Result<std::shared_ptr<const Library>, std::string> Functions::make(std::string_view code,
                                                                    const LibraryHead& head) {
  auto library = std::make_shared<Library>();
  library->name = head.name;
  library->code = code;
  library->engine = engine();
  const auto loaded = library->engine->load(code.substr(head.body_at), &library->functions);
  if (!loaded) return loaded.error();
  if (library->functions.empty()) return std::string("ERR No functions registered");
  return std::shared_ptr<const Library>(std::move(library));
}

Result<void, std::string> Functions::add_to(Libraries* libraries, std::string_view code,
                                            bool replace, std::string* name) {
  const auto head = parse_library_head(code);
  if (!head) return head.error();
  *name = head->name;
  if (!replace && libraries->contains(head->name))
    return "ERR Library '" + head->name + "' already exists";
  const auto library = make(code, *head);
  if (!library) return library.error();
  if (const std::string* taken = name_in_both(**library, *libraries))
    return "ERR Function " + *taken + " already exists";
  (*libraries)[head->name] = *library;
  return {};
}

void Functions::use(Libraries libraries) {
  index_.clear();
  libraries_ = std::move(libraries);
  for (const auto& [name, library] : libraries_) {
    for (const Registration& function : library->functions)
      index_.emplace(to_lower(function.name), &function);
  }
}

Result<void, std::string> Functions::keep(Call& call, Libraries libraries) {
  if (auto noted = note_differences(libraries_, libraries, &call.limiters.settings); !noted)
    return noted;
  put(std::move(libraries));
  return {};
}

void Functions::put(Libraries libraries) {
  storage::Keyspace& keys = host_->keys();
  storage::Ref record = keys.look_up_system(kRecord);
  if (libraries.empty()) {
    keys.erase(&record);
  } else {
    keys.put(&record, storage::Type::kSystem, encoded(libraries), 0);
  }
  use(std::move(libraries));
  stale_ = !keys.failure().ok();  // if so, the command is taken back
}

Result<void, std::string> Functions::take(std::string_view name,
                                          std::optional<std::string_view> code) {
  follow_data();
  Libraries libraries = libraries_;
  if (code) {
    std::string of_code;
    if (auto added = add_to(&libraries, *code, true, &of_code); !added) return added;
    if (of_code != name) return std::string("ERR the library's code has another name");
  } else if (const auto found = libraries.find(name); found != libraries.end()) {
    libraries.erase(found);
  }
  put(std::move(libraries));
  return {};
}

Result<void, std::string> Functions::load(Call& call, std::string_view code, bool replace,
                                          std::string* name) {
  follow_data();
  if (const auto head = parse_library_head(code);
      head && is_met(libraries_, head->name, code, call.limiters.settings)) {
    *name = head->name;
    return {};
  }
  Libraries libraries = libraries_;
  auto added = add_to(&libraries, code, replace, name);
  return added ? keep(call, std::move(libraries)) : added;
}

Result<void, std::string> Functions::remove(Call& call, std::string_view name) {
  follow_data();
  const auto found = libraries_.find(name);
  if (found == libraries_.end()) {
    if (call.limiters.settings.has_met(SettingKind::kLibrary, name, true)) return {};
    return std::string("ERR Library not found");
  }
  Libraries libraries = libraries_;
  libraries.erase(found->first);
  return keep(call, std::move(libraries));
}

Result<void, std::string> Functions::flush(Call& call) {
  follow_data();
  return keep(call, {});
}

std::string Functions::dump() {
  std::vector<std::string_view> codes;
  for (const auto& [name, library] : libraries()) codes.push_back(library->code);
  return dump_libraries(codes);
}

Result<void, std::string> Functions::restore(Call& call, std::string_view payload,
                                             RestorePolicy policy) {
  follow_data();
  const auto codes = parse_dump(payload);
  if (!codes) return codes.error();
  Libraries libraries = policy == RestorePolicy::kFlush ? Libraries() : libraries_;
  for (const std::string& code : *codes) {
    std::string name;
    const auto head = parse_library_head(code);
    if (head && is_met(libraries, head->name, code, call.limiters.settings)) continue;
    if (head && policy == RestorePolicy::kAppend && libraries.contains(head->name)) {
      return "ERR Library " + head->name + " already exists";
    }
    auto added = add_to(&libraries, code, policy == RestorePolicy::kReplace, &name);
    if (!added) return added;
  }
  return keep(call, std::move(libraries));
}

const Registration* Functions::find(std::string_view function) {
  follow_data();
  auto found = index_.find(function);
  if (found == index_.end()) found = index_.find(to_lower(function));
  return found == index_.end() ? nullptr : found->second;
}

std::optional<bool> Functions::declared_to_write(std::string_view function) {
  const Registration* const found = find(function);
  if (found == nullptr) return std::nullopt;
  return (found->flags & kNoWrites) == 0;
}

void Functions::call(Call& call, bool read_only) {
  const Registration* const found = find(call.args[1]);
  if (found == nullptr) return call.reply.error("ERR Function not found");
  const Registration& function = *found;
  const auto count = resp::parse_int64(call.args[2]);
  if (!count) return call.reply.error("ERR Bad number of keys provided");
  const auto keys = key_count(call, *count);
  if (!keys || !check_may_run(*host_, call, function.flags, read_only)) return;
  const Invocation invocation = {.script = function.reference,
                                 .name = function.name,
                                 .keys = call.args.subspan(kFunctionKeysAt, *keys),
                                 .arguments = call.args.subspan(kFunctionKeysAt + *keys),
                                 .read_only = read_only || (function.flags & kNoWrites) != 0,
                                 .crosses_slots = (function.flags & kAllowCrossSlotKeys) != 0};
  if (!engine()->run(call, invocation)) host_->roll_back();
}

}  // namespace weir::server::script
