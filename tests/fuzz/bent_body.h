// The body of a dump with one thing changed: bits, a number where a record may have one, a byte too
// many, some too few, a part of it twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

#include "base/time_units.h"
#include "server/rdb/integers.h"
#include "tests/fuzz/fuzz_input.h"

namespace weir::fuzz {

inline void bend(Input* input, std::string* body) {
  constexpr int64_t kNumbers[] = {0,
                                  1,
                                  -1,
                                  INT64_MAX,
                                  INT64_MIN,
                                  INT64_MAX / 2,
                                  1'700'000'000 * kNsPerS,
                                  4'000'000'000 * kNsPerS};
  const uint8_t how = input->byte();
  const size_t at = input->byte() % (body->size() + 1);
  switch (how % 5) {
    case 0:
      if (at < body->size()) (*body)[at] = static_cast<char>((*body)[at] ^ input->byte());
      return;
    case 1: {
      std::string number;
      server::rdb::put_little_endian(
          &number, static_cast<uint64_t>(kNumbers[(how >> 4) % std::size(kNumbers)]), 8);
      body->replace(at, 8, number);
      return;
    }
    case 2:
      body->insert(at, 1, static_cast<char>(input->byte()));
      return;
    case 3:
      body->erase(at, 1 + (how >> 4));
      return;
    default:
      body->append(*body, at, 1 + static_cast<size_t>(how >> 4));
  }
}

}  // namespace weir::fuzz
