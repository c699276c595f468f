// Permits booked ahead: RL.RESERVE and RL.CANCEL.
//
// A booking takes its permits at once, into debt if need be, and is due when they are covered.
// Until then it can be returned, less what was booked behind it: those bookings have been told to
// wait for it. Bookings not due are elements of the key:
//
//     member := id (u64 be)       order := the instant it is due       DO NOT CHANGE
//     value  := n(varint) n x { cost(varint) size(varint) the limit as text }
#pragma once

#include "server/limiter/take.h"

namespace weir::server {

inline constexpr size_t kBookingsMax = 65'536;

struct Booked {
  bool granted = false;
  int64_t wait_ns = 0;  // also what it would have been; kNever
  int64_t id = 0;
};

// Books the request's costs of all named limits, or none. Nothing: an error has been replied.
std::optional<Booked> book(Call& call, Limiter& limiter, const LimiterRequest& request,
                           int64_t max_wait_ns);

// Writes down that a request, whose permits are taken already, is due after `wait_ns`; the id under
// which it can be cancelled. Nothing: there are too many, and an error has been replied.
std::optional<int64_t> book_departure(Call& call, Limiter& limiter, const LimiterRequest& request,
                                      int64_t wait_ns);

// The permits given back; 0 if there is no such booking or it is due. Saves what changed.
int64_t cancel(Call& call, Limiter& limiter, int64_t id);

}  // namespace weir::server
