// What members of a shard did that they must not.
#pragma once

#include <stdexcept>

namespace weir::storage::replication {

struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace weir::storage::replication
