// One configuration option: the kinds of options, the row that describes one, and what a row can
// do with words and values.
//
// Invariant: file_text(row, c), split into words and parsed, gives the field back exactly.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "server/config/config.h"

namespace weir::server {

// Why a value was refused, once in Redis' words and once in plain ones.
struct Refusal {
  std::string redis;  // CONFIG SET: "argument must be between 0 and 65535 inclusive"
  std::string plain;  // at the start, after the option's name: "must be between 0 and 65535, got 7"
};

// The kinds of options.
struct Flag {
  bool Config::*field;
};
// kBytes: accepts 64mb; kBytesOrPercent: also 50%, which is kept as -50; kOctal: file mode bits.
enum class Unit { kPlain, kBytes, kBytesOrPercent, kOctal };
struct Number {
  int64_t Config::*field;
  int64_t min;
  int64_t max;
  Unit unit = Unit::kPlain;
};
struct Text {
  std::string Config::*field;
  // Checks and normalises a value; null accepts any bytes.
  Result<void, Refusal> (*accept)(std::string* value) = nullptr;
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
// An option that Redis has and weir has decided: CONFIG GET reports `value`; any other value is
// refused, with `why`.
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
  bool secret = false;      // nobody is shown its value
  bool may_differ = false;  // members may have another value each: the machine's or the shard's
  std::string_view help;
};

// Parses the words that follow an option's name. If they are refused, the field stays as it was.
Result<void, Refusal> parse_words(const Option& option, std::span<const std::string> words,
                                  Config* config);

// Tells whether several words make the value ("bind a b"): CONFIG SET then splits its one argument.
bool takes_many_words(const Option& option);

// Answers the value as CONFIG GET does.
std::string value_text(const Option& option, const Config& config);

// Answers the value as a line of the file has it after the name: quoted where needed, sizes with
// units.
std::string file_text(const Option& option, const Config& config);

// Says what is accepted: "between 0 and 65535", "yes or no", "one of rocksdb, memory".
std::string accepted_text(const Option& option);

}  // namespace weir::server
