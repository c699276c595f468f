// Units of time as Envoy's rate limit service names them, and as limits say them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "server/http/grpc/rate_limit_messages.h"

namespace weir::server::grpc {

struct UnitWords {
  Unit unit;
  int64_t seconds;
  char period;             // in the words of a rate; 0: it is of no fixed length
  std::string_view align;  // as the calendar's
};

// In the order of their lengths.
std::span<const UnitWords> unit_words();
const UnitWords* find_unit(uint64_t number);  // null: there is none

// Says a window as a number of units; nothing where it is no whole number of seconds.
void set_window(int64_t window_ms, CurrentLimit* limit);

}  // namespace weir::server::grpc
