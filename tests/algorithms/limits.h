// Limits by their numbers, by their text and at random.
#pragma once

#include <string>
#include <string_view>

#include "algorithms/gcra.h"
#include "algorithms/limit_text.h"
#include "base/ascii.h"
#include "tests/algorithms/life.h"

namespace weir::algorithms {
extern const Algorithm algorithm_leaky;
}  // namespace weir::algorithms

namespace weir::algorithms::testing {

inline Limit gcra(int64_t capacity, int64_t count, int64_t period_ns) {
  return make_limit({.algorithm = &algorithm_gcra,
                     .count = count,
                     .period_ns = period_ns,
                     .capacity = capacity})
      .value();
}

inline Limit leaky(int64_t capacity, int64_t count, int64_t period_ns) {
  return make_limit({.algorithm = &algorithm_leaky,
                     .count = count,
                     .period_ns = period_ns,
                     .capacity = capacity})
      .value();
}

inline Limit any_gcra(Rng& rng) { return any_limit(algorithm_gcra, rng); }
inline Limit any_leaky(Rng& rng) { return any_limit(algorithm_leaky, rng); }

// The first limit of a text that has one.
inline Limit written(std::string_view text) {
  return parse_limits(split_at_spaces(text)).value().limits.at(0);
}

// The limits of a text written again, and the word that ended them; or why they are none.
inline std::string reread(std::string_view text) {
  const auto words = split_at_spaces(text);
  const auto parsed = parse_limits(words);
  if (!parsed) return parsed.error();
  std::string again = format_limits(parsed->limits);
  if (parsed->words < words.size()) again += " | " + std::string(words[parsed->words]);
  return again;
}

}  // namespace weir::algorithms::testing
