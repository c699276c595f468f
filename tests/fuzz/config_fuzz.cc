// Feeds the reader of configuration files arbitrary text, and then CONFIG SET arbitrary values.
// Demands that every refusal is one short printable line; that each option, written as a line of
// the file, is read back as the same value; and that CONFIG REWRITE makes a file that loads to the
// same configuration and that a second rewriting leaves alone.
//
// Input: the file's text; after a NUL byte, lines that are names and values of CONFIG SET in turn.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "server/config/config_access.h"
#include "server/config/config_file.h"
#include "server/config/config_options.h"
#include "server/config/config_words.h"

namespace {

using weir::server::Config;
using weir::server::ConfigError;

constexpr size_t kErrorBytesMax = 2'000;

void check(bool holds) {
  if (!holds) std::abort();
}

// A folder in memory, because a rewriting syncs its file.
const std::string& file_path() {
  static const std::string path = [] {
    std::string folder = "/dev/shm/weir-config-fuzz-" + std::to_string(::getpid());
    std::filesystem::create_directories(folder);
    static const std::string kept = folder;
    std::atexit([] { std::filesystem::remove_all(kept); });
    return folder + "/weir.conf";
  }();
  return path;
}

void write_file(std::string_view text) {
  std::ofstream(file_path(), std::ios::binary | std::ios::trunc) << text;
}

std::string read_file() {
  std::string text;
  check(weir::server::read_config_text(file_path(), &text).ok());
  return text;
}

// Included files would be those of the machine.
bool includes(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return lower.find("include") != lower.npos || lower.find('\\') != lower.npos;
}

void check_error(std::string_view error) {
  check(!error.empty() && error.size() <= kErrorBytesMax);
  // Names may be in UTF-8.
  check(std::none_of(error.begin(), error.end(),
                     [](char c) { return static_cast<uint8_t>(c) < ' ' || c == 0x7f; }));
}

void check_same(const Config& one, const Config& other) {
  for (const auto& option : weir::server::config_options()) {
    check(value_text(option, one) == value_text(option, other));
  }
  check(one.users == other.users);
}

void check_each_option(const Config& config) {
  for (const auto& option : weir::server::config_options()) {
    const std::string line = file_text(option, config);
    check(line.find('\n') == line.npos);
    const auto words = weir::server::split_words(line);
    check(words.has_value());
    Config again;
    check(weir::server::parse_words(option, *words, &again).ok());
    check(value_text(option, again) == value_text(option, config));
  }
}

void set(std::string_view text, Config* config) {
  std::vector<std::string_view> pairs;
  while (!text.empty()) {
    const size_t size = std::min(text.find('\n'), text.size());
    pairs.push_back(text.substr(0, size));
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  pairs.resize(pairs.size() / 2 * 2);
  const Config before = *config;
  const auto set = weir::server::config_set(config, pairs);
  if (set) return check_each_option(*config);
  check(set.error().starts_with("ERR "));
  check_same(before, *config);
}

void rewrite(const Config& config) {
  check(weir::server::config_rewrite(config).ok());
  Config again;
  check(weir::server::apply_config_file(file_path(), &again).ok());
  again.config_file = config.config_file;
  for (size_t i = 0; i < again.users.size(); ++i) {
    check(i < config.users.size() && again.users[i].words == config.users[i].words);
    again.users[i].place = config.users[i].place;
  }
  check_same(config, again);
  const std::string text = read_file();
  check(weir::server::config_rewrite(config).ok());
  check(text == read_file());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view text = input.substr(0, input.find('\0'));
  if (includes(text)) return 0;
  write_file(text);
  Config config;
  if (const auto applied = weir::server::apply_config_file(file_path(), &config); !applied) {
    check_error(applied.error().message);
    return 0;
  }
  config.config_file = file_path();
  check_each_option(config);
  if (text.size() < input.size()) set(input.substr(text.size() + 1), &config);
  rewrite(config);
  return 0;
}
