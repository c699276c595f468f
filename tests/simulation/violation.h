// What the server did that it must not.
#pragma once

#include <stdexcept>

namespace weir::simulation {

struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace weir::simulation
