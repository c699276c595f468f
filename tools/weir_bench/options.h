// What weir-bench is told on its command line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace weir::bench {

enum class Kind : uint8_t {
  kPing,
  kSet,
  kGet,
  kThrottle,
  kEvalsha,
  kThrottlecrab,  // THROTTLE, CL.THROTTLE's like in throttlecrab
  // On collections (collection_steps.h).
  kZadd,     // ZADD that moves a member
  kZwindow,  // ZADD of a new member, ZREMRANGEBYSCORE of the oldest
  kHincrby,
  kHset,
  kList,     // LPUSH, RPOP
  kMembers,  // SREM, SADD
};

inline bool is_collection(Kind kind) { return kind >= Kind::kZadd; }

struct Options {
  std::string host = "127.0.0.1";
  int64_t port = 0;
  Kind kind = Kind::kPing;
  int64_t connections = 50;
  int64_t pipeline = 1;
  int64_t keys = 100'000;
  int64_t value_bytes = 24;
  int64_t expire_s = 86'400;
  // Arguments of CL.THROTTLE and THROTTLE. The defaults never deny and never let a key expire: each
  // permit takes 50 minutes to come back, and there are a million.
  int64_t max_burst = 1'000'000;
  int64_t count = 1;
  int64_t period_s = 3'000;
  // Of collections: elements that a connection has, in each of its collections, and steps that
  // were made in earlier runs.
  int64_t elements = 100'000;
  int64_t size = 1000;
  int64_t skip = 0;
  double seconds = 5;
  double warmup_s = 1;
  int64_t requests = 0;       // 0: `seconds` decide
  int64_t rate = 0;           // requests per second of an open loop; 0: closed loop
  double time_limit_s = 900;  // of the whole run, whatever else was said
  uint64_t seed = 1;
  int64_t server_pid = 0;  // whose CPU time is measured; 0: nobody's
  bool fill = false;       // every key once, in order
  bool series = false;
  bool json = false;
};

std::string_view name_of(Kind kind);

Result<Options, std::string> parse_options(int argc, char** argv);
std::string usage();

}  // namespace weir::bench
