#include "base/string_hash.h"

#include <cstdint>
#include <random>

namespace weir {

SipKey draw_hash_key() {
  std::random_device device;
  const auto word = [&device] { return static_cast<uint64_t>(device()) << 32 | device(); };
  return {word(), word()};
}

}  // namespace weir
