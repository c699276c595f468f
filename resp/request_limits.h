// Bounds of one request; each maps to a configuration option.
#pragma once

#include <cstdint>

namespace weir::resp {

struct RequestLimits {
  int64_t bulk_bytes_max = 512 << 20;       // of one argument
  int64_t multibulk_count_max = INT32_MAX;  // arguments of one request
  int64_t inline_bytes_max = 64 << 10;      // an inline line, or a "*<n>" or "$<n>" header line
  bool authenticated = true;                // false: 10 arguments, 16384 bytes each

  bool operator==(const RequestLimits&) const = default;
};

}  // namespace weir::resp
