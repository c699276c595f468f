// A request that a funnel (LEAKY) has let in: its permits are taken, and only its reply waits,
// until it leaves the funnel.
//
// Its departure is a booking. If the client leaves before, its permits are given back; a request
// with an ID stays in the funnel, and is answered when it is asked again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "server/limiter/take/answer.h"
#include "server/limiter/take/limiter.h"
#include "server/limiter/take/remembered.h"
#include "server/waiting/waiting.h"

namespace weir::server {

// What to wait for after a request was let in with this answer; `departs_ns` is the instant. With
// an ID it is remembered. REQUIRES: the booking was made.
std::unique_ptr<Waiter> wait_for_departure(Call& call, std::string_view key,
                                           const LimiterRequest& request, const Answer& answer,
                                           int64_t booking, int64_t departs_ns);
// The same for a request that is asked again. The session that waited for it, if there is one, is
// told so.
std::unique_ptr<Waiter> wait_again(Call& call, std::string_view key, const LimiterRequest& request,
                                   const Ticket& ticket);

// Cancels a booking, as cancel() does, together with the hold and the lease that its request has.
std::optional<int64_t> cancel_all(Call& call, Limiter& limiter, int64_t id);

// Called when a booking was cancelled: the session that waits for it to be due, if there is one, is
// denied instead of granted.
void deny_departure(Call& call, std::string_view key, int64_t booking);

// What a session is answered whose place another session has taken over.
inline constexpr std::string_view kSuperseded =
    "ERR another connection has asked with the same ID and waits in this one's place";

}  // namespace weir::server
