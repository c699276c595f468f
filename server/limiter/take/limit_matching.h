// Changes the limits of a key over to those that a request names (limiter.h says how).
//
// The limits that the key has stay as they are. It lives for one change.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/algorithm.h"
#include "algorithms/limiter_record.h"
#include "base/result.h"
#include "server/command/command.h"
#include "server/limiter/policy/named_limits.h"
#include "server/limiter/take/held_limit.h"

namespace weir::server {

// Does in place what a LimitMatching would, where a key has just the limits that are named, in the
// same order, and none with ADAPTIVE: the common case. False: it is another case, and nothing has
// happened.
bool match_in_place(const NamedLimits& named, std::span<HeldLimit> held, int64_t now_ns);

class LimitMatching {
 public:
  using EntriesOf = std::function<algorithms::Entries*(const HeldLimit&)>;

  struct Key {
    std::span<const HeldLimit> held;
    EntriesOf entries_of;                       // of one of `held`; null: it has none
    std::optional<algorithms::State>* adopted;  // of a foreign string; goes to a GCRA limit
    uint64_t policy_version = 0;                // the newest that the key has followed
    uint64_t changes = 0;                       // how often it was saved with bookings or holds
  };

  LimitMatching(const Call& call, Key key) : call_(call), key_(std::move(key)) {}

  // Fills `matched_as` with the named limits in their order, and after them those of the key that
  // still count. An error: they are too many.
  Result<void, std::string> match(const NamedLimits& named, std::vector<HeldLimit>* matched_as);
  // Whether a limit's parameters are not those that the key has.
  bool parameters_changed() const { return parameters_changed_; }

 private:
  using LimitSet = std::bitset<algorithms::kLimitsMax>;  // of places in `held`

  void start(HeldLimit* held, const algorithms::Limit& limit);
  void forget_charges(HeldLimit* held) const;
  bool match_equal(HeldLimit* held, const algorithms::Limit& limit);
  // Keeps the present count of an adaptive limit, or takes over that of the policy.
  void follow_count(const NamedLimits& named, size_t limit, HeldLimit* held);
  void carry_over(HeldLimit from, const algorithms::Limit& limit, algorithms::CarryOver mode,
                  const algorithms::Entries* entries, HeldLimit* held) const;
  std::optional<size_t> find_other(const algorithms::Limit& limit, uint32_t policy) const;
  bool match_algorithm(HeldLimit* held, const algorithms::Limit& limit, algorithms::CarryOver mode);
  void keep_left_over(std::vector<HeldLimit>* next) const;
  std::string too_many(std::span<const HeldLimit> next, size_t named) const;

  const Call& call_;
  const Key key_;
  LimitSet taken_;  // those that became a named limit
  bool parameters_changed_ = false;
};

}  // namespace weir::server
