// The table of configuration options: one row per option, and what can be done with a row.
//
// Everything that knows an option by name (the file, the command line, CONFIG, --help) goes through
// these rows. Adding an option: a field in Config, a row in config_options.cc, a paragraph in
// weir.conf (a test compares the three).
//
// Invariants:
//  1. Names and aliases are lower case and unique.
//  2. file_text(row, c), split into words and parsed, gives the field back exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server/config.h"

namespace weir::server {

// Why a value was refused, in the two voices it is told in.
struct Refusal {
  std::string redis;  // CONFIG SET: "argument must be between 0 and 65535 inclusive"
  std::string plain;  // at the start, after the option's name: "must be between 0 and 65535, got 7"
};

// The kinds of options.
struct Flag {
  bool Config::*field;
};
enum class Unit { kPlain, kBytes, kOctal };  // kBytes: accepts 64mb; kOctal: file mode bits
struct Number {
  int64_t Config::*field;
  int64_t min;
  int64_t max;
  Unit unit = Unit::kPlain;
};
struct Text {
  std::string Config::*field;
  // Checks and normalises; null: any bytes.
  std::optional<Refusal> (*accept)(std::string* value) = nullptr;
};
struct Choice {  // an enumeration whose values are the indices of its names
  std::span<const std::string_view> names;
  size_t (*get)(const Config&);
  void (*set)(Config*, size_t);
};
struct Addresses {
  std::vector<std::string> Config::*field;
};
struct Percentiles {  // each as Redis writes it: "99.9"
  std::vector<std::string> Config::*field;
};
struct BufferLimits {
  OutputBufferLimits Config::*field;
};
// Known to Redis, decided in weir: CONFIG GET reports `value`, any other value is refused with why.
struct Fixed {
  std::string_view value;
  std::string_view why;
};
using OptionKind =
    std::variant<Flag, Number, Text, Choice, Addresses, Percentiles, BufferLimits, Fixed>;

enum class Changeable { kAtStart, kWhileRunning };

struct Option {
  std::string_view name;
  std::string_view alias = {};
  OptionKind kind;
  Changeable changeable = Changeable::kWhileRunning;
  std::string_view help;
};

std::span<const Option> config_options();

// By name or alias, in any case; null when there is none.
const Option* find_option(std::string_view name);

// The option whose name is a few typing errors away from `name`; null when none is near.
const Option* nearest_option(std::string_view name);

// Parses the words that follow an option's name. The field is untouched when refused.
std::optional<Refusal> parse_words(const Option& option, std::span<const std::string> words,
                                   Config* config);

// Whether several words make the value ("bind a b"): CONFIG SET then splits its one argument.
bool takes_many_words(const Option& option);

// The value as CONFIG GET answers it.
std::string value_text(const Option& option, const Config& config);

// The value as a line of the file has it after the name: quoted where needed, sizes with units.
std::string file_text(const Option& option, const Config& config);

// What is accepted: "between 0 and 65535", "yes or no", "one of rocksdb, memory".
std::string accepted_text(const Option& option);

}  // namespace weir::server
