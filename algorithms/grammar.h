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
    kWord,       // the index of one of `words`
    kUtcOffset,  // in minutes, "+08:00"
  };

  std::string_view name;  // upper case
  Kind kind = Kind::kNumber;
  std::span<const std::string_view> words = {};
  bool required = false;
};

inline constexpr size_t kOptionsMax = 3;

// A limit as it was written; an option that was left out has no value.
struct Written {
  int64_t count = 0;
  std::optional<int64_t> period_ns;
  std::array<std::optional<int64_t>, kOptionsMax> values;  // in the order of the grammar's options
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
  // Answers the shortest way to write a limit: options with the value that leaving them out means
  // are left out.
  Written (*to_written)(const Limit& limit) = nullptr;
};

// Helpers for the grammars: a value unless it is the one that leaving it out means; a rate, there
// and back; and an algorithm without options.
std::optional<int64_t> unless(int64_t value, int64_t left_out);
Written rate_of(const Limit& limit);
void set_rate(const Written& written, LimitSpec& spec);
Result<void, RangeError> plain_spec(const Written& written, LimitSpec& spec);

}  // namespace weir::algorithms
