#include "algorithms/made_limits.h"

namespace weir::algorithms {
namespace {

// By multiplication (Knuth, The Art of Computer Programming, 6.4), a step for each number.
size_t hash_of(const LimitSpec& spec) {
  constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;
  uint64_t hash = spec.algorithm->id;
  for (const int64_t number :
       {spec.count, spec.period_ns, spec.capacity, spec.options[0], spec.options[1]}) {
    hash = (hash ^ static_cast<uint64_t>(number)) * kGolden;
    hash ^= hash >> 32;
  }
  return static_cast<size_t>(hash);
}

// An algorithm that computes its capacity ignores what is given, so another one given makes the
// same limit, and is only not found.
bool is_made_from(const Limit& limit, const LimitSpec& spec) {
  return limit.algorithm == spec.algorithm && limit.count == spec.count &&
         limit.period_ns == spec.period_ns && limit.capacity == spec.capacity &&
         limit.options == spec.options;
}

}  // namespace

const Limit* MadeLimits::make(const LimitSpec& spec) {
  Limit& place = spec.zone == nullptr ? places_[hash_of(spec) % kPlaces] : zoned_;
  if (spec.zone == nullptr && is_made_from(place, spec)) return &place;
  const auto made = make_limit(spec);
  if (!made) return nullptr;
  place = *made;
  return &place;
}

}  // namespace weir::algorithms
