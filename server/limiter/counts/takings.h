// What the running command has taken and tells its client of, for a shard's primary: whether the
// reply may leave before the shared log has its turn, and how many permits are lost with it then.
//
// A lease of CONCURRENCY is a lock: a second holder is worse than one request too many. What was
// taken in an earlier command, by the same ID or for a departure, was not counted in this one. The
// replies about both wait for the log.
#pragma once

#include <cstdint>
#include <optional>

namespace weir::server {

class Takings {
 public:
  void begin_command() { *this = {}; }
  void count(int64_t permits) { permits_ += permits > 0 ? static_cast<uint64_t>(permits) : 0; }
  void make_strict() { strict_ = true; }

  // Answers the permits; none: the reply waits for the log.
  std::optional<uint64_t> told() const {
    return strict_ ? std::nullopt : std::optional<uint64_t>(permits_);
  }

 private:
  uint64_t permits_ = 0;
  bool strict_ = false;
};

}  // namespace weir::server
