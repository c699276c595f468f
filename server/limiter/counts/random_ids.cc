#include "server/limiter/counts/random_ids.h"

#include <string>

#include "storage/format/codec.h"

namespace weir::server {
namespace {

constexpr int kIdBits = 53;

}  // namespace

// Draws the SipHash of a counter, which looks random to anyone without the seed.
int64_t RandomIds::draw() {
  if (counts_up_) return static_cast<int64_t>(++drawn_);
  while (true) {
    std::string counter;
    storage::put_u64_le(&counter, ++drawn_);
    const auto id = static_cast<int64_t>(storage::siphash24(counter, seed_) >> (64 - kIdBits));
    if (id > 0) return id;
  }
}

}  // namespace weir::server
