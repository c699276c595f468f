// The list of algorithms, and what is the same for all of them. A new algorithm adds one row.
#include <algorithm>

#include "algorithms/algorithm.h"
#include "algorithms/gcra.h"

namespace weir::algorithms {
namespace {

constexpr const Algorithm* kAlgorithms[] = {
    &algorithm_gcra,
};

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

bool named(const Algorithm& algorithm, std::string_view name) {
  return std::ranges::equal(algorithm.name, name, {}, {}, upper);
}

}  // namespace

const Algorithm* find_algorithm(std::string_view name) {
  for (const Algorithm* algorithm : kAlgorithms) {
    if (named(*algorithm, name)) return algorithm;
  }
  return nullptr;
}

const Algorithm* find_algorithm(uint8_t id) {
  for (const Algorithm* algorithm : kAlgorithms) {
    if (algorithm->id == id) return algorithm;
  }
  return nullptr;
}

bool same_limit(const Limit& a, const Limit& b) {
  return a.algorithm == b.algorithm && a.algorithm->same(a, b);
}

State carry_over(const Limit& from, const Limit& to, const State& state, CarryOver mode,
                 int64_t now_ns) {
  if (from.algorithm != to.algorithm || mode == CarryOver::kReset) return fresh_state(to, now_ns);
  return to.algorithm->carry_over(from, to, state, mode, now_ns);
}

int64_t expires_at_ms(const Limit& limit, const State& state) {
  const int64_t at_ns = limit.algorithm->expires_at_ns(limit, state);
  if (at_ns == kNever) return kNever;
  return at_ns / kNsPerMs + (at_ns % kNsPerMs > 0);
}

}  // namespace weir::algorithms
