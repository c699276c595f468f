#include "storage/drops.h"

#include <utility>

#include "storage/record.h"

namespace weir::storage {

void Drops::erase_range_of(const List& list) {
  to_erase.push_back(list);
  const Position last = last_position(list.id);
  // The range that follows the last position of all begins with the next incarnation.
  ranges.erase_range(stored_key_prefix(list.incarnation, first_position(list.id)),
                     last == ~Position{0} ? stored_key_prefix(list.incarnation + 1)
                                          : stored_key_prefix(list.incarnation, last + 1));
}

void Drops::end_pass(bool done) {
  if (!done) {
    const std::vector<List> again = std::exchange(erasing, {});
    for (const List& list : again) erase_range_of(list);
    unlogged.insert(unlogged.end(), unlogged_in_pass.begin(), unlogged_in_pass.end());
  }
  erasing.clear();
  unlogged_in_pass.clear();
}

void Drops::owe() {
  for (const Dying& list : dying) unlogged.push_back(list.list);
  unlogged.insert(unlogged.end(), to_erase.begin(), to_erase.end());
}

}  // namespace weir::storage
