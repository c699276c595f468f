// The list of algorithms, and the functions that are the same for all of them. A new algorithm adds
// one row.
#include <algorithm>

#include "algorithms/algorithm.h"
#include "algorithms/concurrency.h"
#include "algorithms/fixed.h"
#include "algorithms/gcra.h"
#include "algorithms/instant.h"
#include "algorithms/lease_book.h"
#include "base/ascii.h"

namespace weir::algorithms {

// Other files need only the descriptors of these algorithms, so they have no headers.
extern const Algorithm algorithm_token_bucket;
extern const Algorithm algorithm_leaky;
extern const Algorithm algorithm_sliding_log;
extern const Algorithm algorithm_sliding_window;
extern const Algorithm algorithm_sliding_counter;
extern const Algorithm algorithm_bursty;
extern const Algorithm algorithm_warmup;

namespace {

constexpr const Algorithm* kAlgorithms[] = {
    &algorithm_gcra,
    &algorithm_token_bucket,
    &algorithm_leaky,
    &algorithm_fixed,
    &algorithm_sliding_log,
    &algorithm_sliding_window,
    &algorithm_sliding_counter,
    &algorithm_bursty,
    &algorithm_warmup,
    &algorithm_concurrency,
};

}  // namespace

const Algorithm* find_algorithm(std::string_view name) {
  for (const Algorithm* algorithm : kAlgorithms) {
    if (equals_ignoring_case(algorithm->name, name)) return algorithm;
  }
  return nullptr;
}

const Algorithm* find_algorithm(uint8_t id) {
  for (const Algorithm* algorithm : kAlgorithms) {
    if (algorithm->id == id) return algorithm;
  }
  return nullptr;
}

std::span<const Algorithm* const> all_algorithms() { return kAlgorithms; }

bool same_limit(const Limit& a, const Limit& b) {
  if (a.algorithm != b.algorithm || a.adaptive != b.adaptive) return false;
  return a.adaptive.is_set() ? a.period_ns == b.period_ns : a.algorithm->same(a, b);
}

int64_t used(const Limit& limit, const State& state, int64_t now_ns) {
  if (limit.algorithm->used == nullptr) return 0;
  return limit.algorithm->used(limit, state, clamp_instant(now_ns));
}

int64_t owed(const Limit& limit, const State& state, Request request) {
  request.now_ns = clamp_instant(request.now_ns);
  return limit.algorithm->owed(limit, state, request);
}

void show_debt(const Limit& limit, const State& state, const Request& request, Verdict& verdict) {
  if (verdict.remaining == 0) verdict.remaining -= owed(limit, state, request);
}

State carry_over(const Limit& from, const Limit& to, const State& state, const Change& change,
                 const Entries* entries) {
  if (from.algorithm != to.algorithm || change.mode == CarryOver::kReset)
    return fresh_state(to, change.now_ns);
  if (to.algorithm->uses_entries) {
    if (entries == nullptr) return fresh_state(to, change.now_ns);
    return to.algorithm->carry_over_entries(from, to, state, *entries, change.now_ns);
  }
  return to.algorithm->carry_over(from, to, state, change);
}

bool can_be_entry(const Algorithm& algorithm, int64_t at_ns) {
  constexpr int64_t kLatestNs = kInstantNsMax + kPeriodNsMax;
  if (at_ns >= 0) return at_ns <= kLatestNs;
  return algorithm.makes_leases && at_ns <= chunk_key(kLatestNs);
}

int64_t expires_at_ms(const Limit& limit, const State& state) {
  return units_up(limit.algorithm->expires_at_ns(limit, state), kNsPerMs);
}

}  // namespace weir::algorithms
