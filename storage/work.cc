#include "storage/work.h"

namespace weir::storage {

void Work::step(int64_t steady_ns) {
  if (store_.failed()) return;
  const bool passing = passes_.running();
  if (burial_.indexes_wait()) burial_.shrink_closed();
  passes_.work(steady_ns);
  reclaimer_.work(steady_ns, store_.get());
  if (passing && !turn_.has_changes()) debt_.begin_turn();
}

bool Work::wanted() const {
  if (passes_.wants_work()) return true;
  return !store_.failed() && !passes_.running() && reclaimer_.wants_work();
}

}  // namespace weir::storage
