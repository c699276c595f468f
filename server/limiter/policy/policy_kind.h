// What a policy does with the requests that name it.
#pragma once

#include <cstdint>

namespace weir::server {

// These numbers are on disk (policies.h). DO NOT CHANGE.
enum class PolicyKind : uint8_t {
  kLimits = 0,     // its limits decide
  kUnlimited = 1,  // it adds no limit
  kBlocked = 2,    // it denies all
};

}  // namespace weir::server
