// What the grammars of several algorithms share.
#include "algorithms/grammar.h"

namespace weir::algorithms {

Written rate_of(const Limit& limit) {
  return {.count = limit.count, .period_ns = limit.period_ns, .values = {}, .implied = {}};
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
