#include "server/os/random.h"

#include <random>

namespace weir::server {

Seeds Seeds::fresh() {
  std::random_device device;
  const auto word = [&device] { return static_cast<uint64_t>(device()) << 32 | device(); };
  return {.choices = word(), .ids = {word(), word()}};
}

}  // namespace weir::server
