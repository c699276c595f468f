#include "server/config/config_file.h"

#include <glob.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/ascii.h"
#include "base/byte_order_mark.h"
#include "server/config/config_options.h"
#include "server/config/config_words.h"
#include "server/config/ignored_options.h"
#include "server/config/refused_options.h"

namespace weir::server {
namespace {

constexpr size_t kFileBytesMax = 1 << 20;
constexpr std::string_view kBlanks = " \t\r\v\f";
constexpr int kIncludeDepthMax = 8;

using LineWords = std::vector<std::string>;

// Where a directive was written: errors begin with it, and includes are relative to it.
struct Place {
  std::string name;    // "weir.conf:12" or "command line"
  std::string folder;  // "" for the working directory
  int depth = 0;
};

ConfigError error_at(const Place& place, const std::string& what) {
  return {place.name + ": " + what};
}

// An option that weir does not have, as Redis or nobody has it.
Result<void, ConfigError> refuse_option(const Place& place, const LineWords& words) {
  const std::string& name = words[0];
  if (const RefusedOption* refused = find_refused(name); refused != nullptr) {
    if (words.size() == 2 && is_harmless(*refused, words[1])) return {};
    return error_at(place, to_lower(name) + " is an option of Redis that weir does not have: " +
                               std::string(refused->why));
  }
  const Option* nearest = nearest_option(name);
  std::string hint =
      nearest == nullptr ? "" : ", did you mean '" + std::string(nearest->name) + "'?";
  return error_at(place, "unknown option " + printable(name) + hint);
}

Result<void, ConfigError> apply_file(const std::string& path, int depth, const Place* from,
                                     Config* config);

std::vector<std::string> matching_files(const std::string& pattern) {
  glob_t found = {};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  return paths;
}

Result<void, ConfigError> apply_include(const Place& place, const LineWords& words,
                                        Config* config) {
  if (words.size() != 2) return error_at(place, "include takes one path");
  if (place.depth >= kIncludeDepthMax) return error_at(place, "include is nested too deep");
  if (words[1].find('\0') != std::string::npos) return error_at(place, "include takes a path");
  std::string path = (std::filesystem::path(place.folder) / words[1]).string();
  bool is_pattern = path.find_first_of("*?[") != std::string::npos;
  if (!is_pattern) return apply_file(path, place.depth + 1, &place, config);
  for (const std::string& found : matching_files(path)) {
    if (auto done = apply_file(found, place.depth + 1, &place, config); !done) return done;
  }
  return {};
}

// Collects a user's rules; only code that knows commands (acl/) can tell what they mean.
Result<void, ConfigError> add_user(const Place& place, const LineWords& words, Config* config) {
  if (words.size() < 2) return error_at(place, "user takes a name and rules");
  for (const Config::UserLine& known : config->users) {
    if (known.words[0] != words[1]) continue;
    return error_at(place, "user " + printable(words[1]) + " is there twice, see " + known.place);
  }
  config->users.push_back({.place = place.name, .words = {words.begin() + 1, words.end()}});
  return {};
}

// Applies one directive; words[0] is its name.
Result<void, ConfigError> apply_directive(const Place& place, const LineWords& words,
                                          Config* config) {
  if (equals_ignoring_case(words[0], "include")) return apply_include(place, words, config);
  if (equals_ignoring_case(words[0], "user")) return add_user(place, words, config);
  const Option* option = find_option(words[0]);
  if (const IgnoredOption* ignored = find_ignored(words[0]); ignored != nullptr) {
    if (words.size() == 2 && set_ignored(*ignored, words[1], config)) return {};
    return error_at(place, to_lower(words[0]) + " has a value that Redis does not accept");
  }
  if (option == nullptr) return refuse_option(place, words);
  const auto parsed = parse_words(*option, std::span(words).subspan(1), config);
  if (parsed) return {};
  return error_at(place, to_lower(words[0]) + ' ' + parsed.error().plain);
}

Result<void, ConfigError> apply_line(const Place& place, const std::string& line, Config* config) {
  size_t first = line.find_first_not_of(kBlanks);
  if (first == std::string::npos || line[first] == '#') return {};
  auto words = split_words(line);
  if (!words) return error_at(place, "quotes are not closed, or not followed by a blank");
  return apply_directive(place, *words, config);
}

// Applies a file. `from` is the place of the include, or null for the file named at the start.
Result<void, ConfigError> apply_file(const std::string& path, int depth, const Place* from,
                                     Config* config) {
  std::string text;
  if (auto read = read_config_text(path, &text); !read) {
    if (from == nullptr) return read;
    return error_at(*from, read.error().message);
  }
  int number = 0;
  for (const std::string& line : split_lines(text)) {
    Place place = {.name = path + ':' + std::to_string(++number),
                   .folder = std::filesystem::path(path).parent_path().string(),
                   .depth = depth};
    if (auto done = apply_line(place, line, config); !done) return done;
  }
  return {};
}

}  // namespace

Result<void, ConfigError> read_config_text(const std::string& path, std::string* text) {
  auto cannot = [&path](const std::string& why) {
    return ConfigError{"cannot read configuration file " + printable(path) + ": " + why};
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return cannot("it is a directory");
  std::ifstream file(path, std::ios::binary);
  if (!file) return cannot(std::strerror(errno));
  text->clear();
  char chunk[16 << 10];
  while (text->size() <= kFileBytesMax && (file.read(chunk, sizeof chunk), file.gcount() > 0)) {
    text->append(chunk, static_cast<size_t>(file.gcount()));
  }
  if (file.bad()) return cannot("input error");
  if (text->size() > kFileBytesMax)
    return cannot("it is longer than " + format_size(kFileBytesMax));
  *text = without_byte_order_mark(*text);
  return {};
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

Result<void, ConfigError> apply_config_file(const std::string& path, Config* config) {
  return apply_file(path, 0, nullptr, config);
}

Result<void, ConfigError> apply_command_line(std::span<const char* const> arguments,
                                             Config* config) {
  const Place place = {.name = "command line", .folder = ""};
  size_t i = 0;
  while (i < arguments.size()) {
    std::string_view name = arguments[i++];
    if (!name.starts_with("--")) {
      return error_at(place, "expected an option such as --port 6379, got " + printable(name));
    }
    if (name.find('=') != std::string_view::npos) {
      return error_at(place, "write --name value, without '=', got " + printable(name));
    }
    LineWords words = {std::string(name.substr(2))};
    while (i < arguments.size() && !std::string_view(arguments[i]).starts_with("--")) {
      words.emplace_back(arguments[i++]);
    }
    if (auto done = apply_directive(place, words, config); !done) return done;
  }
  return {};
}

}  // namespace weir::server
