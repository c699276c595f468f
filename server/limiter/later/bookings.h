// Permits booked ahead: RL.RESERVE and RL.CANCEL.
//
// A booking takes its permits at once, into debt if need be, and is due when they are covered.
// Until then it can be returned, less what was booked after it, because those bookings were told to
// wait for it. Bookings that are not due are elements of the key:
//
//     member := id (u64 be)       order := the instant it is due       DO NOT CHANGE
//     value  := 0(varint) the instant it was made(varint) 0(varint) charge token     take/charges.h
//             | 0(varint) the instant it was made(varint) parts token  |  parts
//     parts  := n(varint) n x { cost(varint) size(varint) the limit as text }      1 <= n <= 16
//
// The token, which may be empty, is the ID of a request that waits until the booking is due. Values
// without a charge were written by versions that did not keep one, values without an instant by
// versions whose ids rose: their order is that of the ids.
//
// A booking without a charge does not tell what its limits had in use since. One of a single limit
// gives back all of it that still waits: until the booking is due, GCRA, TOKENBUCKET, BURSTY and
// WARMUP owe more than all they have, and LEAKY has in the funnel what leaves until then. One of
// several limits gives nothing back.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server/limiter/policy/request.h"
#include "server/limiter/take/charges.h"
#include "server/limiter/take/limiter.h"

namespace weir::server {

inline constexpr size_t kBookingsMax = 65'536;

struct Booked {
  bool granted = false;
  int64_t wait_ns = 0;  // if not granted, what the wait would have been; kNever
  int64_t id = 0;
  // Of the limit with the longest wait, if it was not granted.
  const algorithms::Algorithm* refused_by = nullptr;
  // Of a limit of a policy in shadow that would not have granted it as it is; null: none.
  const algorithms::Algorithm* shadow_refused_by = nullptr;
};

// Books the request's costs of all limits that the limiter has named, or none. An error: a limit
// takes no bookings, or the key has too many.
Result<Booked, std::string> book(Call& call, Limiter& limiter, const LimiterRequest& request);

// Stores that a request, of which the named limits are charged already, is due after `wait_ns`;
// answers the id under which it can be cancelled, which is that of its hold or lease if it has one.
// An error: the key has too many bookings.
Result<int64_t, std::string> book_departure(Call& call, Limiter& limiter,
                                            std::span<const MadeCharge> made,
                                            std::optional<int64_t> held_as, std::string_view token,
                                            int64_t wait_ns);

// Tells whether there is such a booking, which is not due.
bool is_booked(Limiter& limiter, int64_t id, int64_t now_ns);

// Cancels a booking, saves what changed, and answers the permits given back. Who waits for it under
// an ID waits no longer. Nothing: there is no such booking, or it is due. Where its request may
// have a hold or a lease, cancel_all of departure.h is to be called.
std::optional<int64_t> cancel(Call& call, Limiter& limiter, int64_t id);

// Tells whether these bytes can be a booking's value.
bool is_booking(std::string_view value);

// How many bookings the process has read: what tests count as work.
uint64_t bookings_read();

}  // namespace weir::server
