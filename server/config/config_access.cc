#include "server/config/config_access.h"

#include <algorithm>
#include <filesystem>

#include "resp/glob.h"
#include "server/config/config_file.h"
#include "server/config/config_options.h"
#include "server/config/config_words.h"
#include "server/config/ignored_options.h"
#include "server/config/refused_options.h"

namespace weir::server {
namespace {

using Pairs = std::span<const std::string_view>;

constexpr size_t kShownBytesMax = 128;  // of a name, in an error

// Makes the error of a pair; it has the client's spelling of the name, without line breaks.
std::string set_error(std::string_view name, std::string_view why) {
  std::string text = "ERR CONFIG SET failed (possibly related to argument '" +
                     std::string(name.substr(0, kShownBytesMax)) + "') - " + std::string(why);
  std::replace(text.begin(), text.end(), '\r', ' ');
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string unknown_set_error(std::string_view name) {
  std::string text = "ERR Unknown option or number of arguments for CONFIG SET - '" +
                     std::string(name.substr(0, kShownBytesMax)) + "'";
  if (const RefusedOption* refused = find_refused(name); refused != nullptr)
    text += ": " + std::string(refused->why);
  else if (const Option* nearest = nearest_option(name); nearest != nullptr)
    text += "; did you mean '" + std::string(nearest->name) + "'?";
  std::replace(text.begin(), text.end(), '\r', ' ');
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// A fixed option may be "set" to the value that it has.
bool may_change(const Option& option) { return option.changeable == Changeable::kWhileRunning; }

// What a name of CONFIG SET stands for: one of the two.
struct Named {
  const Option* option = nullptr;
  const IgnoredOption* ignored = nullptr;
  bool operator==(const Named&) const = default;
};

// Checks all names before any value is looked at.
Result<void, std::string> check_names(Pairs pairs, std::vector<Named>* named) {
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const Named found{.option = find_option(pairs[i]), .ignored = find_ignored(pairs[i])};
    if (found == Named()) return unknown_set_error(pairs[i]);
    if (found.option != nullptr && !may_change(*found.option))
      return set_error(pairs[i], "can't set immutable config");
    if (std::find(named->begin(), named->end(), found) != named->end()) {
      return set_error(pairs[i], "duplicate parameter");
    }
    named->push_back(found);
  }
  return {};
}

Result<void, Refusal> parse_value(const Option& option, std::string_view value, Config* config) {
  if (takes_many_words(option)) return parse_words(option, split_blanks(value), config);
  const std::string word(value);
  return parse_words(option, std::span(&word, 1), config);
}

bool matches_any(std::string_view name, std::span<const std::string_view> patterns) {
  return !name.empty() &&
         std::any_of(patterns.begin(), patterns.end(), [name](std::string_view pattern) {
           return resp::glob_match(pattern, name, true);
         });
}

}  // namespace

Result<void, ConfigError> load_config(int argc, const char* const* argv, Config* config) {
  std::span<const char* const> arguments(argv, static_cast<size_t>(std::max(argc, 0)));
  arguments = arguments.subspan(std::min<size_t>(arguments.size(), 1));
  Config loaded;
  if (!arguments.empty() && !std::string_view(arguments[0]).starts_with("--")) {
    const std::string path = arguments[0];
    arguments = arguments.subspan(1);
    if (auto applied = apply_config_file(path, &loaded); !applied) return applied;
    loaded.config_file = std::filesystem::absolute(path).lexically_normal().string();
  }
  if (auto applied = apply_command_line(arguments, &loaded); !applied) return applied;
  *config = std::move(loaded);
  return {};
}

std::vector<std::pair<std::string, std::string>> config_get(
    const Config& config, std::span<const std::string_view> patterns) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const Option& option : config_options()) {
    for (std::string_view name : {option.name, option.alias}) {
      if (matches_any(name, patterns)) found.emplace_back(name, value_text(option, config));
    }
  }
  for (const IgnoredOption& option : ignored_options()) {
    for (std::string_view name : {option.name, option.alias}) {
      if (matches_any(name, patterns)) found.emplace_back(name, ignored_value(option, config));
    }
  }
  return found;
}

Result<void, std::string> config_set(Config* config, Pairs pairs,
                                     std::vector<std::string>* changed) {
  if (pairs.empty()) return std::string("ERR wrong number of arguments for 'config|set' command");
  if (pairs.size() % 2 != 0) return std::string("ERR syntax error");
  std::vector<Named> named;
  if (auto known = check_names(pairs, &named); !known) return known;
  Config next = *config;
  for (size_t i = 0; i < named.size(); ++i) {
    const std::string_view value = pairs[2 * i + 1];
    if (named[i].ignored != nullptr) {
      if (!set_ignored(*named[i].ignored, value, &next))
        return set_error(pairs[2 * i], "the value is not one that Redis accepts");
      continue;
    }
    const auto parsed = parse_value(*named[i].option, value, &next);
    if (!parsed) return set_error(pairs[2 * i], parsed.error().redis);
  }
  for (const auto& [option, ignored] : named) {
    if (option == nullptr) continue;
    bool differs = value_text(*option, next) != value_text(*option, *config);
    if (differs && changed != nullptr) changed->emplace_back(option->name);
  }
  *config = std::move(next);
  return {};
}

std::string config_usage() {
  const Config defaults;
  std::string text;
  for (const Option& option : config_options()) {
    text += "  --" + std::string(option.name) + "  (" + accepted_text(option) + "; default " +
            file_text(option, defaults) + ") " + std::string(option.help) + '\n';
  }
  return text;
}

}  // namespace weir::server
