// CONFIG REWRITE: brings the file to what is configured now, touching as few lines as it can.
//
// What the file would load to is compared with the configuration, option by option. Lines of
// options that agree stay as they are. An option that differs gets one line with its value in place
// of its first line, and its other lines go. That line stands at the end if the file has none for
// the option, or if a later include could overrule it.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/ascii.h"
#include "server/config/config_access.h"
#include "server/config/config_file.h"
#include "server/config/config_options.h"
#include "server/config/config_words.h"
#include "server/config/ignored_options.h"
#include "server/os/replace_file.h"

namespace weir::server {
namespace {

using Lines = std::vector<std::string>;
constexpr std::string_view kSignature = "# Written by CONFIG REWRITE";

// Answers the lower-case first word, "" for a comment or a blank line. REQUIRES: the file has been
// parsed.
std::string directive_of(const std::string& line) {
  size_t first = line.find_first_not_of(" \t\r\v\f");
  if (first == std::string::npos || line[first] == '#') return "";
  auto words = split_words(line);
  return words && !words->empty() ? to_lower(words->front()) : "";
}

bool has_include_after(const Lines& lines, size_t position) {
  return std::any_of(lines.begin() + static_cast<std::ptrdiff_t>(position), lines.end(),
                     [](const std::string& line) { return directive_of(line) == "include"; });
}

// Removes the lines of an option; answers where the first one was, lines.size() if there was none.
// `is_its`: tells whether a name is the option's.
template <typename IsIts>
size_t remove_lines(const IsIts& is_its, Lines* lines) {
  size_t first = lines->size();
  size_t kept = 0;
  for (size_t i = 0; i < lines->size(); ++i) {
    const std::string name = directive_of((*lines)[i]);
    if (!name.empty() && is_its(name)) {
      first = std::min(first, kept);
    } else {
      if (kept != i) (*lines)[kept] = std::move((*lines)[i]);
      ++kept;
    }
  }
  const bool found = kept != lines->size();
  lines->resize(kept);
  return found ? first : kept;
}

// A comment goes before the lines that are added at the end.
void sign(Lines* lines) {
  if (std::find(lines->begin(), lines->end(), kSignature) != lines->end()) return;
  if (!lines->empty()) lines->emplace_back();
  lines->emplace_back(kSignature);
}

template <typename IsIts>
void write_line(std::string line, const IsIts& is_its, Lines* lines) {
  const size_t before = lines->size();
  const size_t position = remove_lines(is_its, lines);
  const bool in_place = before != lines->size() && !has_include_after(*lines, position);
  if (in_place) {
    lines->insert(lines->begin() + static_cast<std::ptrdiff_t>(position), std::move(line));
    return;
  }
  sign(lines);
  lines->push_back(std::move(line));
}

// Answers whether options have changed.
bool write_options(const Config& on_disk, const Config& config, Lines* lines) {
  bool changed = false;
  for (const Option& option : config_options()) {
    if (value_text(option, on_disk) == value_text(option, config)) continue;
    write_line(
        std::string(option.name) + ' ' + file_text(option, config),
        [&](const std::string& name) { return find_option(name) == &option; }, lines);
    changed = true;
  }
  for (const IgnoredOption& option : ignored_options()) {
    const std::string_view value = ignored_value(option, config);
    if (ignored_value(option, on_disk) == value) continue;
    write_line(
        std::string(option.name) + ' ' + std::string(value),
        [&](const std::string& name) { return find_ignored(name) == &option; }, lines);
    changed = true;
  }
  return changed;
}

// Writes the "user name rule ..." lines, all in place of the first one or at the end.
void write_users(const std::vector<Config::UserLine>& users, Lines* lines) {
  size_t position = lines->size();
  for (size_t i = lines->size(); i-- > 0;) {
    if (directive_of((*lines)[i]) != "user") continue;
    lines->erase(lines->begin() + static_cast<std::ptrdiff_t>(i));
    position = i;
  }
  const bool in_place = position < lines->size() && !has_include_after(*lines, position);
  if (!in_place) {
    sign(lines);
    position = lines->size();
  }
  for (const Config::UserLine& user : users) {
    std::string line = "user";
    // A hash sign begins a comment only at the beginning of a line.
    for (const std::string& word : user.words)
      line += ' ' + (word.starts_with('#') ? word : quote_word(word));
    lines->insert(lines->begin() + static_cast<std::ptrdiff_t>(position++), std::move(line));
  }
}

std::string rewritten(const std::string& text, const Config& on_disk, const Config& config) {
  Lines lines = split_lines(text);
  bool changed = write_options(on_disk, config, &lines);
  if (on_disk.users != config.users) {
    write_users(config.users, &lines);
    changed = true;
  }
  if (!changed) return text;
  std::string out;
  for (const std::string& line : lines) out += line + '\n';
  return out;
}

std::string rewrite_error(std::string_view why) {
  return "ERR Rewriting config file: " + std::string(why);
}

}  // namespace

Result<void, std::string> config_rewrite(const Config& config) {
  if (config.config_file.empty())
    return std::string("ERR The server is running without a config file");
  // If the file is a link, what it points to is replaced.
  std::error_code error;
  const std::string path = std::filesystem::canonical(config.config_file, error).string();
  if (error) return rewrite_error(error.message());
  std::string text;
  if (auto read = read_config_text(path, &text); !read) return rewrite_error(read.error().message);
  Config on_disk;
  // The file is read by its own name: includes are relative to the folder it was loaded from.
  if (auto applied = apply_config_file(config.config_file, &on_disk); !applied)
    return rewrite_error(applied.error().message);
  const bool in_this_file =
      std::all_of(on_disk.users.begin(), on_disk.users.end(), [&](const Config::UserLine& user) {
        return user.place.starts_with(config.config_file + ':');
      });
  if (on_disk.users != config.users && !in_this_file)
    return rewrite_error("users have changed that stand in an included file");
  const std::string wanted = rewritten(text, on_disk, config);
  if (wanted == text) return {};
  int failure = replace_file(path, wanted);
  if (failure != 0) return rewrite_error(std::strerror(failure));
  return {};
}

}  // namespace weir::server
