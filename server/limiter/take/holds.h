// Permits taken as an estimate and settled later: HOLD and RL.SETTLE.
//
// A hold says of a request that was granted what each limit was charged, and when. Until it ends it
// can be settled once; what is left unsettled stays charged as estimated. Holds are elements of the
// key:
//
//     member := id (u64 be)       order := the instant at which it ends       DO NOT CHANGE
//     value  := charge [how long it lasts(varint, ns)]                   charges.h
//               the time if it was renewed; else it is that from the charge to the end
//
// A hold that has ended can still be settled for kLateSettleNs: what was used in addition is
// charged then, and nothing comes back.
//
// The id is also that of the lease that the request has of a CONCURRENCY limit, and of its booking
// while it waits to leave a funnel: until then it can be cancelled and not settled. How a hold was
// settled is remembered as a request with an ID is (remembered.h), so that the same RL.SETTLE gets
// the same answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/limiter/take/answer.h"
#include "server/limiter/take/charges.h"
#include "server/limiter/take/limiter.h"

namespace weir::server {

inline constexpr size_t kHoldsMax = 65'536;

// Fails with an error line where the request is to be held and the key has no room for a hold.
Result<void, std::string> check_room_for_hold(Call& call, Limiter& limiter,
                                              const LimiterRequest& request);

// Stores what the limits that the limiter has named were charged now, one after the other.
// REQUIRES: the limiter drew the id, and is saved afterwards.
void add_hold(Call& call, Limiter& limiter, int64_t id, int64_t duration_ns,
              std::span<const MadeCharge> charges);

// Forgets a hold whose permits were given back otherwise, and tells whether there was one.
// REQUIRES: the limiter is saved afterwards.
bool drop_hold(Limiter& limiter, int64_t id);

// Releases the lease with this id, and tells whether a limit of the key had it. REQUIRES: the
// limiter is saved afterwards.
bool end_lease(const Call& call, Limiter& limiter, int64_t id);

// Makes a hold last its whole time from now; answers the most permits that it holds of a limit, and
// 0 for one that has ended or never was. REQUIRES: the limiter is saved afterwards if it is above
// 0.
int64_t renew_hold(const Call& call, Limiter& limiter, int64_t id);

// Tells whether these bytes can be a hold's value.
bool is_hold(std::string_view value);

struct Settled {
  bool found = true;       // false: there is no such hold, or it has ended long ago
  Answer answer;           // of the limit with the least rest; a debt is a rest below 0
  int64_t given_back = 0;  // the most that came back of any limit
  bool late = false;       // the hold had ended
  bool lease_ended = false;
};

// Settles a hold with what was used, one number for all of its limits or one for each, and saves
// what changed. An error: the numbers do not fit. Denied, and nothing has changed: a limit cannot
// hold so large a debt.
Result<Settled, std::string> settle_hold(Call& call, Limiter& limiter, int64_t id,
                                         const std::vector<int64_t>& used);

}  // namespace weir::server
