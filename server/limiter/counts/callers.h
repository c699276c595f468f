// How many clients of different names (CLIENT SETNAME) have lately asked for a policy with FULL. A
// library that goes on with a share of the limit while the server is away learns its share from
// that.
//
// Invariants
// 1. What has been silent for kCallerNs is forgotten. A policy has at most kCallersMax callers and
//    all together have at most kCallersOfAllMax: of a policy no more are counted, and of all those
//    are forgotten that have been silent longest. So it takes some 2 MB at most.
// 2. It knows hashes of names. Two callers whose hashes are equal count as one.
// 3. Nothing of it is durable: after a start, or a takeover, it is right within kCallerNs. Who
//    begins a new timeline begins it anew, since instants may be lower then.
//
// Names are what clients say. Who may use a policy may say a thousand, and names of many policies
// push out others', so it is good for shares and not for rights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string_view>
#include <unordered_map>

#include "base/time_units.h"

namespace weir::server {

inline constexpr int64_t kCallerNs = 60 * kNsPerS;
inline constexpr size_t kCallersMax = 1'000;
inline constexpr size_t kCallersOfAllMax = 20'000;

class Callers {
 public:
  // Counts a caller, unless its name is empty; answers how many the policy has with it.
  size_t count(std::string_view policy, std::string_view name, int64_t now_ns);

 private:
  struct Caller {
    uint64_t policy = 0;
    uint64_t id = 0;  // made of the policy and the name
    int64_t seen_ns = 0;
  };
  using Order = std::list<Caller>;  // who has been silent longest comes first

  void note(uint64_t policy, std::string_view name, int64_t now_ns);
  void forget_first();
  void forget_silent(int64_t now_ns);

  Order order_;
  std::unordered_map<uint64_t, Order::iterator> by_id_;
  std::unordered_map<uint64_t, size_t> of_policy_;  // how many there are; none: no entry
};

}  // namespace weir::server
