#include "server/script/shebang.h"

#include "resp/inline_arguments.h"

namespace weir::server::script {
namespace {

// All are accepted; but for the first they allow what is allowed here anyway.
constexpr std::string_view kFlags[] = {"no-writes", "allow-oom", "allow-stale", "no-cluster",
                                       "allow-cross-slot-keys"};

bool apply_flags(std::string_view flags, Shebang* shebang, std::string* error) {
  while (!flags.empty()) {
    const std::string_view flag = flags.substr(0, flags.find(','));
    flags.remove_prefix(std::min(flags.size(), flag.size() + 1));
    bool known = false;
    for (const std::string_view name : kFlags) known = known || name == flag;
    if (!known) {
      *error = "ERR Unexpected flag in script shebang: " + std::string(flag);
      return false;
    }
    if (flag == kFlags[0]) shebang->no_writes = true;
  }
  return true;
}

}  // namespace

std::optional<Shebang> parse_shebang(std::string_view script, std::string* error) {
  Shebang shebang;
  if (!script.starts_with("#!")) return shebang;
  const size_t end = script.find('\n');
  if (end == script.npos) {
    *error = "ERR Invalid script shebang";
    return std::nullopt;
  }
  shebang.present = true;
  shebang.body_at = end;
  std::string storage;
  std::vector<std::string_view> words;
  if (!resp::split_arguments(script.substr(0, end), &storage, &words) || words.empty()) {
    *error = "ERR Invalid engine in script shebang";
    return std::nullopt;
  }
  if (words[0] != "#!lua") {
    *error = "ERR Unexpected engine in script shebang: " + std::string(words[0]);
    return std::nullopt;
  }
  for (size_t i = 1; i < words.size(); ++i) {
    constexpr std::string_view kOption = "flags=";
    if (!words[i].starts_with(kOption)) {
      *error = "ERR Unknown lua shebang option: " + std::string(words[i]);
      return std::nullopt;
    }
    if (!apply_flags(words[i].substr(kOption.size()), &shebang, error)) return std::nullopt;
  }
  return shebang;
}

}  // namespace weir::server::script
