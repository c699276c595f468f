// What the grammars of several algorithms share.
#include "algorithms/grammar.h"

namespace weir::algorithms {

std::optional<int64_t> unless(int64_t value, int64_t left_out) {
  return value == left_out ? std::nullopt : std::optional(value);
}

Written rate_of(const Limit& limit) {
  return {.count = limit.count, .period_ns = limit.period_ns, .values = {}};
}

void set_rate(const Written& written, LimitSpec& spec) {
  spec.count = written.count;
  spec.period_ns = *written.period_ns;
  spec.capacity = written.count;
}

Result<void, RangeError> plain_spec(const Written& written, LimitSpec& spec) {
  set_rate(written, spec);
  return {};
}

}  // namespace weir::algorithms
