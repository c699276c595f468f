#include "server/script/lua/shebang.h"

#include <algorithm>

#include "base/ascii.h"
#include "resp/inline_arguments.h"

namespace weir::server::script {
namespace {

constexpr std::string_view kFlags[] = {"no-writes", "allow-oom", "allow-stale", "no-cluster",
                                       "allow-cross-slot-keys"};
constexpr std::string_view kMark = "#!";
constexpr std::string_view kEngine = "lua";

Result<void, std::string> apply_flags(std::string_view flags, Shebang* shebang) {
  while (!flags.empty()) {
    const std::string_view flag = flags.substr(0, flags.find(','));
    flags.remove_prefix(std::min(flags.size(), flag.size() + 1));
    const uint32_t known = script_flag(flag);
    if (known == 0) return "ERR Unexpected flag in script shebang: " + std::string(flag);
    shebang->flags |= known;
  }
  return {};
}

// The words of a line, of which there is at least one.
struct Words {
  std::string storage;
  std::vector<std::string_view> words;
};

bool split(std::string_view line, Words* words) {
  return resp::split_arguments(line, &words->storage, &words->words) && !words->words.empty();
}

}  // namespace

std::span<const std::string_view> script_flag_names() { return kFlags; }

uint32_t script_flag(std::string_view name) {
  for (size_t i = 0; i < std::size(kFlags); ++i) {
    if (kFlags[i] == name) return 1u << i;
  }
  return 0;
}

Result<Shebang, std::string> parse_shebang(std::string_view script) {
  Shebang shebang;
  if (!script.starts_with(kMark)) return shebang;
  const size_t end = script.find('\n');
  if (end == script.npos) return std::string("ERR Invalid script shebang");
  shebang.present = true;
  shebang.body_at = end;
  Words line;
  if (!split(script.substr(0, end), &line))
    return std::string("ERR Invalid engine in script shebang");
  if (line.words[0] != "#!lua")
    return "ERR Unexpected engine in script shebang: " + std::string(line.words[0]);
  for (size_t i = 1; i < line.words.size(); ++i) {
    constexpr std::string_view kOption = "flags=";
    if (!line.words[i].starts_with(kOption))
      return "ERR Unknown lua shebang option: " + std::string(line.words[i]);
    const auto applied = apply_flags(line.words[i].substr(kOption.size()), &shebang);
    if (!applied) return applied.error();
  }
  return shebang;
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '_';
  });
}

Result<LibraryHead, std::string> parse_library_head(std::string_view code) {
  if (!code.starts_with(kMark)) return std::string("ERR Missing library metadata");
  const size_t end = code.find('\n');
  Words line;
  if (end == code.npos || !split(code.substr(0, end), &line))
    return std::string("ERR Invalid library metadata");
  LibraryHead head = {.name = {}, .body_at = end};
  bool named = false;
  for (size_t i = 1; i < line.words.size(); ++i) {
    constexpr std::string_view kOption = "name=";
    if (!line.words[i].starts_with(kOption))
      return "ERR Invalid metadata value given: " + std::string(line.words[i]);
    if (named) {
      return std::string("ERR Invalid metadata value, name argument was given multiple times");
    }
    named = true;
    head.name = line.words[i].substr(kOption.size());
  }
  if (!named) return std::string("ERR Library name was not given");
  if (!is_name(head.name)) return std::string(kNameError);
  const std::string_view engine = line.words[0].substr(kMark.size());
  if (!equals_ignoring_case(engine, kEngine))
    return "ERR Engine '" + std::string(engine) + "' not found";
  return head;
}

}  // namespace weir::server::script
