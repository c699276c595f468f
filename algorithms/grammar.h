// How a limit of an algorithm is written: `ALGORITHM rate [option value ...]`. Each algorithm has
// one grammar in its file; limit_text.h reads and writes by them.
//
// It must not decide which values are allowed, only their form: make_limit() knows the ranges.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "algorithms/algorithm.h"

namespace weir::algorithms {

struct Option {
  enum class Kind : uint8_t {
    kNumber,     // an integer
    kDuration,   // in nanoseconds, "250ms"
    kLease,      // the same; an integer alone is milliseconds where BareTimes says so
    kWord,       // the index of one of `words`
    kUtcOffset,  // in minutes, "+08:00"
    kZone,       // a name that Zones know; the value is 0, and Written::zone the zone
  };

  std::string_view name;  // upper case
  Kind kind = Kind::kNumber;
  std::span<const std::string_view> words = {};
  bool required = false;
  std::string_view left_out = {};  // what leaving it out means, for people: "count - 1"
};

inline constexpr size_t kOptionsMax = 4;

// A limit as it is written; an option that is left out has no value.
struct Written {
  int64_t count = 0;
  std::optional<int64_t> period_ns;
  // These are in the order of the grammar's options.
  std::array<std::optional<int64_t>, kOptionsMax> values;
  // The value is that which leaving the option out means. Only for writing.
  std::array<bool, kOptionsMax> implied{};
  const Zone* zone = nullptr;

  void set(size_t option, int64_t value) { values[option] = value; }
  void set(size_t option, int64_t value, int64_t left_out) {
    values[option] = value;
    implied[option] = value == left_out;
  }
};

struct Grammar {
  enum class Rate : uint8_t {
    kPerPeriod,  // 100/1m
    kCount,      // 100
    kEither,     // `to_spec` decides
  };

  Rate rate = Rate::kPerPeriod;
  std::span<const Option> options = {};
  // Fills the spec, whose algorithm is set already. Answers what is missing or contradictory, if
  // anything.
  Result<void, RangeError> (*to_spec)(const Written& written, LimitSpec& spec) = nullptr;
  // Answers how to write a limit, with all options that it has.
  Written (*to_written)(const Limit& limit) = nullptr;
};

// Helpers for the grammars: a rate, there and back, and an algorithm without options.
Written rate_of(const Limit& limit);
void set_rate(const Written& written, LimitSpec& spec);
Result<void, RangeError> plain_spec(const Written& written, LimitSpec& spec);

}  // namespace weir::algorithms
