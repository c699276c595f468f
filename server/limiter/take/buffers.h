// What requests need while they run, kept from one to the next so that a decision allocates
// nothing.
//
// A text is whose function has cleared it, until that function calls another one that may use it.
#pragma once

#include <array>
#include <string>

#include "base/spare.h"
#include "server/limiter/take/answer.h"
#include "server/limiter/take/limiter_contents.h"

namespace weir::server {

struct LimiterBuffers {
  SpareObjects<LimiterContents> limiters;
  SpareVectors<LimitRow> rows;
  // Of RL.MTAKE, each key's part of its request.
  std::array<LimiterRequest, algorithms::kLimitsMax> requests_of_keys;
  std::string record;       // a limiter's, as it is written
  std::string field;        // of HTTP, as it is put together
  std::string token_key;    // of what is remembered under a token,
  std::string token_value;  // and its value
  std::string digested;     // the words that a digest is made of
};

}  // namespace weir::server
